use super::{LiteralText, put};
use crate::error::Violation;

fn taken(mut input: &[u8], prefix_bits: u32) -> Result<(Vec<u8>, usize), Violation> {
    let text = LiteralText::take(&mut input, prefix_bits)?;
    let mut out = Vec::new();
    text.write(&mut out)?;
    let mut space = Vec::new();
    assert_eq!(text.bytes(&mut space)?, out);
    Ok((out, input.len()))
}

#[test]
fn a_text_comes_back_behind_a_prefix_of_any_length() {
    for prefix_bits in 1..=7 {
        for text in [&b""[..], b"a", b"www.example.com", &[0xff; 40]] {
            let mut out = Vec::new();
            put(text, prefix_bits, 0, &mut out);
            out.push(0xaa);
            assert_eq!(taken(&out, prefix_bits), Ok((text.to_vec(), 1)));
            for len in 0..out.len() - 1 {
                assert_eq!(
                    taken(&out[..len], prefix_bits),
                    Err(Violation::CompressionInvalid)
                );
            }
        }
    }
}

#[test]
fn the_huffman_code_is_used_only_where_it_is_shorter_and_flags_stand_in_front_of_its_bit() {
    let mut out = Vec::new();
    put(b"aa", 3, 0x20, &mut out);
    assert_eq!(out, [0x22, b'a', b'a'], "as long coded as plain");
    out.clear();
    put(b"aaaaaaaa", 3, 0x20, &mut out);
    assert_eq!(out[0], 0x20 | 0x08 | 5);
    assert_eq!(out.len(), 6);
}
