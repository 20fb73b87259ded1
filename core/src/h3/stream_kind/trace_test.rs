use super::*;
use crate::h3::frame::put_frame;
use crate::http::trace::text_of;
use crate::qpack::Encoder;

#[derive(Default)]
struct Log {
    trace: Http3Trace,
    texts: Vec<String>,
}

impl Log {
    fn read(&mut self, direction: Direction, stream: u64, bytes: &[u8]) {
        let texts = &mut self.texts;
        let sink = &mut |event: TraceEvent<'_>| texts.push(text_of(event));
        self.trace
            .read(direction, StreamId(stream), bytes, false, sink);
    }
}

fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_frame(kind, payload, &mut out);
    out
}

/// The control stream's start with these settings.
fn settings(pairs: &[(u64, u64)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for &(id, value) in pairs {
        varint::put(id, &mut payload);
        varint::put(value, &mut payload);
    }
    let mut out = vec![wire::CONTROL as u8];
    put_frame(kind::SETTINGS, &payload, &mut out);
    out
}

fn section(encoder: &mut Encoder, stream: u64, value: &[u8]) -> Vec<u8> {
    let (mut fields, mut out) = (Fields::new(), Vec::new());
    fields.push_named(b"x-name", value);
    encoder.encode_trailers(StreamId(stream), &fields, &mut out);
    frame(kind::HEADERS, &out)
}

#[test]
fn frames_are_described_the_same_however_their_bytes_are_cut() {
    let mut encoder = Encoder::new();
    let mut request = section(&mut encoder, 0, b"a");
    request.extend(frame(kind::DATA, b"body"));
    request.extend(frame(0x21 + 0x1f, b""));
    request.extend(frame(0x4040, b"?"));
    let mut control = settings(&[(1, 0), (6, 9000)]);
    control.extend(frame(kind::GOAWAY, &[4]));
    control.extend(frame(kind::PRIORITY_UPDATE_REQUEST, b"\x00u=1"));
    let expected = [
        "Sent 2 is of type 0",
        "Sent 2 5: Settings { ack: false, values: [(1, 0), (6, 9000)] }",
        "Sent 2 1: Goaway { id: 4, code: None }",
        "Sent 2 4: PriorityUpdate { id: 0, value: [117, 61, 49] }",
        "Sent 0 10: HEADERS x-name=a",
        "Sent 0 4: Data",
        "Sent 0 0: Reserved",
        "Sent 0 1: Unknown { kind: 16448 }",
    ];
    for at in 0..=request.len().max(control.len()) {
        let mut log = Log::default();
        for (stream, bytes) in [(2, &control), (0, &request)] {
            let (first, rest) = bytes.split_at(at.min(bytes.len()));
            log.read(Direction::Sent, stream, first);
            log.read(Direction::Sent, stream, rest);
        }
        assert_eq!(log.texts, expected, "split at {at}");
    }
}

#[test]
fn a_section_before_its_insertions_is_described_behind_them() {
    let mut log = Log::default();
    // The peer gives our table room, and lets two streams wait for it.
    let mut encoder = Encoder::new();
    encoder.set_peer(4096, 2);
    log.read(Direction::Received, 3, &settings(&[(1, 4096), (7, 2)]));
    log.texts.clear();
    let mut insertions = vec![wire::QPACK_ENCODER as u8];
    // A field that comes for the second time enters the table.
    let sections: Vec<_> = (0..4)
        .map(|n| section(&mut encoder, n * 4, b"value"))
        .collect();
    encoder.encoder_stream_bytes(&mut insertions);
    assert!(insertions.len() > 1, "the table is used");
    for (stream, section) in (0..).step_by(4).zip(&sections) {
        log.read(Direction::Sent, stream, section);
    }
    let before = log.texts.len();
    assert!(before < 4, "some wait: {:?}", log.texts);
    log.read(Direction::Sent, 6, &insertions);
    assert_eq!(log.texts.remove(before), "Sent 6 is of type 2");
    assert_eq!(log.texts.len(), 4);
    assert!(
        log.texts
            .iter()
            .all(|text| text.ends_with("HEADERS x-name=value"))
    );
}

#[test]
fn a_section_that_cannot_be_read_is_described_without_fields() {
    let mut log = Log::default();
    log.read(Direction::Received, 0, &frame(kind::HEADERS, &[0xff; 9]));
    assert_eq!(log.texts, ["Received 0 9: Headers(None)"]);
}

#[test]
fn streams_and_payloads_are_held_up_to_their_bounds() {
    let mut log = Log::default();
    for n in 0..STREAMS_MAX as u64 * 2 {
        log.read(Direction::Received, n * 4, &[0x1]);
        log.read(Direction::Received, n * 4 + 2, &[0x40]);
    }
    assert!(log.trace.requests.len() <= STREAMS_MAX);
    assert!(log.trace.unis.len() <= STREAMS_MAX);
    let long = TRACED_BYTES_MAX * 4;
    let mut header = Vec::new();
    varint::put(kind::SETTINGS, &mut header);
    varint::put(long as u64, &mut header);
    log.read(Direction::Received, 1 << 20, &header);
    for piece in vec![0; long].chunks(1 << 14) {
        log.read(Direction::Received, 1 << 20, piece);
        let held = log
            .trace
            .requests
            .values()
            .map(|reader| reader.payload.len());
        assert!(held.sum::<usize>() <= TRACED_BYTES_MAX);
    }
}
