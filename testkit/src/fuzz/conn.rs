//! Whole connections: a machine is fed with pieces of the input, its events are answered as an
//! application would, and time passes, all as the control bytes say.

use super::Input;
use super::written::Written;
use bytes::Bytes;
use std::collections::BTreeSet;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::{H2Code, Misuse};
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};
use trunkline_core::limits::{Config, OUTBOX_BYTES_MAX};
use trunkline_core::wire::Outbox;
use trunkline_core::{h1, h2};

/// Exchanges that a client starts in one run.
pub(super) const OPENED_MAX: u32 = 64;
/// What the outbox may hold after one piece: its limit, what one call fills, and the answers to
/// one piece, each of which is not much longer than what it answers.
const OUTBOX_SLACK_BYTES: usize = 1024 * 1024;

/// An HTTP/1.1 server fed with arbitrary bytes.
pub fn h1_head(data: &[u8]) {
    let now = Instant::now();
    let conn = h1::Conn::new(Side::Server, Arc::new(Config::default()), now);
    Run::new(conn, Side::Server, now, None).all(Input::new(data));
}

/// HTTP/1.1 bodies: a client whose request waits for a response, or a server in a chunked body.
pub fn h1_body(data: &[u8]) {
    let now = Instant::now();
    let mut input = Input::new(data);
    let server = input.choice() & 0x80 != 0;
    let side = if server { Side::Server } else { Side::Client };
    let conn = h1::Conn::new(side, Arc::new(Config::default()), now);
    let mut run = Run::new(conn, side, now, None);
    if server {
        run.feed(b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    }
    run.all(input);
}

/// An HTTP/2 server fed with arbitrary bytes behind a good preface.
pub fn h2_conn_server(data: &[u8]) {
    let now = Instant::now();
    let conn = h2::Conn::new(Side::Server, Arc::new(Config::default()), now);
    let mut run = Run::new(conn, Side::Server, now, Some(Written::of_server()));
    run.feed(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    run.all(Input::new(data));
}

/// An HTTP/2 client with open requests, fed with arbitrary bytes behind good SETTINGS.
pub fn h2_conn_client(data: &[u8]) {
    let now = Instant::now();
    let conn = h2::Conn::new(Side::Client, Arc::new(Config::default()), now);
    let mut run = Run::new(conn, Side::Client, now, Some(Written::of_client()));
    run.feed(b"\0\0\0\x04\0\0\0\0\0");
    run.all(Input::new(data));
}

/// The verbs of a machine, HTTP/1.1 and HTTP/2 alike.
trait Machine {
    const VERSION: Version;
    fn handle_bytes(&mut self, now: Instant, bytes: &[u8]);
    fn handle_timeout(&mut self, now: Instant);
    fn handle_close(&mut self, now: Instant);
    fn poll_write(&mut self, now: Instant) -> &mut Outbox;
    fn poll_event(&mut self) -> Option<Event>;
    fn next_deadline(&self) -> Option<Instant>;
    fn wants_read(&self) -> bool;
    fn is_closed(&self) -> bool;
    fn capacity(&self) -> u32;
    fn send_room(&self, stream: StreamId) -> usize;
    fn open(&mut self, now: Instant, head: &RequestHead, end: bool) -> Result<StreamId, Misuse>;
    fn respond(&mut self, now: Instant, stream: StreamId, head: &ResponseHead, end: bool);
    fn send_body(&mut self, now: Instant, stream: StreamId, data: Bytes, end: bool);
    fn consume(&mut self, now: Instant, stream: StreamId, bytes: usize);
    fn reset(&mut self, now: Instant, stream: StreamId);
    fn handler_done(&mut self, stream: StreamId);
}

macro_rules! machine {
    ($conn:ty, $version:expr) => {
        impl Machine for $conn {
            const VERSION: Version = $version;
            fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
                self.handle_bytes(now, bytes);
            }
            fn handle_timeout(&mut self, now: Instant) {
                self.handle_timeout(now);
            }
            fn handle_close(&mut self, now: Instant) {
                self.handle_close(now);
            }
            fn poll_write(&mut self, now: Instant) -> &mut Outbox {
                self.poll_write(now)
            }
            fn poll_event(&mut self) -> Option<Event> {
                self.poll_event()
            }
            fn next_deadline(&self) -> Option<Instant> {
                self.next_deadline()
            }
            fn wants_read(&self) -> bool {
                self.wants_read()
            }
            fn is_closed(&self) -> bool {
                self.is_closed()
            }
            fn capacity(&self) -> u32 {
                self.capacity()
            }
            fn send_room(&self, stream: StreamId) -> usize {
                self.send_room(stream)
            }
            fn open(
                &mut self,
                now: Instant,
                head: &RequestHead,
                end: bool,
            ) -> Result<StreamId, Misuse> {
                self.open(now, head, end)
            }
            // Misuse is not an error here: the peer may have ended the exchange meanwhile.
            fn respond(&mut self, now: Instant, stream: StreamId, head: &ResponseHead, end: bool) {
                let _ = self.respond(now, stream, head, end);
            }
            fn send_body(&mut self, now: Instant, stream: StreamId, data: Bytes, end: bool) {
                let _ = self.send_body(now, stream, data, end);
            }
            fn consume(&mut self, now: Instant, stream: StreamId, bytes: usize) {
                self.consume(now, stream, bytes);
            }
            fn reset(&mut self, now: Instant, stream: StreamId) {
                self.reset(now, stream, H2Code::CANCEL);
            }
            fn handler_done(&mut self, stream: StreamId) {
                self.handler_done(stream);
            }
        }
    };
}

machine!(h1::Conn, Version::Http11);
machine!(h2::Conn, Version::Http2);

/// One run of one machine.
struct Run<M> {
    conn: M,
    side: Side,
    now: Instant,
    written: Option<Written>,
    /// Exchanges whose end has not been told.
    open: BTreeSet<StreamId>,
    /// Server: handlers that have not been reported as done.
    handlers: BTreeSet<StreamId>,
    last_request: Option<StreamId>,
    opened: u32,
    unread: Vec<(StreamId, usize)>,
    closed: bool,
    upgraded: bool,
}

impl<M: Machine> Run<M> {
    fn new(conn: M, side: Side, now: Instant, written: Option<Written>) -> Self {
        let mut run = Self {
            conn,
            side,
            now,
            written,
            open: BTreeSet::new(),
            handlers: BTreeSet::new(),
            last_request: None,
            opened: 0,
            unread: Vec::new(),
            closed: false,
            upgraded: false,
        };
        run.open_some(0);
        run
    }

    /// The whole input, then the end of the transport.
    fn all(mut self, mut input: Input<'_>) {
        while let Some((piece, choice)) = input.piece() {
            if self.conn.is_closed() || self.upgraded {
                break;
            }
            if !self.conn.wants_read() {
                self.write(usize::MAX);
                self.consume_all();
            }
            if !self.conn.wants_read() {
                self.pass_time();
            }
            self.feed(piece);
            self.answer(choice);
            self.open_some(choice);
            match choice >> 6 {
                0 => self.write(usize::MAX),
                1 => self.write(100),
                2 => self.pass_time(),
                _ => self.consume_all(),
            }
        }
        self.finish();
    }

    fn feed(&mut self, piece: &[u8]) {
        self.conn.handle_bytes(self.now, piece);
        let waiting = self.conn.poll_write(self.now).len();
        assert!(
            waiting <= OUTBOX_BYTES_MAX + OUTBOX_SLACK_BYTES,
            "{waiting} bytes wait"
        );
    }

    /// Writes up to `most` bytes.
    fn write(&mut self, mut most: usize) {
        loop {
            let outbox = self.conn.poll_write(self.now);
            let len = outbox.len().min(most);
            if len == 0 {
                return;
            }
            most -= len;
            if let Some(written) = &mut self.written {
                let mut slices = [IoSlice::new(&[]); 64];
                let filled = outbox.slices(&mut slices);
                let mut left = len;
                for slice in &slices[..filled] {
                    let part = left.min(slice.len());
                    written.take(&slice[..part]);
                    left -= part;
                }
                outbox.advance(len - left);
            } else {
                outbox.advance(len);
            }
        }
    }

    /// Goes to the next deadline, if it is near.
    fn pass_time(&mut self) {
        let Some(deadline) = self.conn.next_deadline() else {
            return;
        };
        self.now = self.now.max(deadline);
        self.conn.handle_timeout(self.now);
        let next = self.conn.next_deadline();
        assert!(
            next.is_none_or(|next| next > self.now),
            "a deadline that stays due would spin"
        );
    }

    fn open_some(&mut self, choice: u8) {
        if self.side == Side::Server {
            return;
        }
        while self.conn.capacity() > 0 && self.opened < OPENED_MAX {
            let method: &[u8] = match (u32::from(choice) + self.opened) % 4 {
                0 => b"POST",
                1 => b"HEAD",
                _ => b"GET",
            };
            let post = method == b"POST";
            let head = request(method, M::VERSION);
            let stream = self.conn.open(self.now, &head, !post);
            let stream = stream.expect("there was capacity and the head is valid");
            assert!(self.open.insert(stream), "{stream:?} was open already");
            self.opened += 1;
            if post {
                self.conn
                    .send_body(self.now, stream, Bytes::from_static(b"body"), true);
            }
        }
    }

    fn answer(&mut self, choice: u8) {
        while let Some(event) = self.conn.poll_event() {
            assert!(!self.closed, "{event:?} after the end");
            match event {
                Event::RequestReceived { stream, head, .. } => {
                    assert!(self.last_request < Some(stream), "{stream:?} came again");
                    assert!(!head.method().is_empty());
                    self.last_request = Some(stream);
                    self.open.insert(stream);
                    self.handlers.insert(stream);
                    self.respond(stream, choice);
                }
                Event::BodyReceived { stream, data, .. } => {
                    assert!(self.open.contains(&stream), "a body of {stream:?}");
                    self.unread.push((stream, data.len()));
                }
                Event::StreamReset { stream, .. } => {
                    assert!(self.open.remove(&stream), "{stream:?} ended twice");
                    if self.handlers.remove(&stream) {
                        self.conn.handler_done(stream);
                    }
                }
                Event::SendReady { stream } => {
                    self.conn
                        .send_body(self.now, stream, Bytes::from_static(&[7; 999]), true);
                }
                Event::Upgraded { .. } => {
                    self.upgraded = true;
                    return;
                }
                Event::Closed(_) => {
                    self.closed = true;
                }
                _ => {}
            }
        }
    }

    /// What the application does with a request, by the control byte.
    fn respond(&mut self, stream: StreamId, choice: u8) {
        let head = response(M::VERSION);
        match (u64::from(choice) + stream.0 / 2) % 4 {
            0 => self.conn.respond(self.now, stream, &head, true),
            1 => {
                self.conn.respond(self.now, stream, &head, false);
                let end = self.conn.send_room(stream) > 0;
                self.conn
                    .send_body(self.now, stream, Bytes::from_static(&[7; 20_000]), end);
            }
            2 => self.conn.reset(self.now, stream),
            // A handler that never answers.
            _ => return,
        }
        if self.handlers.remove(&stream) {
            self.conn.handler_done(stream);
        }
    }

    fn consume_all(&mut self) {
        for (stream, bytes) in std::mem::take(&mut self.unread) {
            self.conn.consume(self.now, stream, bytes);
        }
    }

    /// The transport ends: one `Closed`, and it is the last event.
    fn finish(mut self) {
        if self.upgraded {
            return;
        }
        self.consume_all();
        self.write(usize::MAX);
        self.now += Duration::from_millis(1);
        self.conn.handle_close(self.now);
        self.answer(0);
        assert!(
            self.closed || self.upgraded,
            "the transport ended and nobody was told"
        );
        assert!(self.conn.is_closed() || self.upgraded);
    }
}

pub(super) fn request(method: &[u8], version: Version) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, method);
    if version != Version::Http11 {
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::AUTHORITY, b"a.example");
        fields.push(Token::PATH, b"/");
    } else {
        fields.push(Token::PATH, b"/");
        fields.push(Token::HOST, b"a.example");
    }
    if method == b"POST" {
        fields.push(Token::CONTENT_LENGTH, b"4");
    }
    RequestHead::from_fields(fields, version).expect("a valid request")
}

pub(super) fn response(version: Version) -> ResponseHead {
    let mut fields = Fields::new();
    fields.push(Token::CONTENT_TYPE, b"text/plain");
    ResponseHead::new(200, fields, version).expect("a valid response")
}
