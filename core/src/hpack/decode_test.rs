use super::{DecodedBlock, Decoder};
use crate::compress::huffman;
use crate::error::Violation;
use crate::hpack::static_table;
use crate::http::head::is_sound;
use crate::http::{FieldName, Fields, RequestHead, Token, Version};
use crate::limits::Limits;

const INVALID: Result<DecodedBlock, Violation> = Err(Violation::CompressionInvalid);

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(u8::is_ascii_hexdigit)
        .map(|digit| (digit as char).to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn section(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().copied().collect()
}

/// A decoder, and what its last block held.
struct Receiver {
    decoder: Decoder,
    limits: Limits,
    fields: Fields,
}

impl Receiver {
    fn new(table_bytes_max: usize) -> Self {
        Self {
            decoder: Decoder::new(table_bytes_max),
            limits: Limits::default(),
            fields: Fields::new(),
        }
    }
    fn takes(&mut self, block: &[u8]) -> Result<DecodedBlock, Violation> {
        self.decoder.decode(block, &self.limits, &mut self.fields)
    }
    fn expects(&mut self, block: &str, pairs: &[(&str, &str)], table_size: usize) {
        assert_eq!(
            self.takes(&hex(block)),
            Ok(DecodedBlock::Complete),
            "{block}"
        );
        assert_eq!(self.fields, section(pairs), "{block}");
        assert_eq!(self.decoder.table.size(), table_size, "{block}");
    }
    /// The dynamic table, newest first.
    fn table(&self) -> Vec<(String, String)> {
        (0..self.decoder.table.len())
            .map(|index| {
                let (name, value) = self.decoder.table.get(index).unwrap();
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                (text(name.as_bytes()), text(value))
            })
            .collect()
    }
    fn has_table(&self, pairs: &[(&str, &str)]) {
        let owned: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        assert_eq!(self.table(), owned);
    }
}

#[test]
fn the_single_fields_of_rfc_7541_appendix_c_2() {
    let mut peer = Receiver::new(4096);
    peer.expects(
        "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
        &[("custom-key", "custom-header")],
        55,
    );
    peer.has_table(&[("custom-key", "custom-header")]);

    let mut peer = Receiver::new(4096);
    let path = [(":path", "/sample/path")];
    peer.expects("040c 2f73 616d 706c 652f 7061 7468", &path, 0);
    assert!(!peer.fields.at(0).unwrap().sensitive);

    let block = hex("1008 7061 7373 776f 7264 0673 6563 7265 74");
    assert_eq!(peer.takes(&block), Ok(DecodedBlock::Complete));
    let field = peer.fields.at(0).unwrap();
    assert_eq!(
        (field.name, field.value),
        (&b"password"[..], &b"secret"[..])
    );
    assert!(field.sensitive, "the never-indexed flag is kept");
    assert_eq!(peer.decoder.table.len(), 0);

    peer.expects("82", &[(":method", "GET")], 0);
}

#[test]
fn the_requests_of_rfc_7541_appendix_c_3_and_c_4() {
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let huffman = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [plain, huffman] {
        let mut peer = Receiver::new(4096);
        let host = (":authority", "www.example.com");
        let get = (":method", "GET");
        let http = (":scheme", "http");
        peer.expects(blocks[0], &[get, http, (":path", "/"), host], 57);
        let no_cache = ("cache-control", "no-cache");
        peer.expects(blocks[1], &[get, http, (":path", "/"), host, no_cache], 110);
        let custom = ("custom-key", "custom-value");
        let https = (":scheme", "https");
        let index = (":path", "/index.html");
        peer.expects(blocks[2], &[get, https, index, host, custom], 164);
        peer.has_table(&[custom, no_cache, host]);
    }
}

#[test]
fn the_responses_of_rfc_7541_appendix_c_5_and_c_6_with_eviction() {
    let plain = [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 \
         303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 \
         5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 \
         5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
    ];
    let huffman = [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b \
         ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad \
         94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 \
         65c0 03ed 4ee5 b106 3d50 07",
    ];
    for blocks in [plain, huffman] {
        let mut peer = Receiver::new(256);
        let private = ("cache-control", "private");
        let date = ("date", "Mon, 21 Oct 2013 20:13:21 GMT");
        let location = ("location", "https://www.example.com");
        peer.expects(
            blocks[0],
            &[(":status", "302"), private, date, location],
            222,
        );
        peer.has_table(&[location, date, private, (":status", "302")]);
        peer.expects(
            blocks[1],
            &[(":status", "307"), private, date, location],
            222,
        );
        peer.has_table(&[(":status", "307"), location, date, private]);
        let later = ("date", "Mon, 21 Oct 2013 20:13:22 GMT");
        let gzip = ("content-encoding", "gzip");
        let cookie = (
            "set-cookie",
            "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
        );
        let fields = [(":status", "200"), private, later, location, gzip, cookie];
        peer.expects(blocks[2], &fields, 215);
        peer.has_table(&[cookie, gzip, later]);
    }
}

#[test]
fn index_zero_and_an_index_behind_the_table_are_errors() {
    for block in ["80", "be", "ff00", "7e0161", "0f2f0161", "ff80808080808000"] {
        assert_eq!(Receiver::new(4096).takes(&hex(block)), INVALID, "{block}");
    }
    let mut peer = Receiver::new(4096);
    peer.expects(
        "4101 61 be",
        &[(":authority", "a"), (":authority", "a")],
        43,
    );
    assert_eq!(peer.takes(&hex("be")), Ok(DecodedBlock::Complete));
    assert_eq!(peer.takes(&hex("bf")), INVALID);
}

#[test]
fn a_name_may_come_from_the_entry_that_its_insertion_evicts() {
    let mut peer = Receiver::new(64);
    peer.expects("4006 782d 6c6f 6e67 0161", &[("x-long", "a")], 39);
    peer.expects("7e02 6262", &[("x-long", "bb")], 40);
    peer.has_table(&[("x-long", "bb")]);
}

#[test]
fn an_entry_larger_than_the_table_empties_it_and_is_no_error() {
    let mut peer = Receiver::new(64);
    peer.expects("4001 7801 61", &[("x", "a")], 34);
    let mut block = vec![0x40, 1, b'y', 40];
    block.extend_from_slice(&[b'v'; 40]);
    assert_eq!(peer.takes(&block), Ok(DecodedBlock::Complete));
    assert_eq!(peer.fields.get_named(b"y"), Some(&[b'v'; 40][..]));
    peer.has_table(&[]);
}

#[test]
fn a_size_update_stands_at_the_start_of_a_block_only() {
    let mut peer = Receiver::new(4096);
    peer.expects("20 3fe11f 82", &[(":method", "GET")], 0);
    assert_eq!(peer.takes(&hex("82 20")), INVALID);
    assert_eq!(Receiver::new(4096).takes(&hex("4001780161 20")), INVALID);
}

#[test]
fn a_size_update_above_what_we_advertised_is_an_error() {
    let mut peer = Receiver::new(4096);
    assert_eq!(peer.takes(&hex("3fe11f")), Ok(DecodedBlock::Complete));
    assert_eq!(peer.takes(&hex("3fe21f")), INVALID);
    assert_eq!(Receiver::new(100).takes(&hex("3f46")), INVALID);
}

#[test]
fn a_size_update_evicts_at_once() {
    let mut peer = Receiver::new(4096);
    peer.expects("4001 7801 61", &[("x", "a")], 34);
    assert_eq!(peer.takes(&hex("20 3fe11f be")), INVALID);
}

#[test]
fn a_shrunk_table_must_be_announced_by_the_next_block() {
    let mut peer = Receiver::new(4096);
    peer.decoder.set_table_max(100);
    assert_eq!(peer.takes(&hex("82")), INVALID);

    let mut peer = Receiver::new(4096);
    peer.decoder.set_table_max(100);
    peer.expects("3f45 82", &[(":method", "GET")], 0);
    peer.expects("82", &[(":method", "GET")], 0);
}

#[test]
fn a_table_shrunk_and_grown_again_must_announce_its_lowest_size() {
    let mut peer = Receiver::new(4096);
    peer.decoder.set_table_max(100);
    peer.decoder.set_table_max(4096);
    assert_eq!(peer.takes(&hex("3fe11f 82")), INVALID, "only the last size");

    let mut peer = Receiver::new(4096);
    peer.decoder.set_table_max(100);
    peer.decoder.set_table_max(4096);
    peer.expects("3f45 3fe11f 82", &[(":method", "GET")], 0);
}

#[test]
fn a_grown_table_needs_no_announcement_and_stays_as_it_is_until_then() {
    let mut peer = Receiver::new(4096);
    peer.decoder.set_table_max(16_384);
    peer.expects("82", &[(":method", "GET")], 0);
    assert_eq!(peer.decoder.table.bytes_max(), 4096);
    peer.expects("3fe17f 82", &[(":method", "GET")], 0);
    assert_eq!(peer.decoder.table.bytes_max(), 16_384);
}

#[test]
fn a_string_longer_than_the_block_is_an_error() {
    for block in ["41", "4105 6161", "4085 6161", "40", "00", "417f", "10ff"] {
        assert_eq!(Receiver::new(4096).takes(&hex(block)), INVALID, "{block}");
    }
}

#[test]
fn one_field_too_many_is_refused_and_the_table_stays_in_step() {
    let mut peer = Receiver::new(4096);
    peer.limits.field_count_max = 3;
    assert_eq!(peer.takes(&hex("82 82 82")), Ok(DecodedBlock::Complete));
    assert_eq!(
        peer.takes(&hex("82 82 82 84 4001 7801 61 0001 7901 62 1001 7901 62")),
        Ok(DecodedBlock::Refused(Violation::FieldsTooMany))
    );
    assert!(peer.fields.is_empty(), "nothing of a refused block is kept");
    peer.has_table(&[("x", "a")]);
    peer.expects("be", &[("x", "a")], 34);
}

#[test]
fn a_section_one_byte_too_large_is_refused_and_the_table_stays_in_step() {
    let mut peer = Receiver::new(4096);
    peer.limits.field_section_bytes_max = 42 + 34;
    let two = [(":method", "GET"), ("x", "a")];
    peer.expects("82 4001 7801 61", &two, 34);
    assert_eq!(
        peer.takes(&hex("82 4001 7802 6161 4001 7901 62")),
        Ok(DecodedBlock::Refused(Violation::FieldSectionTooLarge))
    );
    assert!(peer.fields.is_empty(), "nothing of a refused block is kept");
    peer.has_table(&[("y", "b"), ("x", "aa"), ("x", "a")]);
}

#[test]
fn a_refused_block_that_does_not_decode_is_still_a_connection_error() {
    for rest in [
        "80",
        "ff00",
        "20",
        "4105",
        "0005",
        "1fff ffff ffff ff",
        "0f7f 00",
        "0000 84ff",
    ] {
        let mut peer = Receiver::new(4096);
        peer.limits.field_count_max = 1;
        assert_eq!(
            peer.takes(&hex(&format!("82 82 {rest}"))),
            INVALID,
            "{rest}"
        );
    }
}

#[test]
fn the_hpack_bomb_is_refused_in_bounded_memory() {
    let mut peer = Receiver::new(4096);
    let mut block = vec![0x40, 1, b'x'];
    crate::compress::integer::put(4000, 7, 0, &mut block);
    block.extend_from_slice(&[b'v'; 4000]);
    block.extend_from_slice(&[0xbe; 50_000]);
    assert_eq!(
        peer.takes(&block),
        Ok(DecodedBlock::Refused(Violation::FieldSectionTooLarge))
    );
    let limit = peer.limits.field_section_bytes_max;
    assert!(peer.fields.arena_capacity() <= 2 * (limit + 4096));

    // With a section limit that it never meets, the count refuses it.
    peer.limits.field_section_bytes_max = usize::MAX;
    assert_eq!(
        peer.takes(&[0xbe; 50_000]),
        Ok(DecodedBlock::Refused(Violation::FieldsTooMany))
    );
}

#[test]
fn fields_of_two_bytes_that_name_a_large_entry_are_refused_too() {
    let mut peer = Receiver::new(4096);
    let mut block = vec![0x40];
    crate::compress::integer::put(4000, 7, 0, &mut block);
    block.extend_from_slice(&[b'n'; 4000]);
    block.push(0);
    for _ in 0..20_000 {
        block.extend_from_slice(&[0x0f, 0x2f, 0x00]);
    }
    assert_eq!(
        peer.takes(&block),
        Ok(DecodedBlock::Refused(Violation::FieldSectionTooLarge))
    );
    let limit = peer.limits.field_section_bytes_max;
    assert!(peer.fields.arena_capacity() <= 2 * (limit + 4096));
}

#[test]
fn a_block_clears_the_fields_of_the_one_before() {
    let mut peer = Receiver::new(4096);
    peer.expects("82 84", &[(":method", "GET"), (":path", "/")], 0);
    peer.expects("82", &[(":method", "GET")], 0);
    peer.expects("", &[], 0);
}

#[test]
fn a_huffman_coded_name_finds_its_token() {
    let mut block = vec![0x40];
    for text in [&b"content-type"[..], b"text/html"] {
        crate::compress::integer::put(huffman::encoded_len(text), 7, 0x80, &mut block);
        huffman::encode(text, &mut block);
    }
    let mut peer = Receiver::new(4096);
    assert_eq!(peer.takes(&block), Ok(DecodedBlock::Complete));
    assert_eq!(
        peer.fields.get(Token::CONTENT_TYPE),
        Some(&b"text/html"[..])
    );
    assert_eq!(peer.takes(&[0xbe]), Ok(DecodedBlock::Complete));
    assert_eq!(peer.fields.at(0).unwrap().token, Some(Token::CONTENT_TYPE));
}

#[test]
fn the_last_field_of_a_block_may_be_the_one_too_many() {
    let mut peer = Receiver::new(4096);
    peer.limits.field_count_max = 3;
    assert_eq!(
        peer.takes(&hex("82 82 82 84")),
        Ok(DecodedBlock::Refused(Violation::FieldsTooMany))
    );
}

#[test]
fn a_table_shrunk_twice_must_come_down_to_the_lower_size() {
    let mut peer = Receiver::new(4096);
    peer.decoder.set_table_max(100);
    peer.decoder.set_table_max(200);
    assert_eq!(peer.takes(&hex("3f77 82")), INVALID, "150 is above 100");
}

#[test]
fn a_table_set_to_the_size_it_has_needs_no_announcement() {
    let mut peer = Receiver::new(4096);
    peer.decoder.set_table_max(4096);
    peer.expects("82", &[(":method", "GET")], 0);
}

#[test]
fn a_larger_table_is_used_only_when_the_peer_says_so() {
    let mut peer = Receiver::new(16_384);
    assert_eq!(peer.decoder.table.bytes_max(), 4096);
    peer.expects("3fe17f 82", &[(":method", "GET")], 0);
    assert_eq!(peer.decoder.table.bytes_max(), 16_384);
}

#[test]
fn the_rest_of_a_refused_block_passes_through_the_arena_one_field_at_a_time() {
    let mut peer = Receiver::new(4096);
    peer.limits.field_section_bytes_max = 1000;
    let mut block = Vec::new();
    for _ in 0..60 {
        block.extend_from_slice(&[0x40, 1, b'x']);
        crate::compress::integer::put(1000, 7, 0, &mut block);
        block.extend_from_slice(&[b'v'; 1000]);
    }
    assert_eq!(
        peer.takes(&block),
        Ok(DecodedBlock::Refused(Violation::FieldSectionTooLarge))
    );
    assert!(peer.fields.arena_capacity() < 5000);
    assert_eq!(peer.decoder.table.len(), 3, "the table has seen them all");
}

#[test]
fn every_static_entry_is_sound_so_that_none_is_looked_at() {
    for (token, value) in static_table::ROWS {
        assert!(
            is_sound(FieldName::Token(token), value.as_bytes()),
            "{token:?} {value}"
        );
    }
}

/// `:method: GET`, `:scheme: http`, `:path: /`, and one more field.
fn request(last: &[u8]) -> Vec<u8> {
    [&[0x82, 0x86, 0x84][..], last].concat()
}

#[test]
fn what_is_wrong_with_a_value_is_found_each_time_that_the_table_is_asked_for_it() {
    let cases: [(&[u8], Violation); 3] = [
        // user-agent with a line feed.
        (b"\x7a\x03a\nb", Violation::FieldValueInvalid),
        // A name with a capital.
        (b"\x40\x01A\x01b", Violation::FieldNameInvalid),
        // :authority with a user.
        (b"\x41\x03u@h", Violation::AuthorityInvalid),
    ];
    for (field, violation) in cases {
        let mut receiver = Receiver::new(4096);
        for block in [request(field), request(&[0xbe]), request(&[0xbe])] {
            assert_eq!(receiver.takes(&block), Ok(DecodedBlock::Complete));
            let head = RequestHead::from_fields(receiver.fields.clone(), Version::Http2);
            assert_eq!(head.err(), Some(violation), "{block:x?}");
        }
    }
}

#[test]
fn a_sound_value_from_the_table_still_has_to_fit_its_head() {
    let mut receiver = Receiver::new(4096);
    // An empty authority, `te: gzip`, and `connection: x` are sound by themselves.
    let cases: [(&[u8], Violation); 3] = [
        (b"\x41\x00", Violation::AuthorityInvalid),
        (b"\x40\x02te\x04gzip", Violation::TeForbidden),
        (
            b"\x40\x0aconnection\x01x",
            Violation::ConnectionFieldForbidden,
        ),
    ];
    for (field, violation) in cases {
        for block in [request(field), request(&[0xbe])] {
            assert_eq!(receiver.takes(&block), Ok(DecodedBlock::Complete));
            let head = RequestHead::from_fields(receiver.fields.clone(), Version::Http2);
            assert_eq!(head.err(), Some(violation), "{block:x?}");
        }
    }
}
