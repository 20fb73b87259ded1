use super::*;
use std::path::Path;

#[test]
fn seeds_of_the_channel_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/channel");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("seeds").flatten() {
        eprintln!("{}", entry.file_name().to_string_lossy());
        channel(&std::fs::read(entry.path()).expect("a seed"));
        count += 1;
    }
    assert!(count > 0, "{} holds no seed", folder.display());
}

#[test]
fn submissions_of_any_words_and_texts_are_read_once_and_inside_of_the_arena() {
    let words: [&[u8]; 14] = [
        b"GET\0/\0a.test",
        b"CONNECT\0a.test:1\0",
        b"POST\0http://a.test/x?y\0b.test",
        b"\0",
        b"\0:protocol\0websocket",
        b"\0X-Own\x001",
        b"\0host\0c.test",
        b"\0connection\0upgrade",
        b"0\x009\0/etc/hostname",
        b"18446744073709551616\0\0x",
        b"\xff\xfe\x80",
        "\u{e4}\u{1f600}".as_bytes(),
        b"\0\0\0",
        b"\r\n",
    ];
    let mut state = 1_u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % end
    };
    for _ in 0..2_000 {
        let count = below(6);
        let mut input = vec![count as u8];
        for _ in 0..count {
            let code = [1, 2, 3, 6, 16, 17, 18, 19, 24, 64, 65, 200][below(12)];
            input.extend([code, below(6) as u8, below(4) as u8, below(40) as u8]);
            input.extend([below(256) as u8, below(80) as u8]);
            input.extend([below(256) as u8, below(256) as u8]);
        }
        for _ in 0..below(6) {
            input.extend_from_slice(words[below(words.len())]);
        }
        channel(&input);
    }
}
