//! Whole HTTP/3 connections. The wire is records: a byte with a verb and a stream, a length (255:
//! all remaining bytes), and that many bytes. The control bytes cut streams and drive the
//! application.

use super::sent::Terms;
use super::streams::WireStreams;
use crate::fuzz::Input;
use crate::fuzz::application::{Application, OPENED_MAX};
use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::H3Code;
use trunkline_core::h3::{Conn, settings};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::limits::Config;
use trunkline_core::wire::varint;

/// Streams that a record can name: request streams, then unidirectional ones of the peer, then one
/// that the peer must not open.
const REQUEST_STREAMS: u64 = 24;
const UNI_STREAMS: u64 = 7;
/// Above every round trip and head timeout, below the age of a connection.
const LONG: Duration = Duration::from_secs(40);
/// Deadlines that pass before a server gives a request up: those that look at the rate of bodies come
/// again every few seconds until the one for silence.
const DEADLINES_MAX: u32 = 64;

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
        if run.user.conn.is_closed() {
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
            place if place < REQUEST_STREAMS => place * 4,
            place if place < REQUEST_STREAMS + UNI_STREAMS => uni + (place - REQUEST_STREAMS) * 4,
            _ => forbidden,
        })
    }
    /// The code of a reset.
    fn code(&self) -> H3Code {
        H3Code(varint::take(self.bytes).map_or(0x10c, |(code, _)| code))
    }
}

struct Run {
    user: Application<Conn>,
    wire_streams: WireStreams,
    side: Side,
    /// The peer's first two streams are control and decoder stream, and mean what they say.
    is_conforming: bool,
    granted: u64,
}

impl Run {
    fn new(side: Side, choice: u8) -> Self {
        let now = Instant::now();
        let mut config = Config::default()
            .with_datagrams(choice & 1 == 0)
            .with_extended_connect(choice & 2 == 0);
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
        let is_conforming = choice >> 6 != 3;
        let terms = Terms {
            table_bytes_max: terms.0,
            blocked_streams_max: terms.1,
        };
        let mut run = Self {
            user: Application::new(Conn::new(side, Arc::new(config), now), side, now),
            wire_streams: WireStreams::new(side, is_conforming.then_some(terms)),
            side,
            is_conforming,
            granted: 0,
        };
        run.user.conn.handle_handshake_done(now);
        if is_conforming {
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
            run.wire_streams.peer_sends(run.uni(0), &control, false);
            run.wire_streams.peer_sends(run.uni(1), &[3], false);
        }
        run.wire_streams.run(&mut run.user.conn, now, usize::MAX);
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
            self.user
                .conn
                .handle_streams_available(self.user.now, self.granted);
        }
    }
    fn handle(&mut self, record: Record<'_>, choice: u8) {
        let (stream, ours) = (record.stream(self.side), self.ours(&record));
        let is_feedback = self.is_conforming && stream == self.uni(1);
        let (conn, now) = (&mut self.user.conn, self.user.now);
        let most = match usize::from(choice & 31) {
            0 => usize::MAX,
            most => most,
        };
        match record.verb {
            0 | 1 if is_feedback => {
                let sent = self.wire_streams.feedback();
                self.wire_streams.peer_sends(stream, &sent, false);
            }
            0 | 1 => self
                .wire_streams
                .peer_sends(stream, record.bytes, record.verb == 1),
            2 => self.wire_streams.resets(conn, now, stream, record.code()),
            3 => self.wire_streams.stops(conn, now, stream, record.code()),
            4 => {
                let more = record
                    .bytes
                    .first()
                    .map_or(0, |&more| usize::from(more) * 4);
                self.wire_streams.gives_room(conn, now, ours, more);
            }
            5 => conn.handle_datagram(now, Bytes::copy_from_slice(record.bytes)),
            6 => self.user.pass_time(),
            _ => self.happen(record.place),
        }
        self.wire_streams
            .run(&mut self.user.conn, self.user.now, most);
        assert!(self.user.conn.active() <= 256);
    }
    /// The stream of a record about what we send.
    fn ours(&self, record: &Record<'_>) -> StreamId {
        match record.place {
            place if place < REQUEST_STREAMS => StreamId(place * 4),
            place => StreamId(
                (place - REQUEST_STREAMS) * 4 + if self.side == Side::Server { 3 } else { 2 },
            ),
        }
    }
    fn happen(&mut self, what: u64) {
        match what % 6 {
            0 => self
                .wire_streams
                .acknowledges(&mut self.user.conn, self.user.now),
            1 => self.user.consume_all(),
            2 => self.user.conn.shut_down(self.user.now),
            3 => self.grant(1),
            _ => {
                let stream = self.user.open.first().copied();
                if let Some(stream) = stream {
                    // Refused unless both sides announced it.
                    let _ = self.user.conn.send_datagram(stream, b"datagram");
                }
            }
        }
    }
    /// Lets the application answer what happened, until nothing more does.
    fn act(&mut self, choice: u8) {
        self.user.open_some(choice);
        loop {
            let any = self.user.answer(choice) > 0;
            if choice & 0x40 != 0 {
                self.user.consume_all();
            }
            self.wire_streams
                .run(&mut self.user.conn, self.user.now, usize::MAX);
            if !any {
                break;
            }
        }
        if self.side == Side::Server {
            let running = self.user.conn.running_handlers() as usize;
            assert_eq!(running, self.user.handlers.len());
        }
    }

    /// A complete section that waits for the QPACK table can no longer be reset by the peer: it
    /// ends by a server's timeout, or by a client's user.
    fn give_up_blocked(&mut self) {
        for _ in 0..DEADLINES_MAX {
            if self.side == Side::Server
                && self.user.conn.active() > 0
                && !self.user.conn.is_closed()
            {
                self.user.pass_time();
                self.act(0);
            }
        }
        if self.side == Side::Client && !self.user.conn.is_closed() {
            self.user.cancel_all();
            self.act(0);
        }
    }

    /// The peer ends all that is open, and nothing may be left: no stream that holds credit. Then
    /// the transport ends: one `Closed`, and it is the last event.
    fn finish(mut self) {
        self.user.opened = OPENED_MAX;
        self.user.consume_all();
        for stream in self.wire_streams.unfinished() {
            let (conn, now) = (&mut self.user.conn, self.user.now);
            self.wire_streams.resets(conn, now, stream, H3Code(0x10c));
            self.wire_streams.stops(conn, now, stream, H3Code(0x10c));
        }
        self.act(0x40);
        self.give_up_blocked();
        if !self.user.conn.is_closed() {
            assert_eq!(
                self.user.conn.active(),
                0,
                "all is over and a stream is left"
            );
        }
        self.user.now += LONG;
        self.user.conn.handle_timeout(self.user.now);
        self.user.conn.handle_close(self.user.now, None);
        self.act(0);
        assert!(
            self.user.closed.is_some(),
            "the transport ended and nobody was told"
        );
        assert!(self.user.conn.is_closed() && self.user.conn.next_deadline().is_none());
    }
}
