use super::{Encoder, HeadSection};
use crate::hpack::{DecodedBlock, Decoder};
use crate::http::{Fields, RequestHead, ResponseHead, Token, Version};
use crate::limits::Limits;

/// An encoder, and a decoder that must understand every block of it.
struct Sender {
    encoder: Encoder,
    decoder: Decoder,
}

impl Sender {
    fn new() -> Self {
        Self {
            encoder: Encoder::new(),
            decoder: Decoder::new(4096),
        }
    }
    /// The block of `fields`, having checked that the peer reads the same from it.
    fn sends(&mut self, fields: &Fields) -> Vec<u8> {
        self.answers(0, fields)
    }
    fn answers(&mut self, status: u16, fields: &Fields) -> Vec<u8> {
        let mut block = Vec::new();
        self.encoder.put_section(stated(status, fields), &mut block);
        let mut expected = Fields::new();
        if status != 0 {
            expected.push(Token::STATUS, status.to_string().as_bytes());
        }
        for field in fields.iter() {
            if status == 0 || field.token != Some(Token::STATUS) {
                expected.push_named(field.name, field.value);
            }
        }
        let mut got = Fields::new();
        let limits = Limits::default();
        assert_eq!(
            self.decoder.decode(&block, &limits, &mut got),
            Ok(DecodedBlock::Complete)
        );
        let pairs = |fields: &Fields| -> Vec<(Vec<u8>, Vec<u8>)> {
            fields
                .iter()
                .map(|field| (field.name.to_vec(), field.value.to_vec()))
                .collect()
        };
        assert_eq!(pairs(&got), pairs(&expected));
        block
    }
    fn entries(&self) -> usize {
        self.encoder.table.len()
    }
}

fn stated(status: u16, fields: &Fields) -> HeadSection<'_> {
    HeadSection {
        status,
        ..HeadSection::of(fields)
    }
}

fn section(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().copied().collect()
}

#[test]
fn the_requests_of_rfc_7541_appendix_c_4_come_out_as_written_there() {
    let mut sender = Sender::new();
    let get = (":method", "GET");
    let first = [
        get,
        (":scheme", "http"),
        (":path", "/"),
        (":authority", "www.example.com"),
    ];
    assert_eq!(
        sender.sends(&section(&first)),
        [
            0x82, 0x86, 0x84, 0x41, 0x8c, 0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab,
            0x90, 0xf4, 0xff
        ]
    );
    let mut second = first.to_vec();
    second.push(("cache-control", "no-cache"));
    assert_eq!(
        sender.sends(&section(&second)),
        [
            0x82, 0x86, 0x84, 0xbe, 0x58, 0x86, 0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf
        ]
    );
}

#[test]
fn the_seven_statuses_of_the_static_table_are_one_byte_and_others_after_their_first() {
    let mut sender = Sender::new();
    let none = Fields::new();
    for (status, byte) in [
        (200, 0x88),
        (204, 0x89),
        (206, 0x8a),
        (304, 0x8b),
        (400, 0x8c),
        (404, 0x8d),
        (500, 0x8e),
    ] {
        assert_eq!(sender.answers(status, &none), [byte]);
    }
    assert_eq!(sender.entries(), 0);
    assert!(sender.answers(503, &none).len() > 1);
    assert_eq!(sender.answers(503, &none), [0xbe]);
}

#[test]
fn a_status_in_the_section_is_not_sent_twice() {
    let mut sender = Sender::new();
    let block = sender.answers(200, &section(&[(":status", "200"), ("server", "t")]));
    assert_eq!(block[0], 0x88);
    assert_eq!(block[1], 0x40 | 54);
}

#[test]
fn secrets_are_never_indexed_and_short_cookies_are_secrets() {
    let mut sender = Sender::new();
    let mut fields = section(&[
        ("authorization", "Basic Zm9vOmJhcg=="),
        ("proxy-authorization", "Basic Zm9vOmJhcg=="),
        ("set-cookie", "session=0123456789abcdef0123456789abcdef"),
        ("cookie", "0123456789012345678"),
        ("x-key", "secret"),
        (":path", "/"),
    ]);
    fields.mark_sensitive(Token::PATH);
    for _ in 0..3 {
        let mut block = Vec::new();
        sender.encoder.encode_trailers(&fields, &mut block);
        let mut got = Fields::new();
        assert_eq!(
            sender.decoder.decode(&block, &Limits::default(), &mut got),
            Ok(DecodedBlock::Complete)
        );
        let flags: Vec<bool> = got.iter().map(|field| field.sensitive).collect();
        assert_eq!(flags, [true, true, true, true, false, true]);
    }
    assert_eq!(sender.entries(), 1, "x-key alone");

    let mut sender = Sender::new();
    sender.sends(&section(&[("cookie", "01234567890123456789")]));
    assert_eq!(sender.entries(), 1, "20 bytes are enough");
}

#[test]
fn a_sensitive_field_is_not_taken_from_a_table_that_has_it() {
    let mut sender = Sender::new();
    let mut fields = section(&[("user-agent", "tests")]);
    sender.sends(&fields);
    assert_eq!(sender.sends(&fields), [0xbe]);
    fields.mark_sensitive(Token::USER_AGENT);
    let block = sender.sends(&fields);
    assert_eq!(block[..2], [0x1f, 58 - 15], "never indexed, name 58");
}

#[test]
fn values_of_one_message_do_not_fill_the_table() {
    let mut sender = Sender::new();
    for request in 0..200 {
        let path = format!("/users/{request}?page=2");
        let id = format!("{request:032x}");
        sender.sends(&section(&[(":path", &path), ("x-request-id", &id)]));
    }
    assert_eq!(sender.entries(), 2, "the first value of each name");
}

#[test]
fn the_first_value_of_a_name_enters_at_once_and_others_when_they_come_again() {
    let mut sender = Sender::new();
    let first = section(&[("date", "now")]);
    sender.sends(&first);
    assert_eq!(sender.sends(&first), [0xbe]);
    let second = section(&[("date", "then")]);
    sender.sends(&second);
    assert_eq!(sender.entries(), 1);
    sender.sends(&second);
    assert_eq!(sender.entries(), 2);
    assert_eq!(sender.sends(&second), [0xbe]);
    assert_eq!(sender.sends(&first), [0xbf]);
}

#[test]
fn a_value_that_takes_more_than_half_of_the_table_stays_outside() {
    let mut sender = Sender::new();
    sender.sends(&section(&[("server", "small")]));
    let large = section(&[("user-agent", &"u".repeat(2048))]);
    for _ in 0..3 {
        sender.sends(&large);
    }
    assert_eq!(sender.entries(), 1);
    let fits = section(&[("user-agent", &"u".repeat(2048 - 42))]);
    sender.sends(&fits);
    assert_eq!(sender.entries(), 2);
}

#[test]
fn a_repeated_head_comes_from_the_cache_and_equals_what_the_table_would_give() {
    let mut sender = Sender::new();
    let head = section(&[
        ("server", "trunkline"),
        ("content-type", "text/plain"),
        ("content-length", "1024"),
    ]);
    sender.answers(200, &head);
    let generation = sender.encoder.table.generation();
    assert!(
        sender
            .encoder
            .cache
            .find(stated(200, &head), generation)
            .is_none()
    );
    let settled = sender.answers(200, &head);
    assert_eq!(settled.len(), 4, "a byte for each field");
    assert!(
        sender
            .encoder
            .cache
            .find(stated(200, &head), generation)
            .is_some()
    );
    assert_eq!(sender.answers(200, &head), settled);

    // Another status, another field order, another flag: other heads.
    let cache = &mut sender.encoder.cache;
    assert!(cache.find(stated(404, &head), generation).is_none());
    assert!(cache.find(stated(0, &head), generation).is_none());
    let mut marked = head.clone();
    marked.mark_sensitive(Token::SERVER);
    assert!(cache.find(stated(200, &marked), generation).is_none());
    // An insertion moves every index: the block is stale.
    sender.answers(200, &section(&[("via", "2 proxy")]));
    let moved = sender.answers(200, &head);
    assert_ne!(moved, settled);
}

#[test]
fn heads_that_never_repeat_are_not_remembered() {
    let mut sender = Sender::new();
    for request in 0..50 {
        let path = format!("/{request}");
        let head = section(&[(":method", "GET"), (":path", &path)]);
        let generation = sender.encoder.table.generation();
        sender.sends(&head);
        assert!(
            sender
                .encoder
                .cache
                .find(stated(0, &head), generation)
                .is_none()
        );
    }
}

#[test]
fn a_peer_that_offers_more_than_4_kib_is_not_taken_at_its_word() {
    let mut sender = Sender::new();
    sender.encoder.set_peer_table_max(1 << 20);
    assert_eq!(sender.sends(&section(&[(":method", "GET")])), [0x82]);
    assert_eq!(sender.encoder.table.bytes_max(), 4096);
}

#[test]
fn a_table_that_its_owner_bounds_is_announced_with_the_first_block_and_does_not_grow() {
    let mut sender = Sender::new();
    sender.encoder = Encoder::with_table_max(100);
    sender.encoder.set_peer_table_max(4096);
    let block = sender.sends(&section(&[(":method", "GET")]));
    assert_eq!(block, [0x3f, 0x45, 0x82]);
    assert_eq!(sender.encoder.table.bytes_max(), 100);
}

#[test]
fn a_smaller_table_is_announced_once_and_evicts() {
    let mut sender = Sender::new();
    let head = section(&[("server", "trunkline")]);
    sender.sends(&head);
    sender.encoder.set_peer_table_max(0);
    sender.decoder.set_table_max(0);
    let block = sender.sends(&head);
    assert_eq!(block[0], 0x20);
    assert_eq!(block[1], 0x0f, "no table, no indexing");
    assert_eq!(sender.entries(), 0);
    assert_ne!(sender.sends(&head)[0], 0x20);
}

#[test]
fn a_table_that_shrank_and_grew_between_blocks_announces_both_sizes() {
    let mut sender = Sender::new();
    let head = section(&[("server", "trunkline")]);
    sender.sends(&head);
    for bytes in [1000, 100, 65_536] {
        sender.encoder.set_peer_table_max(bytes);
        sender.decoder.set_table_max(bytes as usize);
    }
    let block = sender.sends(&section(&[(":method", "GET")]));
    assert_eq!(block, [0x3f, 0x45, 0x3f, 0xe1, 0x1f, 0x82]);
    assert_eq!(sender.sends(&head), [0xbe], "100 bytes kept the entry");
}

#[test]
fn a_size_update_stands_in_front_of_a_remembered_block_too() {
    let mut sender = Sender::new();
    let head = section(&[("server", "trunkline")]);
    sender.sends(&head);
    sender.sends(&head);
    sender.encoder.set_peer_table_max(1000);
    sender.decoder.set_table_max(1000);
    assert_eq!(sender.sends(&head), [0x3f, 0xc9, 0x07, 0xbe]);
    assert_eq!(sender.sends(&head), [0xbe]);
}

#[test]
fn huffman_is_used_only_where_it_is_shorter() {
    let mut sender = Sender::new();
    let block = sender.sends(&section(&[("x", "!!!")]));
    assert_eq!(block, [0x40, 1, b'x', 3, b'!', b'!', b'!']);
    let block = sender.sends(&section(&[("y", "aaaaa")]));
    assert_eq!(block[3], 0x80 | 4);
}

#[test]
fn an_empty_section_is_an_empty_block() {
    let mut sender = Sender::new();
    for _ in 0..3 {
        assert!(sender.sends(&Fields::new()).is_empty());
    }
}

#[test]
fn what_stands_in_the_buffer_stays_and_is_not_remembered() {
    let mut encoder = Encoder::new();
    let head = section(&[(":method", "GET")]);
    let mut out = vec![1, 2, 3];
    encoder.put_section(HeadSection::of(&head), &mut out);
    encoder.put_section(HeadSection::of(&head), &mut out);
    assert_eq!(out, [1, 2, 3, 0x82, 0x82]);
}

#[test]
fn a_response_that_came_with_its_status_is_passed_on_with_one() {
    let fields = section(&[(":status", "404"), ("server", "t")]);
    let received = ResponseHead::received(fields, Version::Http2).unwrap();
    let composed = ResponseHead::new(404, section(&[("server", "t")]), Version::Http2).unwrap();
    for head in [received, composed] {
        let mut block = Vec::new();
        Encoder::new().encode_response(&head, &mut block);
        assert_eq!(block, [0x8d, 0x40 | 54, 1, b't']);
    }
}

#[test]
fn a_request_is_its_pseudo_fields_and_then_the_others_and_repeats_in_a_few_bytes() {
    let fields = section(&[
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "example.com"),
        (":path", "/a?b=c"),
        ("accept", "*/*"),
    ]);
    let head = RequestHead::from_fields(fields, Version::Http2).unwrap();
    let mut encoder = Encoder::new();
    let mut decoder = Decoder::new(4096);
    let mut lengths = Vec::new();
    for _ in 0..3 {
        let mut block = Vec::new();
        encoder.encode_request(&head, &mut block);
        lengths.push(block.len());
        let mut got = Fields::new();
        let decoded = decoder.decode(&block, &Limits::default(), &mut got);
        assert_eq!(decoded, Ok(DecodedBlock::Complete));
        assert_eq!(&got, head.section());
    }
    assert_eq!(lengths[1..], [5, 5]);
    assert!(lengths[0] > 5);
}

#[test]
fn the_cache_forgets_the_oldest_head_and_keeps_no_large_one() {
    let mut sender = Sender::new();
    let heads: Vec<Fields> = ["GET", "POST", "PUT", "HEAD", "DELETE"]
        .iter()
        .map(|method| section(&[(":method", method)]))
        .collect();
    for _ in 0..2 {
        for head in &heads {
            sender.sends(head);
        }
    }
    let generation = sender.encoder.table.generation();
    let cache = &mut sender.encoder.cache;
    let kept: Vec<bool> = heads
        .iter()
        .map(|head| cache.find(HeadSection::of(head), generation).is_some())
        .collect();
    assert_eq!(kept, [false, true, true, true, true]);

    let large = section(&[("user-agent", &"u".repeat(3000))]);
    for _ in 0..2 {
        sender.sends(&large);
        assert!(
            sender
                .encoder
                .cache
                .find(stated(0, &large), generation)
                .is_none()
        );
    }
}
