//! One HTTP/3 connection, client or server: stream bytes and commands in, actions and events out.
//!
//! This file holds the state and its getters; each concern has a file in its folder: `transport` sorts input by
//! stream, `uni` keeps the control and QPACK streams both ways, `recv` reads request streams, `head` takes
//! their sections, `flow` sizes the windows, `send` and `write` write, `early` keeps requests of the handshake,
//! `goaway`, `datagram` and `timers` handle what they are named for, `close` ends streams and the connection.
//!
//! Invariants: a stream that is over both ways is not in `streams`; a stream is in the scheduler
//! exactly while it has bytes to send and the transport takes them; only actions follow
//! [`Event::Closed`].

mod close;
mod datagram;
mod early;
mod flow;
mod goaway;
mod head;
mod recv;
mod send;
mod timers;
mod transport;
mod uni;
mod write;

use super::action::queue::ActionQueue;
use super::settings::peer::PeerSettings;
use super::stream::{H3SendQueue, Stream};
use super::stream_credit::{StreamCredit, StreamQuota};
use crate::credit::{BudgetShare, Credit};
use crate::error::{H2Code, H3Code, Violation};
use crate::exchange::{Framing, H3Ids, Session, StreamTable, framing_parts, session_verbs};
use crate::http::{Event, Side, StreamId};
use crate::limits::{Config, QPACK_BLOCKED_STREAMS_MAX, QPACK_TABLE_BYTES_MAX, Windows};
use crate::qpack::{Decoder, Encoder};
use crate::time::{TimerTable, timer_kinds};
use bytes::BytesMut;
use datagram::DatagramQueue;
use flow::blocked_streams::BlockedStreams;
use flow::send_window::SendWindow;
use flow::slow::SlowReaders;
use goaway::UnacknowledgedEnds;
use std::sync::Arc;
use std::time::Instant;
use uni::{OurUnis, PeerUnis};

timer_kinds! {
    /// The deadlines of a connection.
    pub(super) enum Timer {
        /// The peer's SETTINGS.
        Settings,
        /// No exchange is open.
        Idle,
        /// The connection gets old.
        Age,
        /// The second GOAWAY of a drain, then the acknowledgement of what was written.
        Drain,
        /// The earliest stream that waits for its peer.
        Streams,
        /// A window that is not used gives back what it borrowed.
        Windows,
        /// Client: a stream may begin that waited behind resets.
        ResetPace,
    }
}

/// Counts since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct H3Counts {
    /// Exchanges that were opened, by either side.
    pub exchanges: u64,
    /// Exchanges that ended early.
    pub resets: u64,
    /// Requests answered with H3_REQUEST_REJECTED.
    pub refused: u64,
    /// Body bytes that came.
    pub body_bytes_received: u64,
    /// Body bytes that went into DATA frames.
    pub body_bytes_sent: u64,
    /// DATA frames sent.
    pub data_frames_sent: u64,
    /// Writes asked of the transport.
    pub writes: u64,
    /// Datagrams dropped here: their stream is gone, or has no reader.
    pub datagrams_dropped: u64,
}

/// One HTTP/3 connection. Ids are QUIC stream ids.
#[derive(Debug)]
pub struct Conn {
    /// State that does not depend on frames.
    pub(super) session: Session,
    pub(super) closed: bool,

    // Out.
    pub(super) actions: ActionQueue,
    /// Frames being put together, of the stream in `open`.
    pub(super) slab: BytesMut,
    pub(super) open: Option<StreamId>,
    /// One encoded section.
    pub(super) section: Vec<u8>,
    pub(super) encoder: Encoder,
    pub(super) ours: OurUnis,
    pub(super) unacknowledged: UnacknowledgedEnds,

    // In.
    pub(super) decoder: Decoder,
    /// Client: the response that may.
    pub(super) theirs: PeerUnis,
    pub(super) datagrams: DatagramQueue,
    pub(super) peer: PeerSettings,

    pub(super) streams: StreamTable<H3Ids, Stream>,
    #[expect(clippy::vec_box, reason = "a stream takes the box, not what is in it")]
    pub(super) free_queues: Vec<Box<H3SendQueue>>,
    /// Server: the streams we grant.
    pub(super) stream_credit: StreamCredit,
    /// Client: the streams that the peer grants.
    pub(super) stream_quota: StreamQuota,
    /// The connection's receive window: what users took of it.
    pub(super) credit: Credit,
    /// The window's size as last set in the transport.
    pub(super) reported_window: u32,
    /// Bytes that the transport lets the peer send on each stream beyond those read.
    pub(super) stream_window: u32,
    /// Bytes that may wait in the transport for an acknowledgement.
    pub(super) send_window: SendWindow,
    pub(super) slow: SlowReaders,
    /// Streams of which the transport took no more.
    blocked_streams: BlockedStreams,
    /// The highest push id that a client offered.
    pub(super) push_id_max: Option<u64>,
    pub(super) timers: TimerTable<Timer>,
}

impl Conn {
    /// A fresh connection; make it as soon as the transport takes stream data (a server may before
    /// the handshake is done). Our control stream with SETTINGS is among the first actions.
    pub fn new(side: Side, config: Arc<Config>, now: Instant) -> Self {
        let limits = &config.limits;
        let window = config.windows.quic_connection();
        let mut conn = Self {
            closed: false,
            actions: ActionQueue::default(),
            slab: BytesMut::new(),
            open: None,
            section: Vec::new(),
            encoder: Encoder::new(),
            ours: OurUnis::new(side),
            unacknowledged: UnacknowledgedEnds::default(),
            decoder: Decoder::new(QPACK_TABLE_BYTES_MAX, QPACK_BLOCKED_STREAMS_MAX),
            theirs: PeerUnis::default(),
            datagrams: DatagramQueue::default(),
            peer: PeerSettings::default(),
            streams: StreamTable::new(),
            free_queues: Vec::new(),
            stream_credit: StreamCredit::new(limits.request_streams_max, now),
            stream_quota: StreamQuota::new(now),
            credit: Credit::new(window, config.windows.connection, now),
            reported_window: window,
            stream_window: stream_window(side, &config.windows),
            send_window: SendWindow::new(BudgetShare::new(config.windows.send_budget)),
            slow: SlowReaders::default(),
            blocked_streams: BlockedStreams::default(),
            push_id_max: None,
            timers: TimerTable::new(now),
            session: Session::new(side, config, 0, now),
        };
        conn.send_settings();
        conn
    }

    // Facts and time out; the actions for the transport are in `write`.

    /// The next fact. A request waits, and what came behind it, while the answers before it are far
    /// beyond the room that the connection has
    /// ([`SEND_AHEAD_BYTES_MAX`](crate::limits::SEND_AHEAD_BYTES_MAX)).
    pub fn poll_event(&mut self) -> Option<Event> {
        let streams = &self.streams;
        let waiting = |id| streams.get(StreamId(id)).map(Stream::queued);
        self.session.poll_event(self.closed, waiting)
    }
    /// When `handle_timeout` is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        match self.closed {
            true => None,
            false => self.timers.next(),
        }
    }
    /// True after [`Event::Closed`]. Actions may still follow.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    // Questions.

    /// Client: how many more exchanges may start now.
    pub fn capacity(&self) -> u32 {
        if self.session.side() == Side::Server
            || !self.takes_exchanges()
            || self.slow.is_exhausted()
        {
            return 0;
        }
        let ours = self.session.config().limits.request_streams_max;
        ours.saturating_sub(self.active())
            .min(self.stream_quota.available())
            .saturating_sub(self.stream_quota.held())
    }
    /// Whether the peer's SETTINGS have come. Requests may go out before.
    pub fn is_limit_known(&self) -> bool {
        self.peer.known().is_some()
    }
    /// Exchanges that are open.
    pub fn active(&self) -> u32 {
        self.streams.len()
    }
    /// Body bytes that `send_body` takes on this stream before the buffer is full; `SendReady`
    /// follows a 0. `send_body` never refuses for size: this is the back-pressure.
    pub fn send_room(&self, stream: StreamId) -> usize {
        let max = self.queue_max();
        match self.streams.get(stream) {
            Some(stream) if stream.queue.as_ref().is_none_or(|queue| !queue.is_full) => {
                self.session.send_account().room(stream.queued(), max)
            }
            _ => 0,
        }
    }
    /// Bytes of a body that were given and have not left.
    pub fn queued(&self, stream: StreamId) -> usize {
        self.streams.get(stream).map_or(0, |open| open.queued())
    }
    /// Client: whether bytes of a request behind its response are still here, or its end is not acknowledged.
    pub fn is_sending(&self, stream: StreamId) -> bool {
        self.streams.get(stream).is_some() || self.unacknowledged.holds(stream)
    }
    /// Client: whether the server takes extended CONNECT (RFC 9220 section 3).
    pub fn takes_extended_connect(&self) -> bool {
        self.peer.get().enable_connect_protocol
    }
    /// Counts for metrics.
    pub fn counts(&self) -> H3Counts {
        let totals = self.session.totals();
        H3Counts {
            exchanges: totals.exchanges,
            resets: totals.resets,
            refused: totals.refused,
            body_bytes_received: totals.body_bytes_received,
            body_bytes_sent: totals.body_bytes_sent,
            data_frames_sent: totals.data_frames_sent,
            writes: self.actions.writes(),
            datagrams_dropped: self.datagrams.dropped(),
        }
    }
    /// Gives buffers back while the connection idles (an idle connection owns no buffer).
    pub fn release(&mut self) {
        self.follow_path(0);
        self.streams.release();
        self.session.release();
        self.section = Vec::new();
        self.free_queues = Vec::new();
        if self.open.is_none() {
            self.slab = BytesMut::new();
        }
        self.actions.release();
        self.unacknowledged.release();
        self.blocked_streams.release();
    }

    // For the files beside this one.

    /// The code of a peer's GOAWAY: HTTP/3 has none.
    pub(super) const GOAWAY_CODE: H2Code = H2Code::NO_ERROR;
}

session_verbs!(Conn);

impl Framing for Conn {
    framing_parts!(StreamId, Stream, Timer);

    fn takes_exchanges(&self) -> bool {
        !self.closed && self.session.drain().takes_exchanges()
    }
    fn offers_extended_connect(&self) -> bool {
        self.peer.get().enable_connect_protocol
    }
    #[inline]
    fn find(&self, stream: StreamId) -> Option<u32> {
        self.streams.key(stream)
    }
    fn carried_out(&self) -> u64 {
        self.actions.carried_out()
    }
    fn end_late(
        &mut self,
        now: Instant,
        id: StreamId,
        violation: Violation,
    ) -> Result<(), Violation> {
        let is_discarded = self
            .streams
            .get(id)
            .is_some_and(|stream| stream.discarding.is_some());
        match is_discarded {
            // The rest of a request behind a complete answer.
            true => {
                self.stop_receiving(now, id, H3Code::NO_ERROR);
                Ok(())
            }
            false => self.break_stream(now, id, violation),
        }
    }
}

/// The window of each of the peer's streams.
fn stream_window(side: Side, windows: &Windows) -> u32 {
    match side {
        Side::Client => windows.quic_stream(),
        Side::Server => windows.quic_upload(),
    }
}
