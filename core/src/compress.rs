//! The parts that HPACK (RFC 7541) and QPACK (RFC 9204) share: prefix integers, string literals and
//! their Huffman code, the ring of table entries, the policy of what to index, and the cache of
//! encoded heads. The wire format of field lines is left to `hpack` and `qpack`.

pub(crate) mod huffman;
pub(crate) mod integer;
pub(crate) mod policy;
pub(crate) mod table;
pub(crate) mod text;
