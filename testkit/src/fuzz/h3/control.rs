//! Control frames of HTTP/3 over both sides' machines. The wire is records: a byte with the frame's type,
//! one with its stream, a length, and that many bytes of payload. The first control byte is the length of
//! the pieces in a second run, which must end in the same way; an odd one leaves the peer's SETTINGS to
//! the records.

use super::sent::Terms;
use super::streams::WireStreams;
use crate::fuzz::Input;
use crate::fuzz::application::Application;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::error::{Closed, H3Code};
use trunkline_core::h3::Conn;
use trunkline_core::h3::frame::{kind, put_frame};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::limits::{CONCURRENT_STREAMS_MAX, Config};

/// Requests that a client may open.
const REQUESTS: u64 = 8;
/// Places of request streams in a record; place 0 is the control stream, those above are other
/// unidirectional streams, which begin with their type.
const REQUEST_PLACES: u64 = 24;
/// Events behind one record, beside one per stream: what the frame says, and the end of the connection.
const EVENTS_SLACK: usize = 8;

/// RFC 9412.
const ORIGIN: u64 = 0xc;
/// PRIORITY and PING of HTTP/2, which must not come (RFC 9114 section 7.2.8).
const OF_HTTP_2: [u64; 2] = [0x2, 0x6];

/// The types of frames that a record can name; above them is what else happens.
const KINDS: [u64; 13] = [
    kind::SETTINGS,
    kind::GOAWAY,
    kind::MAX_PUSH_ID,
    kind::CANCEL_PUSH,
    kind::PRIORITY_UPDATE_REQUEST,
    kind::PRIORITY_UPDATE_PUSH,
    kind::PUSH_PROMISE,
    ORIGIN,
    kind::RESERVED,
    OF_HTTP_2[0],
    OF_HTTP_2[1],
    kind::HEADERS,
    kind::DATA,
];

/// `GET https://a/` and `:status: 200`, of the static table (RFC 9204 appendix A).
const GET: &[u8] = b"\0\0\xd1\xd7\xc1\x50\x01a";
const OK: &[u8] = b"\0\0\xd9";

/// Both sides, fed with control frames.
pub fn h3_control(data: &[u8]) {
    let mut input = Input::new(data);
    let choice = input.choice();
    let most = usize::from(choice).max(1);
    for side in [Side::Server, Side::Client] {
        let run = |most| Run::new(side, most, choice & 1 == 0).all(input.wire);
        assert_eq!(
            run(usize::MAX),
            run(most),
            "{side:?}: cut after each {most} bytes"
        );
    }
}

/// Whether a connection may end with this code because of a frame of this type: RFC 9114 sections 4.1,
/// 5.2, 6.2.1 and 7.2, RFC 9218 section 7.2, RFC 9204 section 6, and RFC 9114 section 10.5 for what comes
/// too often.
fn is_legal(kind: u64, code: H3Code) -> bool {
    match code {
        H3Code::EXCESSIVE_LOAD => true,
        // The first frame of a control stream, and one that the stream or the side must not have.
        H3Code::MISSING_SETTINGS => kind != kind::SETTINGS,
        H3Code::FRAME_UNEXPECTED => kind != kind::RESERVED && kind != ORIGIN,
        H3Code::FRAME_ERROR => !OF_HTTP_2.contains(&kind) && kind != kind::RESERVED,
        H3Code::SETTINGS_ERROR => kind == kind::SETTINGS,
        H3Code::ID_ERROR => matches!(
            kind,
            kind::GOAWAY
                | kind::MAX_PUSH_ID
                | kind::CANCEL_PUSH
                | kind::PUSH_PROMISE
                | kind::PRIORITY_UPDATE_REQUEST
                | kind::PRIORITY_UPDATE_PUSH
        ),
        H3Code::QPACK_DECOMPRESSION_FAILED => {
            matches!(kind, kind::HEADERS | kind::PUSH_PROMISE)
        }
        _ => false,
    }
}

/// One record of the wire.
struct Record<'a> {
    op: u8,
    place: u64,
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    fn take(wire: &mut &'a [u8]) -> Option<Self> {
        let (&[op, place, len], rest) = wire.split_first_chunk::<3>()?;
        let (bytes, rest) = rest.split_at(usize::from(len).min(rest.len()));
        *wire = rest;
        let place = u64::from(place);
        Some(Self { op, place, bytes })
    }
    /// The type of its frame; `None`: the stream ends, or something happens at this end.
    fn kind(&self) -> Option<u64> {
        KINDS.get(usize::from(self.op & 15)).copied()
    }
    /// Whether its stream is the control stream or one of a request, which have frames.
    fn has_frames(&self) -> bool {
        self.place <= REQUEST_PLACES
    }
    fn frame(&self, kind: u64, side: Side) -> Vec<u8> {
        let payload = match (kind, side) {
            (kind::HEADERS, Side::Server) if self.bytes.is_empty() => GET,
            (kind::HEADERS, Side::Client) if self.bytes.is_empty() => OK,
            _ => self.bytes,
        };
        let mut frame = Vec::new();
        put_frame(kind, payload, &mut frame);
        frame
    }
}

struct Run {
    user: Application<Conn>,
    wire_streams: WireStreams,
    side: Side,
    /// Bytes that arrive at once.
    most: usize,
}

impl Run {
    fn new(side: Side, most: usize, is_settled: bool) -> Self {
        let now = Instant::now();
        let terms = Terms {
            table_bytes_max: 0,
            blocked_streams_max: 0,
        };
        let conn = Conn::new(side, Arc::new(Config::default()), now);
        let mut run = Self {
            user: Application::new(conn, side, now),
            wire_streams: WireStreams::new(side, is_settled.then_some(terms)),
            side,
            most,
        };
        run.user.conn.handle_handshake_done(now);
        if side == Side::Client {
            run.user.conn.handle_streams_available(now, REQUESTS);
        }
        // The type of a control stream, and empty SETTINGS.
        let control: &[u8] = if is_settled { &[0, 4, 0] } else { &[0] };
        let stream = run.uni(0);
        run.wire_streams.peer_sends(stream, control, false);
        run.settle(0);
        run
    }
    /// The peer's unidirectional stream with this number.
    fn uni(&self, number: u64) -> StreamId {
        StreamId(number * 4 + if self.side == Side::Server { 2 } else { 3 })
    }
    fn stream(&self, record: &Record<'_>) -> StreamId {
        match record.place {
            0 => self.uni(0),
            place if place <= REQUEST_PLACES => StreamId((place - 1) * 4),
            place => self.uni(place % 8 + 1),
        }
    }
    /// How the connection ended.
    fn all(mut self, mut wire: &[u8]) -> Option<Closed> {
        while let Some(record) = Record::take(&mut wire) {
            if self.user.conn.is_closed() || self.user.closed.is_some() {
                break;
            }
            let stream = self.stream(&record);
            let kind = record.kind();
            let (conn, now) = (&mut self.user.conn, self.user.now);
            match (kind, record.op & 15) {
                (Some(kind), _) if record.has_frames() => {
                    let frame = record.frame(kind, self.side);
                    self.wire_streams.peer_sends(stream, &frame, false);
                }
                (Some(_), _) => self.wire_streams.peer_sends(stream, record.bytes, false),
                (None, 13) => self.wire_streams.peer_sends(stream, record.bytes, true),
                // A reset behind the end counts or does not, by whether the end was taken before (RFC 9000
                // section 3.2), and that differs with the pieces: a section of fields that waits for its
                // table holds back what comes in pieces behind it.
                (None, 14) if self.wire_streams.has_ended(stream) => {}
                (None, 14) => {
                    let code = H3Code::REQUEST_CANCELLED;
                    self.wire_streams.resets(conn, now, stream, code);
                }
                _ if record.place == 0 => conn.shut_down(now),
                _ => self.user.pass_time(),
            }
            self.settle(record.op);
            if let Some(Closed::ByUs(violation)) = self.user.closed
                && let Some(kind) = kind
                && record.has_frames()
            {
                let code = violation.h3_code();
                assert!(
                    is_legal(kind, code),
                    "{violation:?} ({code:?}) of a frame of type {kind:#x}"
                );
            }
        }
        if let Some(Closed::ByUs(violation)) = self.user.closed {
            assert_eq!(self.wire_streams.closed, Some(violation.h3_code()));
        }
        self.user.closed
    }
    /// Delivers and answers the input so far, and checks that the machine holds no more than its limits.
    fn settle(&mut self, choice: u8) {
        let mut events = 0;
        loop {
            let (conn, now) = (&mut self.user.conn, self.user.now);
            self.wire_streams.run(conn, now, self.most);
            self.user.open_some(choice);
            let count = self.user.answer(choice);
            events += count;
            self.user.consume_all();
            if count == 0 {
                break;
            }
        }
        let (conn, now) = (&mut self.user.conn, self.user.now);
        self.wire_streams.run(conn, now, self.most);
        assert!(
            events <= EVENTS_SLACK + 3 * CONCURRENT_STREAMS_MAX as usize,
            "{events} events behind one record"
        );
        assert!(self.user.conn.active() <= CONCURRENT_STREAMS_MAX);
    }
}
