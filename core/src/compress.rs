//! What HPACK (RFC 7541) and QPACK (RFC 9204) share: prefix integers, string literals and their
//! Huffman code, the ring of table entries, which fields are worth an entry, and the memory of
//! heads that were encoded before. Nothing here knows how a field line looks on the wire.

pub(crate) mod encode_cache;
pub(crate) mod huffman;
pub(crate) mod integer;
pub(crate) mod policy;
pub(crate) mod table;
pub(crate) mod text;
