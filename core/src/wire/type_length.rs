//! The type-length prefix of HTTP/3 frames (RFC 9114 section 7.1) and capsules (RFC 9297 section
//! 3.2).

use super::varint;

/// Two integers of eight bytes.
const BYTES_MAX: usize = 16;

/// Reads such a header, in however many pieces it comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypeLength {
    bytes: [u8; BYTES_MAX],
    have: u8,
}

impl TypeLength {
    /// Takes type and length off `input`; `None`: more bytes are needed.
    pub fn next(&mut self, input: &mut &[u8]) -> Option<(u64, u64)> {
        if self.have == 0
            && let Some((kind, len, used)) = parse(input)
        {
            *input = &input[used..];
            return Some((kind, len));
        }
        while let Some((&first, rest)) = input.split_first() {
            *input = rest;
            // A complete header leaves at 16 bytes at the latest.
            self.bytes[usize::from(self.have)] = first;
            self.have += 1;
            if let Some((kind, len, _)) = parse(&self.bytes[..usize::from(self.have)]) {
                self.have = 0;
                return Some((kind, len));
            }
        }
        None
    }
    /// Whether nothing of a header has come.
    pub fn is_empty(&self) -> bool {
        self.have == 0
    }
}

fn parse(bytes: &[u8]) -> Option<(u64, u64, usize)> {
    let (kind, at) = varint::take(bytes)?;
    let (len, more) = varint::take(&bytes[at..])?;
    Some((kind, len, at + more))
}

#[cfg(test)]
#[path = "type_length_test.rs"]
mod type_length_test;
