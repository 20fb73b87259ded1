use super::*;

/// Bytes of hexadecimal digits.
fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

const KEY: &str = "8f95f09245765f80256934e50c66207f";

/// The id that the draft has, without our bytes behind it.
fn id(rotation: u8, server_id: &str, nonce: &str, key: Option<&str>) -> Vec<u8> {
    let nonce = bytes(nonce);
    let encoder = ServerIdEncoder {
        server_id: bytes(server_id).into(),
        nonce_bytes: nonce.len(),
        rotation,
        key: key.map(|key| cipher(&bytes(key).try_into().unwrap()).unwrap()),
    };
    let mut start = vec![0; encoder.bytes()];
    encoder.encode(&nonce, encoder.bytes(), &mut start);
    start
}

#[test]
fn ids_in_the_clear_are_those_of_the_drafts_test_vectors() {
    assert_eq!(id(0, "c4605e", "4504cc4f", None), bytes("07c4605e4504cc4f"));
    // The draft prints a first octet of one digit too many and a nonce of one too few.
    assert_eq!(
        id(1, "350d28b420", "03487d970b", None),
        bytes("2a350d28b42003487d970b")
    );
}

#[test]
fn encrypted_ids_are_those_of_the_drafts_test_vectors() {
    let encrypted = |rotation, server_id, nonce| id(rotation, server_id, nonce, Some(KEY));
    assert_eq!(
        encrypted(0, "ed793a", "ee080dbf"),
        bytes("0720b1d07b359d3c")
    );
    assert_eq!(
        encrypted(1, "ed793a51d49b8f5fab65", "ee080dbf48"),
        bytes("2fcc381bc74cb4fbad2823a3d1f8fed2")
    );
    assert_eq!(
        encrypted(2, "ed793a51d49b8f5f", "ee080dbf48c0d1e5"),
        bytes("504dd2d05a7b0de9b2b9907afb5ecf8cc3")
    );
    // The draft prints the first octet without its configuration, which is 3.
    assert_eq!(
        encrypted(0, "ed793a51d49b8f5fab", "ee080dbf48c0d1e55d"),
        bytes("125779c9cc86beb3a3a4a3ca96fce4bfe0cdbc")
    );
}

#[test]
fn the_example_of_the_drafts_section_on_four_passes_comes_out() {
    let key = Some("fdf726a9893ec05c0632d3956680baf0");
    assert_eq!(id(0, "31441a", "9c69c275", key), bytes("0767947d29be054a"));
}

#[test]
fn settings_out_of_their_range_are_refused_with_what_is_allowed() {
    let refused = |settings: QuicLb| settings.encoder().expect_err("it is refused").to_string();
    let of_lengths =
        |server_id: usize, nonce| refused(QuicLb::new(vec![1; server_id]).nonce_bytes(nonce));
    for (server_id, nonce) in [(0, 8), (1, 3), (14, 4), (10, 8)] {
        let text = of_lengths(server_id, nonce);
        assert!(
            text.contains(&format!(
                "server id of {server_id} bytes and a nonce of {nonce}"
            )),
            "{text}"
        );
        assert!(text.contains("17 at most"), "{text}");
    }
    assert!(refused(QuicLb::new([1]).rotation(7)).contains("0 to 6"));
    assert!(
        QuicLb::new([1; 13])
            .nonce_bytes(4)
            .rotation(6)
            .encoder()
            .is_ok()
    );
}

#[test]
fn no_key_is_printed() {
    let printed = format!("{:?}", QuicLb::new([1]).key([0xab; 16]));
    assert!(
        !printed.contains("171") && !printed.contains("ab"),
        "{printed}"
    );
}
