use super::{CODE_BITS, CODES, EOS, SYMBOLS, decode, encode, encoded_len};
use crate::error::Violation;

fn encoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(text, &mut out);
    assert_eq!(out.len(), encoded_len(text));
    out
}

fn decoded(code: &[u8]) -> Result<Vec<u8>, Violation> {
    let mut out = Vec::new();
    decode(code, &mut out).map(|()| out)
}

/// Bits, most significant first, cut into bytes; the last must be full.
fn packed(codes: &[(u32, u32)]) -> Vec<u8> {
    let bits: Vec<u8> = codes
        .iter()
        .flat_map(|&(code, len)| (0..len).rev().map(move |bit| (code >> bit & 1) as u8))
        .collect();
    assert_eq!(bits.len() % 8, 0, "the case must fill its last byte");
    bits.chunks(8)
        .map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | bit))
        .collect()
}

fn code_of(symbol: usize) -> (u32, u32) {
    (CODES[symbol], u32::from(CODE_BITS[symbol]))
}

#[test]
fn codes_made_from_lengths_are_those_of_rfc_7541_appendix_b() {
    for (symbol, code) in [
        (usize::from(b'0'), 0x0),
        (usize::from(b'a'), 0x3),
        (usize::from(b'%'), 0x15),
        (usize::from(b':'), 0x5c),
        (usize::from(b'X'), 0xfc),
        (usize::from(b'!'), 0x3f8),
        (usize::from(b'\\'), 0x7fff0),
        (0, 0x1ff8),
        (10, 0x3fff_fffc),
        (22, 0x3fff_fffe),
        (128, 0xf_ffe6),
        (249, 0xfff_fffe),
        (255, 0x3ff_ffee),
        (EOS, 0x3fff_ffff),
    ] {
        assert_eq!(CODES[symbol], code, "symbol {symbol}");
    }
}

#[test]
fn the_code_is_complete_no_bit_string_is_without_meaning() {
    let used: u64 = (0..SYMBOLS)
        .map(|symbol| 1_u64 << (30 - code_of(symbol).1))
        .sum();
    assert_eq!(used, 1 << 30);
}

#[test]
fn every_byte_comes_back_alone_and_behind_every_other() {
    for first in 0..=255_u8 {
        assert_eq!(decoded(&encoded(&[first])), Ok(vec![first]));
        for second in 0..=255_u8 {
            let text = [first, second, first];
            assert_eq!(decoded(&encoded(&text)), Ok(text.to_vec()));
        }
    }
}

#[test]
fn texts_of_every_length_come_back() {
    let alphabet: Vec<u8> = (0..=255_u8).chain(*b"etaoin/-:;=, 0123").collect();
    for len in 0..300 {
        let text: Vec<u8> = (0..len)
            .map(|at| alphabet[(at * 31 + len * 17) % alphabet.len()])
            .collect();
        assert_eq!(decoded(&encoded(&text)), Ok(text));
    }
}

#[test]
fn an_empty_string_is_an_empty_text() {
    assert_eq!(encoded(b""), b"");
    assert_eq!(decoded(b""), Ok(Vec::new()));
}

#[test]
fn eos_in_a_string_is_an_error_at_its_start_and_in_its_middle() {
    let eos = code_of(EOS);
    let a = code_of(usize::from(b'a'));
    for codes in [
        &[eos, (0x3, 2)][..],
        &[a, eos, a],
        &[a, a, a, a, a, a, a, a, eos, a, a],
    ] {
        assert_eq!(decoded(&packed(codes)), Err(Violation::CompressionInvalid));
    }
}

#[test]
fn padding_longer_than_7_bits_is_an_error() {
    let a = code_of(usize::from(b'a'));
    assert_eq!(decoded(&packed(&[a, (0x7, 3)])), Ok(b"a".to_vec()));
    for ones in [8, 16, 24] {
        let code = packed(&[a, (0x7, 3), ((1 << ones) - 1, ones)]);
        assert_eq!(decoded(&code), Err(Violation::CompressionInvalid));
    }
    assert_eq!(decoded(&[0xff]), Err(Violation::CompressionInvalid));
}

#[test]
fn seven_ones_are_the_longest_padding() {
    let eight_fives = [code_of(usize::from(b'a')); 5];
    let mut codes = eight_fives.to_vec();
    codes.push((0x7f, 7));
    assert_eq!(decoded(&packed(&codes)), Ok(b"aaaaa".to_vec()));
}

#[test]
fn padding_with_a_zero_in_it_is_an_error() {
    let a = code_of(usize::from(b'a'));
    for padding in 0..7 {
        assert_eq!(
            decoded(&packed(&[a, (padding, 3)])),
            Err(Violation::CompressionInvalid),
            "padding {padding:03b}"
        );
    }
}

#[test]
fn any_bytes_decode_or_fail_and_grow_by_eight_fifths_at_most() {
    let mut state = 7_u64;
    for round in 0..20_000 {
        let code: Vec<u8> = (0..round % 40)
            .map(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        if let Ok(text) = decoded(&code) {
            assert!(text.len() <= code.len() * 8 / 5);
            assert_eq!(encoded(&text), code, "the code of a text is unique");
        }
    }
}
