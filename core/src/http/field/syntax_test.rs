use super::*;

/// Every byte at every place of values of every length up to three words.
fn everywhere(check: impl Fn(&[u8]) -> bool, fill: &[u8], allowed: impl Fn(u8) -> bool) {
    for length in 1..=24 {
        for at in 0..length {
            for byte in 0..=u8::MAX {
                let mut bytes: Vec<u8> = fill.iter().copied().cycle().take(length).collect();
                bytes[at] = byte;
                let edge = at == 0 || at == length - 1;
                if fill == b"/" && at == 0 {
                    continue;
                }
                if fill == b"a" && edge && matches!(byte, b' ' | b'\t') {
                    continue;
                }
                assert_eq!(
                    check(&bytes),
                    allowed(byte),
                    "{byte:#x} at {at} of {length}"
                );
            }
        }
    }
}

#[test]
fn a_value_takes_every_byte_but_controls_wherever_they_stand() {
    let allowed = |byte: u8| (byte >= b' ' && byte != 0x7f) || byte == b'\t';
    everywhere(is_field_value, b"a", allowed);
    assert!(
        is_field_value(b"a\tb") && is_field_value("\u{e9}\u{e9}\u{e9}\u{e9} caff\u{e8}".as_bytes())
    );
}

#[test]
fn a_path_takes_every_visible_byte_but_the_fragments_wherever_they_stand() {
    everywhere(is_path, b"/", |byte| {
        byte > b' ' && byte != 0x7f && byte != b'#'
    });
}
