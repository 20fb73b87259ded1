use super::{LONG_MAX, put, put_long, take, take_long};
use crate::error::Violation;

fn encoded(value: usize, prefix_bits: u32, flags: u8) -> Vec<u8> {
    let mut out = Vec::new();
    put(value, prefix_bits, flags, &mut out);
    out
}

fn decoded(bytes: &[u8], prefix_bits: u32) -> Result<(usize, usize), Violation> {
    let mut input = bytes;
    let value = take(&mut input, prefix_bits)?;
    Ok((value, input.len()))
}

#[test]
fn the_examples_of_rfc_7541_appendix_c_1() {
    for (value, prefix_bits, bytes) in [
        (10, 5, &[0x0a][..]),
        (1337, 5, &[0x1f, 0x9a, 0x0a]),
        (42, 8, &[0x2a]),
    ] {
        assert_eq!(encoded(value, prefix_bits, 0), bytes);
        assert_eq!(decoded(bytes, prefix_bits), Ok((value, 0)));
    }
}

#[test]
fn every_prefix_takes_back_what_it_put_and_leaves_the_rest() {
    for prefix_bits in 1..=8 {
        let flags = (0xff_u16 << prefix_bits) as u8;
        for value in (0..1000).chain([16_383, 16_384, 65_535, 1 << 21, u32::MAX as usize]) {
            let mut bytes = encoded(value, prefix_bits, flags);
            bytes.push(0xaa);
            assert_eq!(bytes[0] & flags, flags);
            assert_eq!(decoded(&bytes, prefix_bits), Ok((value, 1)));
        }
    }
}

#[test]
fn an_integer_cut_off_anywhere_is_an_error() {
    let whole = encoded(u32::MAX as usize, 7, 0);
    for len in 0..whole.len() {
        assert_eq!(
            decoded(&whole[..len], 7),
            Err(Violation::CompressionInvalid),
            "{len} bytes"
        );
    }
}

#[test]
fn an_integer_above_32_bits_is_an_error_however_it_is_written() {
    let just_above = [0xff, 0x81, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(decoded(&just_above, 7), Err(Violation::CompressionInvalid));
    let five_full_groups = [0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    assert_eq!(
        decoded(&five_full_groups, 7),
        Err(Violation::CompressionInvalid)
    );
    let mut endless = vec![0xff; 1000];
    endless.push(0);
    assert_eq!(decoded(&endless, 7), Err(Violation::CompressionInvalid));
}

#[test]
fn zero_padding_is_allowed_up_to_five_bytes_and_no_further() {
    assert_eq!(
        decoded(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x00], 7),
        Ok((127, 0))
    );
    assert_eq!(
        decoded(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 7),
        Err(Violation::CompressionInvalid)
    );
}

#[test]
fn integers_of_62_bits_come_back_and_are_incomplete_before_their_last_byte() {
    for prefix_bits in 1..=8 {
        for value in [0, 6, 127, 128, 1 << 31, 1 << 33, LONG_MAX - 1, LONG_MAX] {
            let mut bytes = Vec::new();
            put_long(value, prefix_bits, 0, &mut bytes);
            for len in 0..bytes.len() {
                let mut input = &bytes[..len];
                assert_eq!(take_long(&mut input, prefix_bits), Ok(None));
                assert_eq!(input.len(), len, "an incomplete integer stays");
            }
            let mut input = &bytes[..];
            assert_eq!(take_long(&mut input, prefix_bits), Ok(Some(value)));
            assert!(input.is_empty());
        }
    }
}

#[test]
fn an_integer_above_62_bits_is_an_error_before_it_ends() {
    let mut bytes = Vec::new();
    put_long(LONG_MAX + 1, 8, 0, &mut bytes);
    let invalid = Err(Violation::CompressionInvalid);
    assert_eq!(take_long(&mut &bytes[..], 8), invalid);
    assert_eq!(take_long(&mut &[0xff; 12][..], 8), invalid);
    let endless_zeros = [&[0xff][..], &[0x80; 10]].concat();
    assert_eq!(take_long(&mut &endless_zeros[..], 8), invalid);
}
