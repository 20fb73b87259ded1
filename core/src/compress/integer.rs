//! Integers with a prefix (RFC 7541 section 5.1). Bounded: at most [`CONTINUATION_BYTES_MAX`]
//! bytes behind the prefix and at most `u32::MAX`; zero padding within that length is allowed.

use crate::error::Violation;

/// Five groups of seven bits hold every `u32`.
const CONTINUATION_BYTES_MAX: usize = 5;

/// Takes an integer with a prefix of `prefix_bits` (1 to 8) from the front of `input`.
#[inline]
pub(crate) fn take(input: &mut &[u8], prefix_bits: u32) -> Result<usize, Violation> {
    let (&first, rest) = input.split_first().ok_or(Violation::CompressionInvalid)?;
    *input = rest;
    let mask = prefix_mask(prefix_bits);
    let prefix = first & mask;
    if prefix < mask {
        return Ok(usize::from(prefix));
    }
    take_continuation(input, prefix)
}

fn take_continuation(input: &mut &[u8], prefix: u8) -> Result<usize, Violation> {
    let mut value = u64::from(prefix);
    for (index, &byte) in input.iter().take(CONTINUATION_BYTES_MAX).enumerate() {
        value += u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            *input = &input[index + 1..];
            return match u32::try_from(value) {
                Ok(value) => Ok(value as usize),
                Err(_) => Err(Violation::CompressionInvalid),
            };
        }
    }
    Err(Violation::CompressionInvalid)
}

/// Appends `value` with a prefix of `prefix_bits` (1 to 8); `flags` are the bits in front of it.
#[inline]
pub(crate) fn put(value: usize, prefix_bits: u32, flags: u8, out: &mut Vec<u8>) {
    let mask = prefix_mask(prefix_bits);
    if value < usize::from(mask) {
        out.push(flags | value as u8);
        return;
    }
    out.push(flags | mask);
    let mut rest = value - usize::from(mask);
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

const fn prefix_mask(prefix_bits: u32) -> u8 {
    (0xff_u16 >> (8 - prefix_bits)) as u8
}

#[cfg(test)]
#[path = "integer_test.rs"]
mod integer_test;
