//! The client machine as a session of `node:http2` drives it: the calls of its user, in any order and
//! on any stream, between any two pieces of the peer's bytes.
//!
//! The input is a sequence of steps: a byte that names the step, and the bytes of its arguments.

use super::application::pass_deadline;
use super::written::WrittenFrames;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::{H2Code, TransportEnd};
use trunkline_core::h2::Conn;
use trunkline_core::h2::frame::{FrameHeader, Setting};
use trunkline_core::http::{Event, Fields, RequestHead, Side, StreamId, Token, Version};
use trunkline_core::limits::{Config, Limits, Timeouts, Windows};

/// Streams of one run, so that an input of 64 KiB holds no gigabyte of bodies.
const STREAMS_MAX: usize = 64;
/// Steps of one run.
const STEPS_MAX: usize = 2_000;

/// The state of one stream by the calls and the events.
#[derive(Default)]
struct StreamState {
    /// The final response's head was reported.
    answered: bool,
    /// The end of the response was reported.
    received: bool,
    /// Trailers were reported.
    trailers: bool,
    /// `StreamReset` was reported.
    reset: bool,
    /// The user has reset it: what was queued before is still reported.
    given_up: bool,
    /// Bytes of its body that the user has not read.
    unread: usize,
}

/// A session of `node:http2` with arbitrary calls between arbitrary bytes of the server's.
pub fn h2_session(data: &[u8]) {
    let mut run = Run::new();
    let mut steps = Steps(data);
    for _ in 0..STEPS_MAX {
        let Some(step) = steps.next_byte() else {
            break;
        };
        if !run.step(step, &mut steps) {
            return;
        }
        run.read_events();
        if run.closed {
            break;
        }
    }
    run.finish(data.first().copied().unwrap_or(0));
}

/// The rest of the input.
struct Steps<'a>(&'a [u8]);

impl<'a> Steps<'a> {
    fn next_byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }
    /// The next argument; behind the end it is 0.
    fn byte(&mut self) -> u8 {
        self.next_byte().unwrap_or(0)
    }
    /// As many bytes as the next one says, or as there are.
    fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }
    /// A number of 32 bits: small, of any size, or at the ends of the ranges.
    fn number(&mut self) -> u32 {
        let value = u32::from(self.byte());
        match self.byte() % 6 {
            0 => value,
            1 => value << 8,
            2 => value << 16,
            3 => value << 24,
            4 => 0x7fff_ffff - value,
            _ => u32::MAX - value,
        }
    }
}

struct Run {
    conn: Conn,
    now: Instant,
    written: WrittenFrames,
    exchanges: BTreeMap<StreamId, StreamState>,
    closed: bool,
}

impl Run {
    fn new() -> Self {
        let now = Instant::now();
        let mut run = Self {
            conn: Conn::new(Side::Client, config(), now),
            now,
            written: WrittenFrames::of_client(),
            exchanges: BTreeMap::new(),
            closed: false,
        };
        run.feed(b"\0\0\0\x04\0\0\0\0\0");
        run.read_events();
        run
    }

    /// One step; false: the user has ended the session.
    fn step(&mut self, step: u8, steps: &mut Steps<'_>) -> bool {
        let now = self.now;
        match step % 16 {
            0 => self.feed(steps.bytes()),
            1 => self.frame(steps),
            2 => {
                let most = usize::from(steps.byte()) * 64;
                self.write(if most == 0 { usize::MAX } else { most });
            }
            3 => self.request(steps.byte()),
            4 => {
                let (stream, length) = (self.stream(steps.byte()), usize::from(steps.byte()) * 300);
                let end = steps.byte().is_multiple_of(2);
                // Refused where the stream has ended.
                let _ = self
                    .conn
                    .send_body(now, stream, Bytes::from(vec![7; length]), end);
            }
            5 => {
                let stream = self.stream(steps.byte());
                let mut trailers = Fields::new();
                match steps.byte() % 3 {
                    0 => trailers.push(Token::CONTENT_TYPE, b"a"),
                    1 => trailers.push(Token::PATH, b"/"),
                    _ => {}
                }
                let _ = self.conn.send_trailers(now, stream, &trailers);
            }
            6 => {
                let (stream, code) = (self.stream(steps.byte()), H2Code(steps.number()));
                self.conn.reset(now, stream, code);
                if let Some(exchange) = self.exchanges.get_mut(&stream) {
                    exchange.given_up = true;
                }
            }
            7 => {
                let (stream, most) = (self.stream(steps.byte()), usize::from(steps.byte()) * 64);
                if let Some(exchange) = self.exchanges.get_mut(&stream) {
                    let read = exchange.unread.min(most);
                    exchange.unread -= read;
                    self.conn.consume(now, stream, read);
                }
            }
            8 => drop(self.conn.ping(now, [steps.byte(); 8])),
            9 => {
                let (id, value) = (u16::from(steps.byte() % 16), steps.number());
                let changes: Vec<_> = Setting::parse(id, value)
                    .ok()
                    .flatten()
                    .into_iter()
                    .collect();
                self.conn.change_settings(now, &changes);
            }
            10 => {
                let (code, last) = (H2Code(steps.number()), steps.number());
                self.conn.go_away(Some(last), code, steps.bytes());
            }
            11 => drop(self.conn.move_connection_window(now, steps.number())),
            12 => drop(self.conn.skip_to(steps.number())),
            13 => self.pass_time(steps.byte()),
            14 => self.look(),
            // Often in a session, once in its life: most inputs go on.
            _ if steps.byte() == 0xa5 => {
                self.conn.abort(now, H2Code(steps.number()));
                self.write(usize::MAX);
                return false;
            }
            _ => {}
        }
        true
    }

    /// One of the streams, or one that there is not.
    fn stream(&self, choice: u8) -> StreamId {
        let nth = self.exchanges.keys().nth(usize::from(choice));
        nth.copied().unwrap_or(StreamId(u64::from(choice)))
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.conn.handle_bytes(self.now, bytes);
    }

    /// A frame with a right length: type, flags, one of the streams, and a payload.
    fn frame(&mut self, steps: &mut Steps<'_>) {
        let (kind, flags) = (steps.byte() % 20, steps.byte());
        let stream = match steps.byte() {
            0 => 0,
            choice => self.stream(choice - 1).0 as u32,
        };
        let payload = steps.bytes();
        let header = FrameHeader {
            len: payload.len() as u32,
            kind,
            flags,
            stream,
        };
        let mut bytes = header.bytes().to_vec();
        bytes.extend_from_slice(payload);
        self.feed(&bytes);
    }

    fn request(&mut self, choice: u8) {
        if self.exchanges.len() >= STREAMS_MAX {
            return;
        }
        let mut fields = Fields::new();
        let method: &[u8] = [&b"GET"[..], b"HEAD", b"POST", b"CONNECT"][usize::from(choice & 3)];
        fields.push(Token::METHOD, method);
        fields.push(Token::AUTHORITY, b"a.example:443");
        if method != b"CONNECT" {
            fields.push(Token::SCHEME, b"https");
            fields.push(Token::PATH, b"/");
        }
        if choice & 4 != 0 {
            fields.push(Token::CONTENT_LENGTH, b"600");
        }
        let Ok(head) = RequestHead::from_fields(fields, Version::Http2) else {
            return;
        };
        let Ok(stream) = self.conn.open(self.now, &head, choice & 8 != 0) else {
            return;
        };
        let before = self.exchanges.insert(stream, StreamState::default());
        assert!(before.is_none(), "{stream:?} was opened twice");
    }

    /// As the session writes: what the machine gives, until it gives nothing or the socket is full.
    fn write(&mut self, mut most: usize) {
        loop {
            let outbox = self.conn.poll_write(self.now);
            let length = outbox.len().min(most);
            if length == 0 {
                return;
            }
            most -= length;
            let mut slices = [IoSlice::new(&[]); 16];
            let filled = outbox.slices(&mut slices, length);
            let mut gathered = Vec::with_capacity(length);
            for slice in &slices[..filled] {
                gathered.extend_from_slice(slice);
            }
            gathered.truncate(length);
            outbox.advance(gathered.len());
            self.written.take(&gathered);
            most += length - gathered.len();
        }
    }

    fn pass_time(&mut self, choice: u8) {
        self.now += Duration::from_millis(u64::from(choice));
        self.now = pass_deadline(&mut self.conn, self.now);
    }

    /// The accounts that `session.state` and the streams' states read.
    fn look(&self) {
        let _ = self.conn.accounts();
        for stream in self.exchanges.keys() {
            let _ = (self.conn.is_open(*stream), self.conn.send_room(*stream));
        }
    }

    fn read_events(&mut self) {
        while let Some(event) = self.conn.poll_event() {
            assert!(!self.closed, "{event:?} behind the end");
            self.event(event);
        }
    }

    /// The exchange of an event, which the user opened, and which has not ended.
    fn exchange(&mut self, stream: StreamId, what: &str) -> &mut StreamState {
        let exchange = self.exchanges.get_mut(&stream);
        let exchange =
            exchange.unwrap_or_else(|| panic!("{what} of {stream:?}, which was not opened"));
        assert!(!exchange.reset, "{what} of {stream:?} behind its reset");
        exchange
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::InterimReceived { stream, .. } => {
                assert!(!self.exchange(stream, "an interim response").answered);
            }
            Event::ResponseReceived { stream, end, .. } => {
                let exchange = self.exchange(stream, "a response");
                assert!(!exchange.answered, "{stream:?} is answered twice");
                (exchange.answered, exchange.received) = (true, end);
            }
            Event::BodyReceived { stream, data, end } => {
                let exchange = self.exchange(stream, "a body");
                assert!(exchange.answered && !exchange.received && !exchange.trailers);
                exchange.unread += data.len();
                exchange.received = end;
            }
            Event::TrailersReceived { stream, .. } => {
                let exchange = self.exchange(stream, "trailers");
                assert!(exchange.answered && !exchange.received);
                (exchange.trailers, exchange.received) = (true, true);
            }
            Event::StreamReset { stream, .. } => self.exchange(stream, "a reset").reset = true,
            Event::SendReady { stream } => drop(self.exchange(stream, "room")),
            Event::Closed(_) => self.closed = true,
            _ => {}
        }
    }

    /// The server's bytes end: one `Closed`, and no exchange is left without an end.
    fn finish(mut self, choice: u8) {
        let end = match choice % 3 {
            0 => TransportEnd::InOrder,
            1 => TransportEnd::Ragged,
            _ => TransportEnd::Failed,
        };
        self.write(usize::MAX);
        self.conn.handle_close(self.now, end);
        self.read_events();
        self.conn.handle_close(self.now, TransportEnd::Failed);
        self.read_events();
        assert!(self.closed, "the transport has ended, and no event said so");
        for (stream, exchange) in &self.exchanges {
            let has_ended = exchange.received || exchange.reset || exchange.given_up;
            assert!(has_ended, "{stream:?} has no end");
        }
    }
}

/// As `node/native/session/settings.rs` makes it: no time limits, and an event for each frame that
/// `node:http2` reports.
fn config() -> Arc<Config> {
    let mut windows = Windows::auto();
    windows.stream_initial = 65_535;
    Arc::new(
        Config::default()
            .with_limits(
                Limits::default()
                    .with_early_streams_max(100)
                    .with_concurrent_streams_max(u32::MAX)
                    .with_send_buffer_bytes_max(64 * 1024),
            )
            .with_timeouts(Timeouts::none())
            .with_windows(windows)
            .with_frame_events(true),
    )
}
