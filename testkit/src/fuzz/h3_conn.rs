//! Whole HTTP/3 connections. The wire is records: a byte with a verb and a stream, a length (255:
//! all that is left), and that many bytes. The control bytes say how streams are cut and what the
//! application does.

use super::Input;
use super::conn::{OPENED_MAX, request, response};
use super::h3_lanes::{Lanes, Terms};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::{H2Code, H3Code};
use trunkline_core::h3::{Conn, settings, varint};
use trunkline_core::http::{Event, Side, StreamId, Version};
use trunkline_core::limits::Config;

/// Streams that a record can name: request streams, then unidirectional ones of the peer, then one
/// that the peer must not open.
const REQUEST_LANES: u64 = 24;
const UNI_LANES: u64 = 7;
/// Above every round trip and head timeout, below the age of a connection.
const LONG: Duration = Duration::from_secs(40);

/// An HTTP/3 server and what a client says on its streams.
pub fn h3_conn_server(data: &[u8]) {
    run(data, Side::Server);
}

/// An HTTP/3 client with open requests and what a server says on its streams.
pub fn h3_conn_client(data: &[u8]) {
    run(data, Side::Client);
}

fn run(data: &[u8], side: Side) {
    let mut input = Input::new(data);
    let mut run = Run::new(side, input.choice());
    while let Some(record) = Record::take(&mut input) {
        if run.conn.is_closed() {
            break;
        }
        let choice = input.choice();
        run.handle(record, choice);
        run.act(choice);
    }
    run.finish();
}

/// One record of the wire.
struct Record<'a> {
    verb: u8,
    place: u64,
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    fn take(input: &mut Input<'a>) -> Option<Self> {
        let (&[op, len], rest) = input.wire.split_first_chunk::<2>()?;
        let len = match usize::from(len) {
            255 => rest.len(),
            len => len.min(rest.len()),
        };
        let (bytes, rest) = rest.split_at(len);
        input.wire = rest;
        Some(Self {
            verb: op & 7,
            place: u64::from(op >> 3),
            bytes,
        })
    }
    /// The stream that the record is about, as the peer of `side` sees it.
    fn stream(&self, side: Side) -> StreamId {
        let (uni, forbidden) = match side {
            Side::Server => (2, 1),
            Side::Client => (3, 1),
        };
        StreamId(match self.place {
            place if place < REQUEST_LANES => place * 4,
            place if place < REQUEST_LANES + UNI_LANES => uni + (place - REQUEST_LANES) * 4,
            _ => forbidden,
        })
    }
    /// The code of a reset.
    fn code(&self) -> H3Code {
        H3Code(varint::take(self.bytes).map_or(0x10c, |(code, _)| code))
    }
}

struct Run {
    conn: Conn,
    lanes: Lanes,
    side: Side,
    now: Instant,
    /// The peer's first two streams are control and decoder stream, and mean what they say.
    is_honest: bool,
    granted: u64,
    /// Exchanges whose end has not been told.
    open: BTreeSet<StreamId>,
    handlers: BTreeSet<StreamId>,
    seen: BTreeSet<StreamId>,
    opened: u32,
    unread: Vec<(StreamId, usize)>,
    told_closed: bool,
}

impl Run {
    fn new(side: Side, choice: u8) -> Self {
        let now = Instant::now();
        let mut config = Config {
            datagrams: choice & 1 == 0,
            extended_connect: choice & 2 == 0,
            ..Config::default()
        };
        if choice & 4 != 0 {
            config.limits.request_streams_max = 4;
            config.limits.send_buffer_bytes_max = 1000;
            config.windows.stream_initial = 100;
        }
        let terms = match choice >> 6 {
            0 => (4096, 16),
            1 => (0, 0),
            2 => (100, 1),
            // The peer's own bytes say it.
            _ => (0, 0),
        };
        let is_honest = choice >> 6 != 3;
        let terms = Terms {
            table_bytes_max: terms.0,
            blocked_streams_max: terms.1,
        };
        let mut run = Self {
            conn: Conn::new(side, Arc::new(config), now),
            lanes: Lanes::new(side, is_honest.then_some(terms)),
            side,
            now,
            is_honest,
            granted: 0,
            open: BTreeSet::new(),
            handlers: BTreeSet::new(),
            seen: BTreeSet::new(),
            opened: 0,
            unread: Vec::new(),
            told_closed: false,
        };
        run.conn.handle_handshake_done(now);
        if is_honest {
            let mut control = vec![0];
            let pairs = [
                (
                    settings::id::QPACK_MAX_TABLE_CAPACITY,
                    terms.table_bytes_max,
                ),
                (
                    settings::id::QPACK_BLOCKED_STREAMS,
                    terms.blocked_streams_max,
                ),
                (settings::id::H3_DATAGRAM, 1),
            ];
            settings::write(&pairs, &mut control);
            run.lanes.says(run.uni(0), &control, false);
            run.lanes.says(run.uni(1), &[3], false);
        }
        run.lanes.run(&mut run.conn, now, usize::MAX);
        run.grant(8);
        run.act(0);
        run
    }
    /// The peer's unidirectional stream with this number.
    fn uni(&self, number: u64) -> StreamId {
        StreamId(number * 4 + if self.side == Side::Server { 2 } else { 3 })
    }
    fn grant(&mut self, more: u64) {
        if self.side == Side::Client {
            self.granted += more;
            self.conn.handle_streams_available(self.now, self.granted);
        }
    }
    fn handle(&mut self, record: Record<'_>, choice: u8) {
        let (stream, ours) = (record.stream(self.side), self.ours(&record));
        let is_feedback = self.is_honest && stream == self.uni(1);
        let (conn, now) = (&mut self.conn, self.now);
        let most = match usize::from(choice & 31) {
            0 => usize::MAX,
            most => most,
        };
        match record.verb {
            0 | 1 if is_feedback => {
                let said = self.lanes.feedback();
                self.lanes.says(stream, &said, false);
            }
            0 | 1 => self.lanes.says(stream, record.bytes, record.verb == 1),
            2 => self.lanes.resets(conn, now, stream, record.code()),
            3 => self.lanes.stops(conn, now, stream, record.code()),
            4 => {
                let more = record
                    .bytes
                    .first()
                    .map_or(0, |&more| usize::from(more) * 4);
                self.lanes.gives_room(conn, now, ours, more);
            }
            5 => conn.handle_datagram(now, Bytes::copy_from_slice(record.bytes)),
            6 => self.pass_time(),
            _ => self.happen(record.place),
        }
        self.lanes.run(&mut self.conn, self.now, most);
        assert!(self.conn.active() <= 256);
    }
    /// The stream of a record about what we send.
    fn ours(&self, record: &Record<'_>) -> StreamId {
        match record.place {
            place if place < REQUEST_LANES => StreamId(place * 4),
            place => StreamId(
                (place - REQUEST_LANES) * 4 + if self.side == Side::Server { 3 } else { 2 },
            ),
        }
    }
    fn happen(&mut self, what: u64) {
        match what % 6 {
            0 => self.lanes.acknowledges(&mut self.conn, self.now),
            1 => self.consume_all(),
            2 => self.conn.shut_down(self.now),
            3 => self.grant(1),
            4 if self.side == Side::Server => self.conn.handle_streams_blocked(self.now),
            _ => {
                let stream = self.open.first().copied();
                if let Some(stream) = stream {
                    // Refused unless both sides announced it.
                    let _ = self.conn.send_datagram(stream, b"datagram");
                }
            }
        }
    }
    /// Goes to the next deadline.
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

    // The application.

    /// Answers what happened, until nothing more does.
    fn act(&mut self, choice: u8) {
        self.open_some(choice);
        loop {
            let mut any = false;
            while let Some(event) = self.conn.poll_event() {
                any = true;
                self.answer(event, choice);
            }
            if choice & 0x40 != 0 {
                self.consume_all();
            }
            self.lanes.run(&mut self.conn, self.now, usize::MAX);
            if !any {
                break;
            }
        }
        if self.side == Side::Server {
            assert_eq!(self.conn.running_handlers() as usize, self.handlers.len());
        }
    }
    fn open_some(&mut self, choice: u8) {
        while self.conn.capacity() > 0 && self.opened < OPENED_MAX {
            let method: &[u8] = match (u32::from(choice) + self.opened) % 4 {
                0 => b"POST",
                1 => b"HEAD",
                _ => b"GET",
            };
            let post = method == b"POST";
            let head = request(method, Version::Http3);
            let stream = self.conn.open(self.now, &head, !post);
            let stream = stream.expect("there was capacity and the head is valid");
            assert!(self.open.insert(stream), "{stream:?} was open already");
            self.opened += 1;
            if post {
                let sent = self.conn.send_body(self.now, stream, "body".into(), true);
                assert_eq!(sent, Ok(()), "the request is open and its body fits");
            }
        }
    }
    fn answer(&mut self, event: Event, choice: u8) {
        assert!(!self.told_closed, "{event:?} after the end");
        match event {
            Event::RequestReceived { stream, head, .. } => {
                assert!(self.seen.insert(stream), "{stream:?} came again");
                assert!(!head.method().is_empty());
                self.conn.recycle(head.into_fields());
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
                self.done(stream);
            }
            Event::SendReady { stream } => {
                // Refused where the exchange has ended meanwhile.
                let _ = self
                    .conn
                    .send_body(self.now, stream, vec![7; 999].into(), true);
            }
            Event::Closed(_) => self.told_closed = true,
            _ => {}
        }
    }
    fn done(&mut self, stream: StreamId) {
        if self.handlers.remove(&stream) {
            self.conn.handler_done(self.now, stream);
        }
    }
    /// What the application does with a request, by the control byte.
    fn respond(&mut self, stream: StreamId, choice: u8) {
        let head = response(Version::Http3);
        let (conn, now) = (&mut self.conn, self.now);
        // Misuse is not an error here: the peer may have ended the exchange meanwhile.
        match (u64::from(choice) + stream.0 / 4) % 4 {
            0 => {
                let _ = conn.respond(now, stream, &head, true);
            }
            1 => {
                let _ = conn.respond(now, stream, &head, false);
                let end = conn.send_room(stream) > 0;
                let _ = conn.send_body(now, stream, vec![7; 20_000].into(), end);
            }
            // What is told of it already still comes.
            2 => conn.reset(now, stream, H2Code::CANCEL),
            // A handler that never answers.
            _ => return,
        }
        self.done(stream);
    }
    fn consume_all(&mut self) {
        for (stream, bytes) in std::mem::take(&mut self.unread) {
            self.conn.consume(self.now, stream, bytes);
        }
    }

    /// What came whole and waits for the QPACK table cannot be reset by the peer any more: it is
    /// over when a server loses patience, or when a client's user does.
    fn give_up_blocked(&mut self) {
        for _ in 0..4 {
            if self.side == Side::Server && self.conn.active() > 0 && !self.conn.is_closed() {
                self.pass_time();
                self.act(0);
            }
        }
        if self.side == Side::Client && !self.conn.is_closed() {
            for stream in std::mem::take(&mut self.open) {
                self.conn.reset(self.now, stream, H2Code::CANCEL);
            }
            self.act(0);
        }
    }

    /// The peer ends all that is open, and nothing may be left: no stream that holds credit. Then
    /// the transport ends: one `Closed`, and it is the last event.
    fn finish(mut self) {
        self.opened = OPENED_MAX;
        self.consume_all();
        for stream in self.lanes.unfinished() {
            let (conn, now) = (&mut self.conn, self.now);
            self.lanes.resets(conn, now, stream, H3Code(0x10c));
            self.lanes.stops(conn, now, stream, H3Code(0x10c));
        }
        self.act(0x40);
        self.give_up_blocked();
        if !self.conn.is_closed() {
            assert_eq!(self.conn.active(), 0, "all is over and a stream is left");
        }
        self.now += LONG;
        self.conn.handle_timeout(self.now);
        self.conn.handle_close(self.now, None);
        self.act(0);
        assert!(self.told_closed, "the transport ended and nobody was told");
        assert!(self.conn.is_closed() && self.conn.next_deadline().is_none());
    }
}
