//! Variable-length integers (RFC 9000 section 16).

/// The largest that can be written.
pub const MAX: u64 = (1 << 62) - 1;

/// The integer at the front of `bytes` and its length; `None`: it is not all there.
pub fn take(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let len = 1 << (first >> 6);
    let mut value = u64::from(first & 0x3f);
    for &byte in bytes.get(1..len)? {
        value = value << 8 | u64::from(byte);
    }
    Some((value, len))
}

/// The shortest form of `value`, which is at most [`MAX`]: bytes, and how many count.
pub fn encode(value: u64) -> ([u8; 8], usize) {
    debug_assert!(value <= MAX);
    let mut bytes = [0; 8];
    let len = len(value);
    let mark = (len.trailing_zeros() as u64) << (len * 8 - 2);
    bytes[..len].copy_from_slice(&(value | mark).to_be_bytes()[8 - len..]);
    (bytes, len)
}

/// Appends the shortest form of `value`.
pub fn put(value: u64, out: &mut Vec<u8>) {
    let (bytes, len) = encode(value);
    out.extend_from_slice(&bytes[..len]);
}

/// How many bytes `value` takes.
pub fn len(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

#[cfg(test)]
#[path = "varint_test.rs"]
mod varint_test;
