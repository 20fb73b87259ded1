use super::*;
use crate::hpack::Encoder;
use crate::http::trace::text_of;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let header = FrameHeader::new(kind, stream, payload.len());
    header.with(flags, true).write(&mut out);
    out.extend_from_slice(payload);
    out
}

fn block(encoder: &mut Encoder, value: &[u8]) -> Vec<u8> {
    let (mut fields, mut out) = (Fields::new(), Vec::new());
    fields.push_named(b"x-name", value);
    encoder.encode_trailers(&fields, &mut out);
    out
}

/// The events of `bytes`, the same whole and split at every byte.
fn read(side: Side, direction: Direction, bytes: &[u8]) -> Vec<String> {
    let read = |pieces: &[&[u8]]| {
        let (mut trace, mut events) = (Http2Trace::new(side), Vec::new());
        for piece in pieces {
            trace.read(direction, piece, &mut |event| events.push(text_of(event)));
        }
        events
    };
    let whole = read(&[bytes]);
    for at in 0..=bytes.len() {
        assert_eq!(read(&[&bytes[..at], &bytes[at..]]), whole, "split at {at}");
    }
    whole
}

#[test]
fn frames_of_an_exchange_are_described_with_their_fields() {
    let mut encoder = Encoder::new();
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(
        kind::SETTINGS,
        0,
        0,
        &[0, 4, 0, 1, 0, 0, 0, 3, 0, 0, 0, 100],
    ));
    bytes.extend(frame(
        kind::HEADERS,
        flag::END_HEADERS,
        1,
        &block(&mut encoder, b"a"),
    ));
    bytes.extend(frame(kind::DATA, flag::END_STREAM, 1, b"body"));
    // The second time it is an entry of the table.
    bytes.extend(frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        3,
        &block(&mut encoder, b"a"),
    ));
    assert_eq!(
        read(Side::Server, Direction::Received, &bytes),
        [
            "Received 0 12: Settings { ack: false, values: [(4, 65536), (3, 100)] }",
            "Received 1 9: HEADERS x-name=a",
            "Received 1 4: Data end",
            "Received 3 1: HEADERS x-name=a end",
        ]
    );
}

#[test]
fn padding_and_priority_are_no_part_of_a_section() {
    let section = block(&mut Encoder::new(), b"a");
    let mut payload = vec![2, 0, 0, 0, 0, 16];
    payload.extend_from_slice(&section);
    payload.extend_from_slice(&[0, 0]);
    let flags = flag::END_HEADERS | flag::PADDED | flag::PRIORITY;
    let bytes = frame(kind::HEADERS, flags, 1, &payload);
    let texts = read(Side::Server, Direction::Sent, &bytes);
    assert_eq!(
        texts,
        [format!("Sent 1 {}: HEADERS x-name=a", payload.len())]
    );
}

#[test]
fn a_section_in_two_frames_has_its_fields_at_its_end() {
    let section = block(&mut Encoder::new(), b"a");
    let (start, rest) = section.split_at(3);
    let mut bytes = frame(kind::HEADERS, flag::END_STREAM, 1, start);
    bytes.extend(frame(kind::CONTINUATION, flag::END_HEADERS, 1, rest));
    assert_eq!(
        read(Side::Server, Direction::Sent, &bytes),
        [
            "Sent 1 3: Headers(None) end",
            "Sent 1 6: CONTINUATION x-name=a"
        ]
    );
}

#[test]
fn frames_of_the_connection_are_described_with_their_numbers() {
    let mut bytes = frame(kind::SETTINGS, flag::ACK, 0, &[]);
    bytes.extend(frame(kind::WINDOW_UPDATE, 0, 0, &[0x80, 0, 0, 5]));
    bytes.extend(frame(kind::PING, flag::ACK, 0, &[7; 8]));
    bytes.extend(frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 8]));
    bytes.extend(frame(kind::PRIORITY_UPDATE, 0, 0, b"\0\0\0\x03u=1"));
    bytes.extend(frame(0xbb, 0, 9, b"?"));
    bytes.extend(frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 2, b'x']));
    assert_eq!(
        read(Side::Client, Direction::Received, &bytes),
        [
            "Received 0 0: Settings { ack: true, values: [] }",
            "Received 0 4: WindowUpdate { increment: 5 }",
            "Received 0 8: Ping { ack: true }",
            "Received 3 4: ResetStream { code: 8 }",
            "Received 0 7: PriorityUpdate { id: 3, value: [117, 61, 49] }",
            "Received 9 1: Unknown { kind: 187 }",
            "Received 0 9: Goaway { id: 3, code: Some(2) }",
        ]
    );
}

#[test]
fn behind_a_section_that_cannot_be_read_others_have_no_fields() {
    let mut bytes = frame(kind::HEADERS, flag::END_HEADERS, 1, &[0xff; 12]);
    bytes.extend(frame(
        kind::HEADERS,
        flag::END_HEADERS,
        3,
        &block(&mut Encoder::new(), b"a"),
    ));
    assert_eq!(
        read(Side::Client, Direction::Received, &bytes),
        [
            "Received 1 12: Headers(None)",
            "Received 3 9: Headers(None)"
        ]
    );
}

#[test]
fn a_section_that_never_ends_is_held_up_to_its_bound() {
    let mut trace = Http2Trace::new(Side::Server);
    trace.received.preface = 0;
    let part = vec![0; 1 << 14];
    let mut events = 0;
    trace.read(
        Direction::Received,
        &frame(kind::HEADERS, 0, 1, &part),
        &mut |_| events += 1,
    );
    for _ in 0..64 {
        trace.read(
            Direction::Received,
            &frame(kind::CONTINUATION, 0, 1, &part),
            &mut |_| events += 1,
        );
    }
    assert_eq!(events, 65);
    assert!(trace.received.block.len() < TRACED_BYTES_MAX + part.len());
    // One frame of the largest size.
    let large = vec![0; TRACED_BYTES_MAX * 4];
    let header = FrameHeader::new(kind::PING, 0, large.len()).bytes();
    trace.read(Direction::Received, &header, &mut |_| {});
    for piece in large.chunks(1 << 14) {
        trace.read(Direction::Received, piece, &mut |_| {});
        assert!(trace.received.payload.len() < TRACED_BYTES_MAX + (1 << 14));
    }
}
