use super::{MAX, encode, len, put, take};

#[test]
fn the_examples_of_the_rfc_decode() {
    // RFC 9000 section A.1.
    let cases: [(&[u8], u64); 5] = [
        (
            &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c],
            151_288_809_941_952_652,
        ),
        (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
        (&[0x7b, 0xbd], 15_293),
        (&[0x25], 37),
        (&[0x40, 0x25], 37),
    ];
    for (bytes, value) in cases {
        assert_eq!(take(bytes), Some((value, bytes.len())));
        for short in 0..bytes.len() {
            assert_eq!(take(&bytes[..short]), None);
        }
    }
}

#[test]
fn every_length_comes_back() {
    for value in [0, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30, MAX] {
        let mut out = Vec::new();
        put(value, &mut out);
        assert_eq!(out.len(), len(value));
        assert_eq!(out[..], encode(value).0[..out.len()]);
        assert_eq!(take(&out), Some((value, out.len())));
    }
}
