//! String literals (RFC 7541 section 5.2, RFC 9204 section 4.1.2): a flag for the Huffman code, a
//! length with a prefix, and that many bytes. The flag is the bit in front of the prefix.

use super::{huffman, integer};
use crate::error::Violation;

/// A string literal as it stands in a block.
#[derive(Clone, Copy)]
pub(crate) enum LiteralText<'a> {
    Plain(&'a [u8]),
    Huffman(&'a [u8]),
}

impl<'a> LiteralText<'a> {
    /// Takes a literal whose length has a prefix of `prefix_bits` (1 to 7) from the front of
    /// `input`.
    #[inline]
    pub(crate) fn take(input: &mut &'a [u8], prefix_bits: u32) -> Result<Self, Violation> {
        let first = *input.first().ok_or(Violation::CompressionInvalid)?;
        let len = integer::take(input, prefix_bits)?;
        let (text, rest) = input
            .split_at_checked(len)
            .ok_or(Violation::CompressionInvalid)?;
        *input = rest;
        Ok(Self::of(first, prefix_bits, text))
    }
    /// The literal whose first byte was `first` and whose content is `text`.
    #[inline]
    pub(crate) fn of(first: u8, prefix_bits: u32, text: &'a [u8]) -> Self {
        if first & huffman_flag(prefix_bits) == 0 {
            Self::Plain(text)
        } else {
            Self::Huffman(text)
        }
    }
    /// Appends the text.
    #[inline]
    pub(crate) fn write(self, out: &mut Vec<u8>) -> Result<(), Violation> {
        match self {
            Self::Plain(text) => {
                out.extend_from_slice(text);
                Ok(())
            }
            Self::Huffman(code) => huffman::decode(code, out),
        }
    }
    /// The text, in `space` where it must be decoded.
    pub(crate) fn bytes<'b>(self, space: &'b mut Vec<u8>) -> Result<&'b [u8], Violation>
    where
        'a: 'b,
    {
        match self {
            Self::Plain(text) => Ok(text),
            Self::Huffman(code) => {
                space.clear();
                huffman::decode(code, space)?;
                Ok(space)
            }
        }
    }
}

/// Appends `text` behind a length with a prefix of `prefix_bits` (1 to 7), Huffman-coded where
/// that is shorter; `flags` are the bits in front of the Huffman flag.
pub(crate) fn put(text: &[u8], prefix_bits: u32, flags: u8, out: &mut Vec<u8>) {
    let huffman_len = huffman::encoded_len(text);
    if huffman_len < text.len() {
        integer::put(
            huffman_len,
            prefix_bits,
            flags | huffman_flag(prefix_bits),
            out,
        );
        huffman::encode(text, out);
    } else {
        integer::put(text.len(), prefix_bits, flags, out);
        out.extend_from_slice(text);
    }
}

const fn huffman_flag(prefix_bits: u32) -> u8 {
    1 << prefix_bits
}

#[cfg(test)]
#[path = "text_test.rs"]
mod text_test;
