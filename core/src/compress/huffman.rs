//! The Huffman code of strings (RFC 7541 section 5.2 and Appendix B).
//!
//! The code is canonical: within a length, codes count up in the order of the symbols, and each
//! length goes on where the shorter one ended. So the lengths alone are the code, and every table
//! below is made from them at compile time. Codes up to 8 bits (all that ordinary fields use) are
//! found with one lookup; the long ones, which all start with 0xfe or 0xff, by comparing with the
//! end of each length's range.

use crate::error::Violation;

/// Symbols: the 256 bytes and EOS.
const SYMBOLS: usize = 257;
const EOS: usize = 256;
const CODE_BITS_MAX: usize = 30;
const STEP_BITS: u32 = 8;

/// How many bytes `text` takes when encoded, padding included.
pub(crate) fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text
        .iter()
        .map(|&byte| usize::from(CODE_BITS[usize::from(byte)]))
        .sum();
    bits.div_ceil(8)
}

/// Appends the code of `text`, padded with the first bits of EOS: ones.
pub(crate) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let mut pending = 0_u64;
    let mut pending_bits = 0;
    for &byte in text {
        let bits = u32::from(CODE_BITS[usize::from(byte)]);
        pending = pending << bits | u64::from(CODES[usize::from(byte)]);
        pending_bits += bits;
        if pending_bits >= 32 {
            pending_bits -= 32;
            out.extend_from_slice(&((pending >> pending_bits) as u32).to_be_bytes());
        }
    }
    if pending_bits > 0 {
        let left_justified = (pending << (64 - pending_bits)) | (u64::MAX >> pending_bits);
        let bytes = left_justified.to_be_bytes();
        out.extend_from_slice(&bytes[..pending_bits.div_ceil(8) as usize]);
    }
}

/// Appends the text of `code`. An error is EOS in the string, or padding that is longer than 7
/// bits or not all ones (RFC 7541 section 5.2).
pub(crate) fn decode(code: &[u8], out: &mut Vec<u8>) -> Result<(), Violation> {
    // The shortest code has 5 bits.
    out.reserve(code.len() * 8 / 5);
    let mut input = code;
    // The next bits, left-justified. Below the first `window_bits` stand either zeros or bits of
    // `input` that will be put there again: never others.
    let mut window = 0_u64;
    let mut window_bits = 0_u32;
    loop {
        if let Some((chunk, _)) = input.split_first_chunk::<8>() {
            window |= u64::from_be_bytes(*chunk) >> window_bits;
            input = &input[((63 - window_bits) / 8) as usize..];
            window_bits |= 56;
        } else {
            while window_bits <= 56
                && let Some((&byte, rest)) = input.split_first()
            {
                window |= u64::from(byte) << (56 - window_bits);
                window_bits += 8;
                input = rest;
            }
            if window_bits < CODE_BITS_MAX as u32 {
                return decode_rest(window, window_bits, out);
            }
        }
        while window_bits >= CODE_BITS_MAX as u32 {
            let (symbol, bits) = first_symbol(window)?;
            out.push(symbol);
            window <<= bits;
            window_bits -= bits;
        }
    }
}

/// The end of the string: fewer bits than the longest code has.
fn decode_rest(mut window: u64, mut window_bits: u32, out: &mut Vec<u8>) -> Result<(), Violation> {
    loop {
        // Ones behind the last bit: a code that needs them is not complete.
        let padded = window | (u64::MAX >> window_bits);
        if window_bits < 8 && padded == u64::MAX {
            return Ok(());
        }
        let (symbol, bits) = first_symbol(padded)?;
        if bits > window_bits {
            return Err(Violation::CompressionInvalid);
        }
        out.push(symbol);
        window <<= bits;
        window_bits -= bits;
    }
}

#[inline]
fn first_symbol(window: u64) -> Result<(u8, u32), Violation> {
    let step = STEPS[(window >> (64 - STEP_BITS)) as usize];
    if step.bits != 0 {
        return Ok((step.symbol, u32::from(step.bits)));
    }
    long_symbol((window >> 32) as u32)
}

fn long_symbol(window: u32) -> Result<(u8, u32), Violation> {
    for (bits, range) in RANGES.iter().enumerate().skip(STEP_BITS as usize + 1) {
        if u64::from(window) < range.end {
            let code = window >> (32 - bits);
            let symbol =
                IN_CODE_ORDER[usize::from(range.symbol_at) + (code - range.first) as usize];
            return match u8::try_from(symbol) {
                Ok(symbol) => Ok((symbol, bits as u32)),
                // EOS in a string.
                Err(_) => Err(Violation::CompressionInvalid),
            };
        }
    }
    Err(Violation::CompressionInvalid)
}

/// The symbols that start with 8 given bits; `bits` is 0 where the code is longer than that.
#[derive(Clone, Copy)]
struct Step {
    symbol: u8,
    bits: u8,
}

/// The codes of one length.
#[derive(Clone, Copy)]
struct Range {
    /// The first code, right-justified.
    first: u32,
    /// The end of the codes of this length and all shorter ones, left-justified in 32 bits.
    end: u64,
    /// The index of their first symbol in [`IN_CODE_ORDER`].
    symbol_at: u16,
}

static RANGES: [Range; CODE_BITS_MAX + 1] = ranges();
static IN_CODE_ORDER: [u16; SYMBOLS] = in_code_order();
static CODES: [u32; SYMBOLS] = codes();
static STEPS: [Step; 1 << STEP_BITS] = steps();

const fn ranges() -> [Range; CODE_BITS_MAX + 1] {
    let mut ranges = [Range {
        first: 0,
        end: 0,
        symbol_at: 0,
    }; CODE_BITS_MAX + 1];
    let mut next_code = 0;
    let mut symbol_at = 0;
    let mut bits = 1;
    while bits <= CODE_BITS_MAX {
        next_code <<= 1;
        ranges[bits].first = next_code;
        ranges[bits].symbol_at = symbol_at;
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if CODE_BITS[symbol] as usize == bits {
                next_code += 1;
                symbol_at += 1;
            }
            symbol += 1;
        }
        ranges[bits].end = (next_code as u64) << (32 - bits);
        bits += 1;
    }
    ranges
}

const fn in_code_order() -> [u16; SYMBOLS] {
    let mut order = [0; SYMBOLS];
    let mut at = 0;
    let mut bits = 1;
    while bits <= CODE_BITS_MAX {
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if CODE_BITS[symbol] as usize == bits {
                order[at] = symbol as u16;
                at += 1;
            }
            symbol += 1;
        }
        bits += 1;
    }
    order
}

const fn codes() -> [u32; SYMBOLS] {
    let mut codes = [0; SYMBOLS];
    let mut at = 0;
    while at < SYMBOLS {
        let symbol = IN_CODE_ORDER[at] as usize;
        let range = RANGES[CODE_BITS[symbol] as usize];
        codes[symbol] = range.first + (at as u32 - range.symbol_at as u32);
        at += 1;
    }
    codes
}

const fn steps() -> [Step; 1 << STEP_BITS] {
    let mut steps = [Step { symbol: 0, bits: 0 }; 1 << STEP_BITS];
    let mut symbol = 0;
    while symbol < EOS {
        let bits = CODE_BITS[symbol] as u32;
        if bits <= STEP_BITS {
            let free_bits = STEP_BITS - bits;
            let mut tail = 0;
            while tail < 1_u32 << free_bits {
                steps[(CODES[symbol] << free_bits | tail) as usize] = Step {
                    symbol: symbol as u8,
                    bits: bits as u8,
                };
                tail += 1;
            }
        }
        symbol += 1;
    }
    steps
}

/// The length of each symbol's code in bits (RFC 7541 Appendix B).
#[rustfmt::skip]
const CODE_BITS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, // 0x00
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, // 0x10
     6, 10, 10, 12, 13,  6,  8, 11, 10, 10,  8, 11,  8,  6,  6,  6, // 0x20
     5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8, 15,  6, 12, 10, // 0x30
    13,  6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7, // 0x40
     7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8, 13, 19, 13, 14,  6, // 0x50
    15,  5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5, // 0x60
     6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7, 15, 11, 14, 13, 28, // 0x70
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, // 0x80
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, // 0x90
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, // 0xa0
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, // 0xb0
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, // 0xc0
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, // 0xd0
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, // 0xe0
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, // 0xf0
    30, // EOS
];

#[cfg(test)]
#[path = "huffman_test.rs"]
mod huffman_test;
