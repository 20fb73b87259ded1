use super::{DecodedSection, Decoder};
use crate::error::Violation;
use crate::http::head::is_sound;
use crate::http::{FieldName, Fields, RequestHead, StreamId, Token, Version};
use crate::limits::{Limits, QPACK_BLOCKED_BYTES_MAX};
use crate::qpack::static_table;

const FAILED: Result<DecodedSection, Violation> = Err(Violation::QpackDecompressionFailed);
const COMPLETE: Result<DecodedSection, Violation> = Ok(DecodedSection::Complete);

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

/// A decoder, and what its last section held.
struct Receiver {
    decoder: Decoder,
    limits: Limits,
    fields: Fields,
}

impl Receiver {
    fn new(capacity_max: usize, blocked_streams_max: usize) -> Self {
        Self {
            decoder: Decoder::new(capacity_max, blocked_streams_max),
            limits: Limits::default(),
            fields: Fields::new(),
        }
    }
    /// One with a table of 220 bytes that holds `:authority: www.example.com` at 0 and
    /// `:path: /sample/path` at 1, as in RFC 9204 Appendix B.2.
    fn of_appendix_b() -> Self {
        let mut peer = Self::new(220, 2);
        peer.instructs("3fbd01");
        peer.instructs("c00f 7777 772e 6578 616d 706c 652e 636f 6d");
        peer.instructs("c10c 2f73 616d 706c 652f 7061 7468");
        peer
    }
    fn instructs(&mut self, bytes: &str) {
        assert_eq!(self.decoder.handle_encoder_bytes(&hex(bytes)), Ok(()));
    }
    fn breaks(&mut self, bytes: &str) {
        assert_eq!(
            self.decoder.handle_encoder_bytes(&hex(bytes)),
            Err(Violation::QpackEncoderStreamInvalid),
            "{bytes}"
        );
    }
    fn takes(&mut self, stream: u64, bytes: &str) -> Result<DecodedSection, Violation> {
        let (limits, fields) = (&self.limits, &mut self.fields);
        self.decoder
            .decode(StreamId(stream), &hex(bytes), limits, fields)
    }
    fn expects(&mut self, stream: u64, bytes: &str, pairs: &[(&str, &str)]) {
        assert_eq!(self.takes(stream, bytes), COMPLETE, "{bytes}");
        assert_eq!(self.fields, section(pairs), "{bytes}");
    }
    fn unblocks(&mut self) -> Option<(u64, DecodedSection)> {
        let unblocked = self.decoder.poll_unblocked(&self.limits, &mut self.fields);
        unblocked
            .unwrap()
            .map(|(stream, decoded)| (stream.0, decoded))
    }
    fn answers(&mut self, bytes: &str) {
        let mut out = Vec::new();
        self.decoder.decoder_stream_bytes(&mut out);
        assert_eq!(out, hex(bytes));
    }
    fn has_table(&self, from: u64, pairs: &[(&str, &str)], size: usize) {
        assert!(from == 0 || self.decoder.table.get(from - 1).is_none());
        for (absolute, (name, value)) in (from..).zip(pairs) {
            let entry = self.decoder.table.get(absolute).unwrap();
            assert_eq!(
                (entry.0.as_bytes(), entry.1),
                (name.as_bytes(), value.as_bytes())
            );
        }
        assert_eq!(self.decoder.table.inserted(), from + pairs.len() as u64);
        assert_eq!(self.decoder.table.size(), size);
    }
}

const AUTHORITY: (&str, &str) = (":authority", "www.example.com");
const PATH: (&str, &str) = (":path", "/sample/path");
const CUSTOM: (&str, &str) = ("custom-key", "custom-value");

#[test]
fn a_literal_with_a_static_name_as_in_rfc_9204_appendix_b_1() {
    let mut peer = Receiver::new(0, 0);
    let bytes = "0000 510b 2f69 6e64 6578 2e68 746d 6c";
    peer.expects(0, bytes, &[(":path", "/index.html")]);
    peer.answers("");
}

#[test]
fn the_connection_of_rfc_9204_appendix_b_2_to_b_5() {
    let mut peer = Receiver::of_appendix_b();
    peer.has_table(0, &[AUTHORITY, PATH], 106);
    peer.expects(4, "0381 10 11", &[AUTHORITY, PATH]);
    peer.answers("84");
    peer.instructs("4a63 7573 746f 6d2d 6b65 790c 6375 7374 6f6d 2d76 616c 7565");
    peer.has_table(0, &[AUTHORITY, PATH, CUSTOM], 160);
    peer.answers("01");
    // The section of stream 8 overtakes the duplicate that it names, and is cancelled.
    assert_eq!(peer.takes(8, "0500 80 c1 81"), Ok(DecodedSection::Blocked));
    peer.decoder.cancel(StreamId(8));
    peer.answers("48");
    peer.instructs("02");
    assert_eq!(peer.unblocks(), None);
    peer.has_table(0, &[AUTHORITY, PATH, CUSTOM, AUTHORITY], 217);
    peer.answers("01");
    peer.expects(12, "0500 80 c1 81", &[AUTHORITY, (":path", "/"), CUSTOM]);
    peer.answers("8c");
    peer.instructs("810d 6375 7374 6f6d 2d76 616c 7565 32");
    let newest = ("custom-key", "custom-value2");
    peer.has_table(1, &[PATH, CUSTOM, AUTHORITY, newest], 215);
    peer.answers("01");
}

#[test]
fn the_encoder_stream_may_be_cut_anywhere() {
    let all = hex(
        "3fbd01 c00f 7777 772e 6578 616d 706c 652e 636f 6d c10c 2f73 616d 706c 652f 7061 7468
         4a63 7573 746f 6d2d 6b65 790c 6375 7374 6f6d 2d76 616c 7565 02
         810d 6375 7374 6f6d 2d76 616c 7565 32",
    );
    for at in 0..=all.len() {
        for size in [1, 2, 5, all.len()] {
            let mut peer = Receiver::new(220, 0);
            let (first, second) = all.split_at(at);
            for piece in first.chunks(size).chain(second.chunks(size)) {
                assert_eq!(peer.decoder.handle_encoder_bytes(piece), Ok(()));
            }
            let newest = ("custom-key", "custom-value2");
            peer.has_table(1, &[PATH, CUSTOM, AUTHORITY, newest], 215);
            peer.answers("05");
            peer.answers("");
        }
    }
}

#[test]
fn a_blocked_section_is_decoded_once_its_insertions_are_there() {
    let mut peer = Receiver::new(220, 2);
    assert_eq!(peer.takes(4, "0381 10 11"), Ok(DecodedSection::Blocked));
    assert!(peer.fields.is_empty());
    peer.answers("");
    peer.instructs("3fbd01 c00f 7777 772e 6578 616d 706c 652e 636f 6d");
    assert_eq!(peer.unblocks(), None, "one of two is there");
    assert_eq!(peer.decoder.blocked_streams(), 1);
    peer.instructs("c10c 2f73 616d 706c 652f 7061 7468");
    assert_eq!(peer.unblocks(), Some((4, DecodedSection::Complete)));
    assert_eq!(peer.fields, section(&[AUTHORITY, PATH]));
    assert_eq!(peer.unblocks(), None);
    peer.answers("84");
    peer.answers("");
}

#[test]
fn one_blocked_stream_too_many_is_a_connection_error() {
    let mut peer = Receiver::new(220, 2);
    assert_eq!(peer.takes(4, "0381 10 11"), Ok(DecodedSection::Blocked));
    assert_eq!(peer.takes(8, "0381 10 11"), Ok(DecodedSection::Blocked));
    assert_eq!(peer.takes(12, "0000 c1"), COMPLETE, "needs no insertion");
    assert_eq!(peer.takes(16, "0381 10 11"), FAILED);
    peer.decoder.cancel(StreamId(4));
    assert_eq!(peer.takes(20, "0381 10 11"), Ok(DecodedSection::Blocked));
    assert_eq!(Receiver::new(220, 0).takes(4, "0381 10 11"), FAILED);
}

#[test]
fn blocked_sections_hold_bounded_memory() {
    let mut peer = Receiver::new(220, 16);
    let mut long = hex("0381");
    long.resize(60_000, 0x10);
    let mut blocked = 0;
    for stream in 0..10 {
        let id = StreamId(stream);
        let (limits, fields) = (&peer.limits, &mut peer.fields);
        let decoded = peer.decoder.decode(id, &long, limits, fields);
        if decoded == Ok(DecodedSection::Blocked) {
            blocked += 1;
        } else {
            let refused = DecodedSection::Refused(Violation::QpackBlockedTooLarge);
            assert_eq!(decoded, Ok(refused));
        }
    }
    assert_eq!(blocked, QPACK_BLOCKED_BYTES_MAX / 60_000);
    assert_eq!(peer.decoder.blocked_streams(), blocked);
    // The refused ones are cancelled: they were never read.
    peer.answers("44 45 46 47 48 49");
}

#[test]
fn a_required_insert_count_that_no_encoder_can_mean_is_an_error() {
    // At most 6 entries: the full range is 12, the highest count now 2 + 6.
    let mut peer = Receiver::of_appendix_b();
    for encoded in ["0d", "0e", "ff00", "ff80808080808080808080"] {
        assert_eq!(peer.takes(4, &format!("{encoded} 00 c1")), FAILED);
    }
    assert_eq!(peer.takes(4, "0a 00 c1"), FAILED, "9 is above the highest");
    assert_eq!(peer.takes(4, "01 00 c1"), FAILED, "that would be 0");
    assert_eq!(peer.takes(4, "09 00 c1"), Ok(DecodedSection::Blocked), "8");
    assert_eq!(Receiver::new(0, 1).takes(4, "01 00 c1"), FAILED);
    assert_eq!(Receiver::new(31, 1).takes(4, "01 00 c1"), FAILED);
}

#[test]
fn the_required_insert_count_goes_round_and_keeps_its_meaning() {
    // One entry at a time, 3 at most: the full range is 6.
    let mut peer = Receiver::new(100, 0);
    peer.instructs("3f45");
    for inserted in 1..200_u64 {
        peer.instructs("41 61 01 62");
        let encoded = inserted % 6 + 1;
        peer.expects(4, &format!("{encoded:02x} 00 80"), &[("a", "b")]);
    }
}

#[test]
fn a_base_below_zero_is_an_error_and_one_above_the_count_is_not() {
    let mut peer = Receiver::of_appendix_b();
    assert_eq!(peer.takes(4, "03 82 10"), FAILED, "2 - 2 - 1");
    assert_eq!(peer.takes(4, "00 80 c1"), FAILED, "0 - 0 - 1");
    peer.expects(4, "03 02 83", &[AUTHORITY]);
    peer.expects(4, "00 05 c1", &[(":path", "/")]);
    peer.expects(4, "00 7fffffffff7f c1", &[(":path", "/")]);
}

#[test]
fn a_reference_beyond_the_required_insert_count_is_an_error() {
    let mut peer = Receiver::of_appendix_b();
    // Both entries are there, but the section says that it needs one only.
    peer.expects(4, "02 00 80", &[AUTHORITY]);
    for line in ["10", "1f 7f", "00 01 61", "07 7f 01 61", "81", "bf 7f"] {
        assert_eq!(peer.takes(4, &format!("02 00 {line}")), FAILED, "{line}");
    }
    // Nothing may be named if nothing is needed.
    for line in ["80", "10", "40 01 61", "00 01 61"] {
        assert_eq!(peer.takes(4, &format!("00 00 {line}")), FAILED, "{line}");
    }
}

#[test]
fn an_evicted_entry_cannot_be_named() {
    let mut peer = Receiver::of_appendix_b();
    peer.instructs("20 3fbd01");
    for line in ["80", "81"] {
        assert_eq!(peer.takes(4, &format!("03 00 {line}")), FAILED);
    }
}

#[test]
fn every_kind_of_line_gives_its_field_and_says_whether_it_is_secret() {
    let mut peer = Receiver::of_appendix_b();
    // Required Insert Count 2, Base 1: entry 0 is relative 0, entry 1 post-base 0.
    peer.expects(4, "0380 80", &[AUTHORITY]);
    peer.expects(4, "0380 10", &[PATH]);
    peer.expects(4, "0380 d1", &[(":method", "GET")]);
    for (line, field, is_secret) in [
        ("40 01 61", (":authority", "a"), false),
        ("60 01 61", (":authority", "a"), true),
        ("51 01 61", (":path", "a"), false),
        ("71 01 61", (":path", "a"), true),
        ("00 01 61", (":path", "a"), false),
        ("08 01 61", (":path", "a"), true),
        ("21 78 01 61", ("x", "a"), false),
        ("31 78 01 61", ("x", "a"), true),
        ("29 f3 81 1f", ("x", "a"), false),
    ] {
        assert_eq!(peer.takes(4, &format!("0380 {line}")), COMPLETE, "{line}");
        let got = peer.fields.at(0).unwrap();
        assert_eq!(
            (got.name, got.value),
            (field.0.as_bytes(), field.1.as_bytes())
        );
        assert_eq!(got.sensitive, is_secret, "{line}");
    }
}

#[test]
fn a_literal_name_that_is_known_becomes_its_token() {
    let mut peer = Receiver::new(0, 0);
    assert_eq!(peer.takes(4, "0000 23 616765 01 31"), COMPLETE);
    assert_eq!(peer.fields.at(0).unwrap().token, Some(Token::AGE));
}

#[test]
fn instructions_that_break_the_table_are_connection_errors() {
    // Above what we allow; an entry larger than the table; entries and rows that are not there.
    Receiver::of_appendix_b().breaks("3fbe01");
    Receiver::new(0, 0).breaks("21");
    Receiver::new(0, 0).breaks("41 61 00");
    Receiver::new(220, 0).breaks("41 61 00");
    let mut peer = Receiver::new(220, 0);
    peer.instructs("3f04");
    peer.instructs("41 61 02 6161");
    peer.breaks("41 61 03 616161");
    Receiver::of_appendix_b().breaks("02");
    Receiver::of_appendix_b().breaks("82 01 61");
    Receiver::of_appendix_b().breaks("ff24 01 61");
    Receiver::of_appendix_b().breaks("1fffffffffffffffffff7f");
    // Huffman padding that is not ones.
    Receiver::of_appendix_b().breaks("c0 81 18");
}

#[test]
fn setting_the_capacity_evicts_and_what_we_allow_is_allowed_again() {
    let mut peer = Receiver::of_appendix_b();
    peer.instructs("3f13");
    peer.has_table(1, &[PATH], 49);
    peer.instructs("20");
    peer.instructs("3fbd01");
    assert_eq!(peer.decoder.table.capacity(), 220);
    assert_eq!(peer.decoder.table.size(), 0);
}

#[test]
fn an_insertion_may_name_the_entry_that_it_pushes_out() {
    let mut peer = Receiver::new(220, 0);
    peer.instructs("3f0a 41 78 05 6161616161");
    peer.instructs("80 05 6262626262");
    peer.has_table(1, &[("x", "bbbbb")], 38);
    peer.instructs("00");
    peer.has_table(2, &[("x", "bbbbb")], 38);
}

#[test]
fn a_section_beyond_a_limit_is_refused_unread_and_acknowledged() {
    let mut peer = Receiver::of_appendix_b();
    peer.limits.field_count_max = 2;
    peer.expects(4, "0300 80 81", &[PATH, AUTHORITY]);
    let refused = Ok(DecodedSection::Refused(Violation::FieldsTooMany));
    assert_eq!(peer.takes(8, "0300 80 81 80"), refused);
    assert!(peer.fields.is_empty());
    peer.limits.field_section_bytes_max = 100;
    let refused = Ok(DecodedSection::Refused(Violation::FieldSectionTooLarge));
    assert_eq!(peer.takes(12, "0300 80 81"), refused);
    assert_eq!(peer.takes(16, "0000 c1"), COMPLETE, "the next one is fine");
    peer.answers("84 88 8c");
}

#[test]
fn a_bomb_of_large_entries_is_refused_in_bounded_memory() {
    let mut peer = Receiver::new(4096, 0);
    peer.instructs("3fe11f");
    let mut insertion = hex("41 78 7f a1 1e");
    insertion.resize(5 + 4000, b'a');
    assert_eq!(peer.decoder.handle_encoder_bytes(&insertion), Ok(()));
    let mut bomb = hex("0200");
    bomb.resize(60_000, 0x80);
    let (limits, fields) = (&peer.limits, &mut peer.fields);
    let decoded = peer.decoder.decode(StreamId(0), &bomb, limits, fields);
    let refused = DecodedSection::Refused(Violation::FieldSectionTooLarge);
    assert_eq!(decoded, Ok(refused));
    assert!(peer.fields.arena_capacity() < 256 * 1024);
}

#[test]
fn an_instruction_that_never_ends_holds_bounded_memory() {
    let mut peer = Receiver::new(4096, 0);
    // A value of 16,384 bytes: the most that is waited for.
    peer.instructs("3fe11f c0 7f 81 7f");
    for _ in 0..16_383 {
        assert_eq!(peer.decoder.handle_encoder_bytes(b"a"), Ok(()));
    }
    assert!(peer.decoder.pending.capacity() <= 64 * 1024);
    peer.breaks("61");
}

#[test]
fn insertions_are_counted_to_the_encoder_once() {
    let mut peer = Receiver::of_appendix_b();
    assert_eq!(peer.takes(4, "02 00 80"), COMPLETE);
    // The acknowledgement tells about the first insertion, the increment about the second.
    peer.answers("84 01");
    peer.answers("");
    assert_eq!(peer.takes(8, "03 00 80"), COMPLETE);
    peer.answers("88");
    assert_eq!(peer.takes(12, "00 00 c1"), COMPLETE);
    peer.answers("");
}

#[test]
fn a_decoder_without_a_table_has_nothing_to_cancel() {
    let mut peer = Receiver::new(0, 0);
    peer.decoder.cancel(StreamId(4));
    peer.answers("");
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

#[test]
fn what_is_wrong_with_a_value_is_found_each_time_that_the_table_is_asked_for_it() {
    for (insert, violation) in [
        // user-agent with a line feed.
        ("ff20 03 610a62", Some(Violation::FieldValueInvalid)),
        // A name with a capital.
        ("41 41 01 62", Some(Violation::FieldNameInvalid)),
        // :authority with a user, and with nothing, which is sound by itself.
        ("c0 03 754068", Some(Violation::AuthorityInvalid)),
        ("c0 00", Some(Violation::AuthorityInvalid)),
        // te: gzip, and connection: x, sound by themselves too.
        ("42 7465 04 677a6970", Some(Violation::TeForbidden)),
        (
            "4a 636f6e6e656374696f6e 01 78",
            Some(Violation::ConnectionFieldForbidden),
        ),
        // :authority: h
        ("c0 01 68", None),
    ] {
        let mut peer = Receiver::new(220, 2);
        peer.instructs("3fbd01");
        peer.instructs(insert);
        // And a copy of it.
        peer.instructs("00");
        // :method: GET, :scheme: https, :path: / and the entry, then its copy.
        for (stream, named) in [(0, "0200 d1 d7 c1 80"), (4, "0300 d1 d7 c1 80")] {
            assert_eq!(peer.takes(stream, named), COMPLETE, "{insert}");
            let mut fields = peer.fields.clone();
            if fields.get(Token::AUTHORITY).is_none() {
                fields.push(Token::HOST, b"h");
            }
            let head = RequestHead::from_fields(fields, Version::Http3);
            assert_eq!(head.err(), violation, "{insert}");
        }
    }
}
