//! Integers with a prefix (RFC 7541 section 5.1). Bounded: at most [`CONTINUATION_BYTES_MAX`]
//! bytes behind the prefix and at most `u32::MAX`; zero padding within that length is allowed.

use crate::error::Violation;

/// Five groups of seven bits hold every `u32`.
const CONTINUATION_BYTES_MAX: usize = 5;
/// Nine groups of seven bits hold every value below 2^62, one more is padding.
const LONG_CONTINUATION_BYTES_MAX: usize = 10;
/// The largest integer of QPACK (RFC 9204 section 4.1.1): as large as a QUIC stream id.
const LONG_MAX: u64 = (1 << 62) - 1;

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

/// Takes an integer of up to 62 bits (RFC 9204 section 4.1.1) with a prefix of `prefix_bits` from
/// the front of a stream. `None`, with `input` untouched, means that it goes on behind the end.
#[inline]
pub(crate) fn take_long(input: &mut &[u8], prefix_bits: u32) -> Result<Option<u64>, Violation> {
    let Some((&first, rest)) = input.split_first() else {
        return Ok(None);
    };
    let mask = prefix_mask(prefix_bits);
    let prefix = u64::from(first & mask);
    if prefix < u64::from(mask) {
        *input = rest;
        return Ok(Some(prefix));
    }
    let mut value = u128::from(prefix);
    for (index, &byte) in rest.iter().take(LONG_CONTINUATION_BYTES_MAX).enumerate() {
        value += u128::from(byte & 0x7f) << (7 * index);
        if value > u128::from(LONG_MAX) {
            return Err(Violation::CompressionInvalid);
        }
        if byte & 0x80 == 0 {
            *input = &rest[index + 1..];
            return Ok(Some(value as u64));
        }
    }
    if rest.len() < LONG_CONTINUATION_BYTES_MAX {
        return Ok(None);
    }
    Err(Violation::CompressionInvalid)
}

/// Appends `value` with a prefix of `prefix_bits` (1 to 8); `flags` are the bits in front of it.
#[inline]
pub(crate) fn put(value: usize, prefix_bits: u32, flags: u8, out: &mut Vec<u8>) {
    put_long(value as u64, prefix_bits, flags, out);
}

/// As [`put`], for what may be longer than a word.
#[inline]
pub(crate) fn put_long(value: u64, prefix_bits: u32, flags: u8, out: &mut Vec<u8>) {
    let mask = prefix_mask(prefix_bits);
    if value < u64::from(mask) {
        out.push(flags | value as u8);
        return;
    }
    out.push(flags | mask);
    let mut rest = value - u64::from(mask);
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
