//! Control frames of HTTP/2 over both sides' machines. The wire is records: a byte with the frame's type
//! and flags, one with its stream, a length, and that many bytes of payload. The first control byte is
//! the length of the pieces in a second run, which must end in the same way.

use crate::fuzz::Input;
use crate::fuzz::application::Application;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::error::{Closed, H2Code};
use trunkline_core::h2::Conn;
use trunkline_core::h2::frame::{FRAME_HEADER_BYTES, FrameHeader, STREAM_ID_MAX, kind};
use trunkline_core::http::Side;
use trunkline_core::limits::{CONCURRENT_STREAMS_MAX, Config, OUTBOX_BYTES_MAX};

/// The most that the outbox may hold behind one record, bytes: its limit, the output of one call, and the
/// answer to one frame.
const OUTBOX_SLACK_BYTES: usize = 1024 * 1024;

/// Events behind one record, beside one per stream: what the frame says, and the end of the connection.
const EVENTS_SLACK: usize = 8;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
/// `GET https://a/` in names and values that need no table (RFC 7541 appendix A).
const GET: &[u8] = &[0x82, 0x87, 0x84, 0x41, 1, b'a'];
/// `:status: 200`.
const OK: &[u8] = &[0x88];

const UNKNOWN: u8 = 0x5f;
/// The types of frames that a record can name; above them are what this end does.
const KINDS: [u8; 14] = [
    kind::SETTINGS,
    kind::PING,
    kind::GOAWAY,
    kind::WINDOW_UPDATE,
    kind::RST_STREAM,
    kind::PRIORITY,
    kind::PRIORITY_UPDATE,
    kind::ALTSVC,
    kind::ORIGIN,
    kind::PUSH_PROMISE,
    kind::HEADERS,
    kind::DATA,
    kind::CONTINUATION,
    UNKNOWN,
];

/// Both sides, fed with control frames.
pub fn h2_control(data: &[u8]) {
    let mut input = Input::new(data);
    let most = usize::from(input.choice()).max(1);
    for side in [Side::Server, Side::Client] {
        let whole = Run::new(side, usize::MAX).all(input.wire);
        let cut = Run::new(side, most).all(input.wire);
        assert_eq!(whole, cut, "{side:?}: cut after each {most} bytes");
    }
}

/// Whether a connection may end with this code because of a frame of this type: RFC 9113 sections 4.2, 5.1,
/// 6 and 6.10, RFC 9218 section 7.1, and section 10.5 for what comes too often.
fn is_legal(kind: u8, code: H2Code) -> bool {
    match code {
        H2Code::PROTOCOL_ERROR | H2Code::ENHANCE_YOUR_CALM => true,
        H2Code::FRAME_SIZE_ERROR => kind != UNKNOWN,
        H2Code::FLOW_CONTROL_ERROR => {
            matches!(kind, kind::SETTINGS | kind::WINDOW_UPDATE | kind::DATA)
        }
        H2Code::STREAM_CLOSED => matches!(
            kind,
            kind::HEADERS | kind::DATA | kind::WINDOW_UPDATE | kind::RST_STREAM
        ),
        H2Code::COMPRESSION_ERROR => {
            matches!(
                kind,
                kind::HEADERS | kind::CONTINUATION | kind::PUSH_PROMISE
            )
        }
        _ => false,
    }
}

/// One record of the wire.
struct Record<'a> {
    op: u8,
    place: u8,
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    fn take(wire: &mut &'a [u8]) -> Option<Self> {
        let (&[op, place, len], rest) = wire.split_first_chunk::<3>()?;
        let (bytes, rest) = rest.split_at(usize::from(len).min(rest.len()));
        *wire = rest;
        Some(Self { op, place, bytes })
    }
    /// Stream ids from 0 on, and the highest.
    fn stream(&self) -> u32 {
        match self.place {
            255 => STREAM_ID_MAX,
            place => u32::from(place),
        }
    }
    fn flags(&self) -> u8 {
        (self.op >> 4 & 1) | (self.op >> 3 & 4) | (self.op >> 3 & 8)
    }
    /// The type of its frame; `None`: it is something that this end does.
    fn kind(&self) -> Option<u8> {
        KINDS.get(usize::from(self.op & 15)).copied()
    }
    fn frame(&self, kind: u8, side: Side) -> Vec<u8> {
        let payload = match (kind, side) {
            (kind::HEADERS, Side::Server) if self.bytes.is_empty() => GET,
            (kind::HEADERS, Side::Client) if self.bytes.is_empty() => OK,
            _ => self.bytes,
        };
        let header = FrameHeader {
            len: payload.len() as u32,
            kind,
            flags: self.flags(),
            stream: self.stream(),
        };
        let mut frame = Vec::new();
        header.write(&mut frame);
        frame.extend_from_slice(payload);
        frame
    }
}

struct Run {
    user: Application<Conn>,
    side: Side,
    /// Bytes that arrive at once.
    most: usize,
    written: Vec<u8>,
    /// The code of the GOAWAY that ended the connection.
    error: Option<H2Code>,
}

impl Run {
    fn new(side: Side, most: usize) -> Self {
        let now = Instant::now();
        let config = Config::default().with_frame_events(true);
        let conn = Conn::new(side, Arc::new(config), now);
        let mut run = Self {
            user: Application::new(conn, side, now),
            side,
            most,
            written: Vec::new(),
            error: None,
        };
        if side == Side::Server {
            run.feed(PREFACE);
        }
        run.feed(SETTINGS);
        run.user.open_some(0);
        run.write();
        if side == Side::Client {
            assert!(run.written.starts_with(PREFACE), "no client preface");
            run.written.drain(..PREFACE.len());
        }
        run.check_frames();
        run
    }
    /// How the connection ended.
    fn all(mut self, mut wire: &[u8]) -> Option<Closed> {
        while let Some(record) = Record::take(&mut wire) {
            if self.user.conn.is_closed() || self.user.closed.is_some() {
                break;
            }
            if !self.user.conn.wants_read() {
                self.write();
                self.user.consume_all();
            }
            let kind = record.kind();
            match (kind, record.place) {
                (Some(kind), _) => self.feed(&record.frame(kind, self.side)),
                (None, 0) => self.user.conn.shut_down(self.user.now),
                (None, 1) => self.user.consume_all(),
                (None, _) => self.user.pass_time(),
            }
            self.settle(record.place);
            if let Some(Closed::ByUs(violation)) = self.user.closed
                && let Some(kind) = kind
            {
                let code = violation.h2_code();
                assert!(
                    is_legal(kind, code),
                    "{violation:?} ({code:?}) of a frame of type {kind:#x}"
                );
            }
            // The peer reads what was written, unless the record says otherwise.
            if record.op & 0x80 == 0 {
                self.write();
                self.check_frames();
            }
        }
        self.write();
        self.check_frames();
        match self.user.closed {
            Some(Closed::ByUs(violation)) => assert_eq!(self.error, Some(violation.h2_code())),
            _ => assert_eq!(self.error, None, "a GOAWAY with an error and no violation"),
        }
        self.user.closed
    }
    fn feed(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(self.most) {
            self.user.conn.handle_bytes(self.user.now, piece);
        }
    }
    /// The application answers; what the machine holds stays within its limits.
    fn settle(&mut self, choice: u8) {
        let events = self.user.answer(choice);
        assert!(
            events <= EVENTS_SLACK + 2 * CONCURRENT_STREAMS_MAX as usize,
            "{events} events behind one record"
        );
        self.user.open_some(choice);
        let waiting = self.user.conn.poll_write(self.user.now).len();
        assert!(
            waiting <= OUTBOX_BYTES_MAX + OUTBOX_SLACK_BYTES,
            "{waiting} bytes wait"
        );
        assert!(self.user.conn.active() <= CONCURRENT_STREAMS_MAX);
    }
    fn write(&mut self) {
        let outbox = self.user.conn.poll_write(self.user.now);
        while !outbox.is_empty() {
            let mut slices = [IoSlice::new(&[]); 64];
            let filled = outbox.slices(&mut slices, usize::MAX);
            let mut len = 0;
            for slice in &slices[..filled] {
                self.written.extend_from_slice(slice);
                len += slice.len();
            }
            outbox.advance(len);
        }
    }
    /// Frames go out whole, and none behind a GOAWAY with an error.
    fn check_frames(&mut self) {
        let mut done = 0;
        while let Some((head, behind)) =
            self.written[done..].split_first_chunk::<FRAME_HEADER_BYTES>()
        {
            let header = FrameHeader::parse(head);
            let len = header.len as usize;
            if behind.len() < len {
                break;
            }
            assert_eq!(self.error, None, "{header:?} behind the end");
            if header.kind == kind::GOAWAY {
                let code: [u8; 4] = behind[4..8].try_into().expect("four bytes");
                let code = H2Code(u32::from_be_bytes(code));
                assert!(code.0 <= H2Code::HTTP_1_1_REQUIRED.0, "{code:?}");
                self.error = (code != H2Code::NO_ERROR).then_some(code);
            }
            done += FRAME_HEADER_BYTES + len;
        }
        self.written.drain(..done);
        if self.user.conn.is_closed() {
            assert!(self.written.is_empty(), "a frame was cut");
        }
    }
}
