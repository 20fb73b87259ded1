//! A QUIC transport without packets below an HTTP/3 machine: delivers the peer's stream bytes as
//! far as the machine takes them, carries out the machine's actions, and checks both against the
//! rules of streams (RFC 9000 sections 2 and 3).

use super::sent::{SentSettings, Terms};
use bytes::{Buf, Bytes};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use trunkline_core::credit::WINDOW_MAX;
use trunkline_core::error::H3Code;
use trunkline_core::h3::stream_kind::StreamOrigin;
use trunkline_core::h3::{Conn, TransportAction};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::limits::QUIC_SEND_WINDOW_BYTES;

/// How a side of a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SideEnd {
    Fin,
    Reset(H3Code),
}

/// One stream.
#[derive(Debug, Default)]
struct WireStream {
    /// Bytes received and not yet taken, and their end.
    inbox: Vec<u8>,
    inbox_end: Option<SideEnd>,
    /// The end was reported, or the machine stopped it.
    in_over: bool,
    out_over: bool,
    /// The peer stopped it: our orders about it are carried out by doing nothing.
    peer_stopped: bool,
    stopped: bool,
    /// Bytes that the transport still takes; `None`: all.
    room: Option<usize>,
    blocked: bool,
}

/// All streams of one connection.
pub(in crate::fuzz) struct WireStreams {
    side: Side,
    wire_streams: BTreeMap<StreamId, WireStream>,
    next_uni: u64,
    next_bidi: u64,
    granted: Option<u64>,
    sent: SentSettings,
    /// Streams whose end waits for the peer's acknowledgement.
    unacknowledged: Vec<StreamId>,
    reads: BTreeSet<StreamId>,
    /// The code of the CONNECTION_CLOSE that the machine ordered.
    pub(in crate::fuzz) closed: Option<H3Code>,
}

impl WireStreams {
    pub(in crate::fuzz) fn new(side: Side, terms: Option<Terms>) -> Self {
        Self {
            side,
            wire_streams: BTreeMap::new(),
            next_uni: if side == Side::Client { 2 } else { 3 },
            next_bidi: 0,
            granted: None,
            sent: SentSettings::new(terms),
            unacknowledged: Vec::new(),
            reads: BTreeSet::new(),
            closed: None,
        }
    }
    /// Whether the machine may send on a stream.
    fn sends(&self, stream: StreamId) -> bool {
        match StreamOrigin::of(stream.0) {
            StreamOrigin::ClientBidi | StreamOrigin::ServerBidi => true,
            StreamOrigin::ClientUni => self.side == Side::Client,
            StreamOrigin::ServerUni => self.side == Side::Server,
        }
    }
    /// Whether the peer may say something on a stream: one of its own, or one that we opened.
    fn receives(&self, stream: StreamId) -> bool {
        match (StreamOrigin::of(stream.0), self.side) {
            (StreamOrigin::ClientBidi, Side::Client) => stream.0 < self.next_bidi,
            (StreamOrigin::ServerBidi, Side::Server) => false,
            (StreamOrigin::ClientUni, side) => side == Side::Server,
            (StreamOrigin::ServerUni, side) => side == Side::Client,
            _ => true,
        }
    }

    // The peer.

    /// The peer says `bytes`, and ends its side if `fin`.
    pub(super) fn peer_sends(&mut self, stream: StreamId, bytes: &[u8], fin: bool) {
        if !self.receives(stream) {
            return;
        }
        let wire_stream = self.wire_streams.entry(stream).or_default();
        if wire_stream.in_over || wire_stream.inbox_end.is_some() {
            return;
        }
        wire_stream.inbox.extend_from_slice(bytes);
        wire_stream.inbox_end = fin.then_some(SideEnd::Fin);
        self.reads.insert(stream);
    }
    /// Whether the peer has ended its side, taken or not.
    pub(super) fn has_ended(&self, stream: StreamId) -> bool {
        let wire_stream = self.wire_streams.get(&stream);
        wire_stream.is_some_and(|of| of.in_over || of.inbox_end.is_some())
    }
    /// The peer resets its side: what was not taken yet is lost.
    pub(super) fn resets(&mut self, conn: &mut Conn, now: Instant, stream: StreamId, code: H3Code) {
        if !self.receives(stream) {
            return;
        }
        let wire_stream = self.wire_streams.entry(stream).or_default();
        if wire_stream.in_over {
            return;
        }
        wire_stream.inbox.clear();
        wire_stream.inbox_end = Some(SideEnd::Reset(code));
        wire_stream.in_over = true;
        conn.handle_stream_reset(now, stream, code);
        self.carry_out_actions(conn, now);
    }
    /// The peer stops our side.
    pub(super) fn stops(&mut self, conn: &mut Conn, now: Instant, stream: StreamId, code: H3Code) {
        let is_open = StreamOrigin::of(stream.0) == StreamOrigin::ClientBidi
            && self.receives(stream)
            || self.wire_streams.contains_key(&stream);
        if !is_open || !self.sends(stream) {
            return;
        }
        let wire_stream = self.wire_streams.entry(stream).or_default();
        if wire_stream.peer_stopped
            || wire_stream.out_over && !self.unacknowledged.contains(&stream)
        {
            return;
        }
        wire_stream.peer_stopped = true;
        self.unacknowledged.retain(|of| *of != stream);
        conn.handle_stop_sending(now, stream, code);
        self.carry_out_actions(conn, now);
    }
    /// The transport takes this many more bytes on a stream.
    pub(super) fn gives_room(
        &mut self,
        conn: &mut Conn,
        now: Instant,
        stream: StreamId,
        more: usize,
    ) {
        if !self.sends(stream) {
            return;
        }
        let wire_stream = self.wire_streams.entry(stream).or_default();
        wire_stream.room = Some(wire_stream.room.unwrap_or(0) + more);
        if more > 0 && std::mem::take(&mut wire_stream.blocked) {
            conn.handle_stream_room(now, stream);
        }
        self.carry_out_actions(conn, now);
    }
    /// Everything that was finished is acknowledged.
    pub(in crate::fuzz) fn acknowledges(&mut self, conn: &mut Conn, now: Instant) {
        for stream in std::mem::take(&mut self.unacknowledged) {
            conn.handle_finished(now, stream);
        }
        self.carry_out_actions(conn, now);
    }
    /// The bytes of the peer's decoder stream.
    pub(super) fn feedback(&mut self) -> Vec<u8> {
        self.sent.feedback()
    }
    /// Every request stream that is not over both ways; one that was used opened those below it.
    pub(super) fn unfinished(&self) -> Vec<StreamId> {
        let is_request =
            |stream: &&StreamId| StreamOrigin::of(stream.0) == StreamOrigin::ClientBidi;
        let last = self.wire_streams.keys().rfind(is_request);
        let ids = last.into_iter().flat_map(|last| 0..=last.0 / 4);
        ids.map(|number| StreamId(number * 4))
            .filter(|stream| {
                let wire_stream = self.wire_streams.get(stream);
                wire_stream.is_none_or(|wire_stream| !(wire_stream.in_over && wire_stream.out_over))
            })
            .collect()
    }

    // The machine.

    /// Hands over what came, in pieces of at most `most` bytes, and carries out what is ordered.
    pub(in crate::fuzz) fn run(&mut self, conn: &mut Conn, now: Instant, most: usize) {
        self.carry_out_actions(conn, now);
        while let Some(stream) = self.reads.pop_first() {
            self.deliver(conn, now, stream, most);
        }
    }
    fn deliver(&mut self, conn: &mut Conn, now: Instant, stream: StreamId, most: usize) {
        loop {
            let room = conn.read_room(stream);
            let Some(wire_stream) = self.wire_streams.get_mut(&stream) else {
                return;
            };
            if room == 0
                || wire_stream.in_over
                || wire_stream.inbox.is_empty() && wire_stream.inbox_end.is_none()
            {
                return;
            }
            let len = wire_stream.inbox.len().min(room).min(most);
            let bytes: Vec<u8> = wire_stream.inbox.drain(..len).collect();
            let fin = wire_stream.inbox.is_empty() && wire_stream.inbox_end == Some(SideEnd::Fin);
            wire_stream.in_over = fin;
            conn.handle_stream(now, stream, &bytes, fin);
            self.carry_out_actions(conn, now);
        }
    }
    /// Carries out the machine's orders.
    pub(super) fn carry_out_actions(&mut self, conn: &mut Conn, now: Instant) {
        while let Some(action) = conn.poll_transport(now) {
            assert_eq!(self.closed, None, "after Close: {action:?}");
            match action {
                TransportAction::OpenUni { stream, kind } => {
                    assert_eq!(stream.0, self.next_uni, "ids have no gaps");
                    self.next_uni += 4;
                    self.wire_streams.entry(stream).or_default();
                    self.sent.opened(stream, Some(kind));
                }
                TransportAction::OpenBidi { stream } => {
                    assert_eq!((self.side, stream.0), (Side::Client, self.next_bidi));
                    self.next_bidi += 4;
                    self.wire_streams.entry(stream).or_default();
                    self.sent.opened(stream, None);
                }
                TransportAction::Write {
                    stream,
                    pieces,
                    fin,
                } => self.write(conn, now, stream, pieces, fin),
                TransportAction::Reset { stream, .. } => {
                    assert!(self.sends(stream), "{stream:?} is not ours to reset");
                    let wire_stream = self.wire_streams.entry(stream).or_default();
                    assert!(
                        !wire_stream.out_over || wire_stream.peer_stopped,
                        "ended twice: {stream:?}"
                    );
                    wire_stream.out_over = true;
                    self.sent.reset(stream);
                }
                TransportAction::StopSending { stream, .. } => {
                    assert!(
                        self.receives(stream),
                        "{stream:?} is not the peer's to stop"
                    );
                    let wire_stream = self.wire_streams.entry(stream).or_default();
                    assert!(!wire_stream.stopped, "{stream:?} is stopped twice");
                    wire_stream.stopped = true;
                    wire_stream.in_over = true;
                    wire_stream.inbox.clear();
                }
                TransportAction::Read { stream } => {
                    self.reads.insert(stream);
                }
                TransportAction::SetPriority { order, .. } => assert!(order.abs() <= 1 << 30),
                TransportAction::GrantStreams { limit } => {
                    assert!(self.side == Side::Server && self.granted < Some(limit));
                    self.granted = Some(limit);
                }
                TransportAction::GrantBytes { window } => {
                    assert!((1..=WINDOW_MAX).contains(&window))
                }
                TransportAction::HoldBytes { bytes } => assert!(bytes >= QUIC_SEND_WINDOW_BYTES),
                TransportAction::Datagram { bytes } => assert!(!bytes.is_empty()),
                TransportAction::Close { code, .. } => self.closed = Some(code),
            }
        }
    }
    fn write(
        &mut self,
        conn: &mut Conn,
        now: Instant,
        stream: StreamId,
        mut pieces: [Bytes; 2],
        fin: bool,
    ) {
        assert!(self.sends(stream), "a write on the peer's {stream:?}");
        let wire_stream = self.wire_streams.get_mut(&stream).expect("it was opened");
        if wire_stream.peer_stopped {
            return;
        }
        assert!(!wire_stream.out_over, "a write after the end of {stream:?}");
        assert!(
            !wire_stream.blocked,
            "a write on {stream:?} that takes nothing"
        );
        let len = pieces[0].len() + pieces[1].len();
        let taken = len.min(wire_stream.room.unwrap_or(usize::MAX));
        wire_stream.room = wire_stream.room.map(|room| room - taken);
        let whole = taken == len;
        wire_stream.blocked = !whole;
        wire_stream.out_over = whole && fin;
        if whole && fin {
            self.unacknowledged.push(stream);
        }
        let mut left = taken;
        for piece in &mut pieces {
            let now = left.min(piece.len());
            left -= now;
            let ends = whole && fin && left == 0;
            self.sent
                .take(stream, &piece[..now], ends && piece.len() == now);
            piece.advance(now);
        }
        if !whole {
            conn.handle_stream_blocked(now, stream, pieces, fin);
        }
    }
}
