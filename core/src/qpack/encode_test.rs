use super::{Encoder, INSTRUCTION_BYTES_MAX};
use crate::error::Violation;
use crate::http::{Fields, RequestHead, ResponseHead, StreamId, Token, Version};
use crate::limits::{Limits, QPACK_TABLE_BYTES_MAX};
use crate::qpack::{DecodedSection, Decoder};

/// An encoder, and a decoder that must understand every section of it.
struct Sender {
    encoder: Encoder,
    decoder: Decoder,
    stream: u64,
}

impl Sender {
    fn new(capacity: usize, blocked: usize) -> Self {
        let mut encoder = Encoder::new();
        encoder.set_peer(capacity as u64, blocked as u64);
        Self {
            encoder,
            decoder: Decoder::new(capacity, blocked),
            stream: 0,
        }
    }
    /// The section of `fields`, on a stream of its own.
    fn writes(&mut self, fields: &Fields) -> Vec<u8> {
        self.stream += 4;
        let mut out = Vec::new();
        let stream = StreamId(self.stream);
        self.encoder.encode_trailers(stream, fields, &mut out);
        out
    }
    /// Brings the encoder stream to the decoder and gives what went over.
    fn instructs(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encoder.encoder_stream_bytes(&mut out);
        assert_eq!(self.decoder.handle_encoder_bytes(&out), Ok(()));
        out
    }
    /// Brings the decoder stream to the encoder.
    fn receives(&mut self) {
        let mut out = Vec::new();
        self.decoder.decoder_stream_bytes(&mut out);
        assert_eq!(self.encoder.handle_decoder_bytes(&out), Ok(()));
    }
    fn reads(&mut self, bytes: &[u8], expected: &Fields) {
        let mut got = Fields::new();
        let limits = Limits::default();
        let stream = StreamId(self.stream);
        assert_eq!(
            self.decoder.decode(stream, bytes, &limits, &mut got),
            Ok(DecodedSection::Complete)
        );
        assert_eq!(pairs(&got), pairs(expected));
    }
    /// Writes, instructs and reads; acknowledgements wait.
    fn sends(&mut self, fields: &Fields) -> Vec<u8> {
        let bytes = self.writes(fields);
        self.instructs();
        self.reads(&bytes, fields);
        bytes
    }
}

fn pairs(fields: &Fields) -> Vec<(&[u8], &[u8])> {
    fields
        .iter()
        .map(|field| (field.name, field.value))
        .collect()
}

fn section(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().copied().collect()
}

/// A field that policy always wants in the table.
fn agent(value: &str) -> Fields {
    section(&[("user-agent", value)])
}

#[test]
fn without_settings_only_the_static_table_is_used() {
    let mut sender = Sender {
        encoder: Encoder::new(),
        decoder: Decoder::new(0, 0),
        stream: 0,
    };
    let request = section(&[
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/"),
        (":authority", "a"),
        ("x-b", "c"),
    ]);
    for _ in 0..3 {
        let bytes = sender.sends(&request);
        assert_eq!(
            bytes,
            [
                0, 0, 0xd1, 0xd7, 0xc1, 0x50, 1, b'a', 0x23, b'x', b'-', b'b', 1, b'c'
            ]
            .as_slice(),
        );
    }
    assert!(sender.instructs().is_empty());
}

#[test]
fn the_table_is_capped_whatever_the_peer_offers_and_announced_once() {
    for (offered, used) in [
        (u64::MAX >> 2, QPACK_TABLE_BYTES_MAX),
        (4097, 4096),
        (100, 100),
        (31, 0),
        (0, 0),
    ] {
        let mut encoder = Encoder::new();
        encoder.set_peer(offered, 100);
        assert_eq!(encoder.table.capacity(), used, "{offered}");
        let mut announced = Vec::new();
        encoder.encoder_stream_bytes(&mut announced);
        assert_eq!(announced.is_empty(), used == 0);
        encoder.set_peer(offered, 100);
        announced.clear();
        encoder.encoder_stream_bytes(&mut announced);
        assert!(announced.is_empty());
    }
}

#[test]
fn nothing_is_named_before_it_is_acknowledged_if_no_stream_may_block() {
    let mut sender = Sender::new(4096, 0);
    let fields = agent("trunkline");
    let first = sender.writes(&fields);
    assert_eq!(first[..2], [0, 0], "a literal, readable without the table");
    sender.reads(&first, &fields);
    let again = sender.sends(&fields);
    assert_eq!(again[..2], [0, 0], "sent, but not known to have arrived");
    sender.receives();
    assert_eq!(sender.sends(&fields), [2, 0, 0x80]);
}

#[test]
fn where_streams_may_block_the_first_section_names_what_it_inserts() {
    let mut sender = Sender::new(4096, 1);
    let fields = agent("trunkline");
    assert_eq!(sender.sends(&fields), [2, 0x80, 0x10]);
    // The second stream may not block, as the first is not acknowledged.
    assert_eq!(sender.sends(&fields)[..2], [0, 0]);
    sender.receives();
    assert_eq!(sender.sends(&fields), [2, 0, 0x80]);
}

#[test]
fn no_more_streams_are_put_at_risk_than_the_peer_allows() {
    for allowed in [0, 1, 3, 16, 100] {
        let mut sender = Sender::new(4096, allowed);
        let mut at_risk = 0;
        for number in 0..40 {
            let bytes = sender.writes(&agent(&format!("agent {number}")));
            at_risk += usize::from(bytes[..2] != [0, 0]);
        }
        assert_eq!(at_risk, allowed.min(16));
    }
}

#[test]
fn a_lost_encoder_stream_blocks_only_the_streams_at_risk() {
    let mut sender = Sender::new(4096, 2);
    let limits = Limits::default();
    let mut got = Fields::new();
    let mut blocked = 0;
    for number in 0..10 {
        let fields = agent(&format!("agent {}", number % 3));
        let bytes = sender.writes(&fields);
        let stream = StreamId(sender.stream);
        match sender.decoder.decode(stream, &bytes, &limits, &mut got) {
            Ok(DecodedSection::Complete) => assert_eq!(pairs(&got), pairs(&fields)),
            Ok(DecodedSection::Blocked) => blocked += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(blocked, 2);
    sender.instructs();
    for _ in 0..blocked {
        let unblocked = sender.decoder.poll_unblocked(&limits, &mut got).unwrap();
        assert!(unblocked.is_some());
    }
    sender.receives();
    assert_eq!(sender.encoder.references.known_received(), 3);
}

#[test]
fn an_entry_that_is_named_and_unacknowledged_is_never_evicted() {
    // Room for two entries of this size.
    let mut sender = Sender::new(120, 16);
    let blocked = agent("agent 0");
    let first = sender.writes(&blocked);
    sender.instructs();
    for number in 1..20 {
        let bytes = sender.writes(&agent(&format!("agent {number}")));
        sender.instructs();
        sender.stream += 4;
        let _ = bytes;
        assert!(sender.encoder.table.get(0).is_some());
    }
    sender.stream = 4;
    sender.reads(&first, &blocked);
    sender.receives();
    for number in 20..23 {
        sender.sends(&agent(&format!("agent {number}")));
        sender.receives();
    }
}

#[test]
fn a_cancellation_frees_what_its_stream_named() {
    let mut sender = Sender::new(120, 16);
    sender.writes(&agent("agent 0"));
    sender.writes(&agent("agent 1"));
    sender.instructs();
    sender.writes(&agent("agent 2"));
    assert_eq!(sender.encoder.table.inserted(), 2, "no room");
    sender.decoder.cancel(StreamId(4));
    sender.decoder.cancel(StreamId(8));
    sender.receives();
    sender.writes(&agent("agent 3"));
    assert_eq!(sender.encoder.table.inserted(), 3);
}

#[test]
fn an_entry_about_to_go_is_copied_to_the_front_while_it_is_used() {
    let mut sender = Sender::new(400, 0);
    let used = agent("always the same");
    for number in 0..60 {
        sender.sends(&used);
        sender.receives();
        sender.sends(&section(&[("accept-language", &format!("{number}"))]));
        sender.receives();
    }
    let bytes = sender.sends(&used);
    assert_eq!(bytes.len(), 3, "still named");
    assert!(sender.encoder.table.inserted() > 60, "by copies");
}

#[test]
fn a_head_that_comes_again_is_copied_and_still_counted() {
    let mut sender = Sender::new(4096, 16);
    let fields = section(&[("user-agent", "trunkline"), ("accept", "text/plain")]);
    sender.sends(&fields);
    sender.receives();
    let second = sender.sends(&fields);
    let third = sender.sends(&fields);
    assert_eq!(second, third);
    assert_eq!(sender.encoder.references.evictable_below(), 0, "both count");
    sender.receives();
    assert_eq!(sender.encoder.references.evictable_below(), 2);
}

#[test]
fn secrets_are_never_indexed() {
    let mut sender = Sender::new(4096, 16);
    let mut fields = section(&[
        ("authorization", "Basic Zm9vOmJhcg=="),
        ("set-cookie", "session=0123456789abcdef0123456789abcdef"),
        ("cookie", "0123456789012345678"),
        ("x-key", "secret"),
        (":path", "/"),
    ]);
    fields.mark_sensitive(Token::PATH);
    for _ in 0..3 {
        let bytes = sender.writes(&fields);
        sender.instructs();
        let mut got = Fields::new();
        let stream = StreamId(sender.stream);
        let decoded = sender
            .decoder
            .decode(stream, &bytes, &Limits::default(), &mut got);
        assert_eq!(decoded, Ok(DecodedSection::Complete));
        let flags: Vec<bool> = got.iter().map(|field| field.sensitive).collect();
        assert_eq!(flags, [true, true, true, false, true]);
        sender.receives();
    }
    assert_eq!(sender.encoder.table.inserted(), 1, "x-key alone");
}

#[test]
fn heads_are_sections_with_their_pseudo_fields_in_front() {
    let mut sender = Sender::new(0, 0);
    let request = section(&[
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "a"),
        (":path", "/"),
    ]);
    let head = RequestHead::from_fields(request.clone(), Version::Http3).unwrap();
    let mut out = Vec::new();
    sender.encoder.encode_request(StreamId(0), &head, &mut out);
    sender.reads(&out, &request);
    for status in [200, 404, 418] {
        let fields = section(&[("server", "t")]);
        let head = ResponseHead::new(status, fields, Version::Http3).unwrap();
        out.clear();
        sender.encoder.encode_response(StreamId(0), &head, &mut out);
        let expected = section(&[(":status", &status.to_string()), ("server", "t")]);
        sender.reads(&out, &expected);
    }
}

#[test]
fn feedback_for_what_was_not_sent_is_a_connection_error() {
    let invalid = Err(Violation::QpackDecoderStreamInvalid);
    for bytes in [
        // An acknowledgement without a section, increments of zero and of two, endless numbers.
        &[0x84][..],
        &[0x00],
        &[0x02],
        &[0xff; 12],
    ] {
        let mut sender = Sender::new(4096, 0);
        sender.sends(&agent("trunkline"));
        assert_eq!(sender.encoder.handle_decoder_bytes(bytes), invalid);
    }
    let mut sender = Sender::new(4096, 0);
    sender.sends(&agent("trunkline"));
    // Cancellation of an unknown stream, the one increment that is right, and one more.
    assert_eq!(sender.encoder.handle_decoder_bytes(&[0x48, 0x01]), Ok(()));
    assert_eq!(sender.encoder.handle_decoder_bytes(&[0x01]), invalid);
}

#[test]
fn a_section_without_references_is_not_waited_for() {
    let mut sender = Sender::new(4096, 0);
    sender.sends(&section(&[(":method", "GET")]));
    sender.receives();
    assert_eq!(
        sender.encoder.handle_decoder_bytes(&[0x84]),
        Err(Violation::QpackDecoderStreamInvalid)
    );
}

#[test]
fn a_peer_that_never_acknowledges_and_takes_no_instructions_costs_bounded_memory() {
    let mut encoder = Encoder::new();
    encoder.set_peer(1 << 20, 100);
    let mut out = Vec::new();
    for number in 0..5000 {
        out.clear();
        let fields = agent(&format!("agent {number} {}", "x".repeat(number % 500)));
        encoder.encode_trailers(StreamId(number as u64 * 4), &fields, &mut out);
    }
    assert!(encoder.instructions.len() <= INSTRUCTION_BYTES_MAX);
    assert!(encoder.table.size() <= QPACK_TABLE_BYTES_MAX);
    let mut acknowledged = Encoder::new();
    acknowledged.set_peer(4096, 0);
    let fields = agent("trunkline");
    acknowledged.encode_trailers(StreamId(0), &fields, &mut out);
    acknowledged.handle_decoder_bytes(&[1]).unwrap();
    for stream in 1..1000 {
        acknowledged.encode_trailers(StreamId(stream), &fields, &mut out);
    }
    assert!(!acknowledged.references.has_room());
    out.clear();
    acknowledged.encode_trailers(StreamId(1000), &fields, &mut out);
    assert_eq!(out[..2], [0, 0], "goes on without the table");
}
