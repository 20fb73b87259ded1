//! The parts that HPACK (RFC 7541) and QPACK (RFC 9204) share: prefix integers, string literals and
//! their Huffman code, the ring of table entries, the policy of what to index, and the cache of
//! encoded heads. The wire format of field lines is left to `hpack` and `qpack`.

pub(crate) mod encode_cache;
pub(crate) mod huffman;
pub(crate) mod integer;
pub(crate) mod policy;
pub(crate) mod table;
pub(crate) mod text;

use crate::http::{Field, Token};

/// The three digits of a status.
pub(crate) fn status_digits(status: u16) -> [u8; 3] {
    [status / 100 % 10, status / 10 % 10, status % 10].map(|digit| b'0' + digit as u8)
}

/// The field `:status` with these digits.
pub(crate) fn status_field(digits: &[u8; 3]) -> Field<'_> {
    Field {
        token: Some(Token::STATUS),
        name: Token::STATUS.as_str().as_bytes(),
        value: digits,
        sensitive: false,
    }
}
