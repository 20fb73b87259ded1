//! One HTTP/3 connection, client or server: stream bytes and commands in, actions and events out.
//!
//! This file holds the state and its getters; each concern has a file beside it: `conn_transport`
//! sorts input by stream, `conn_uni` keeps the control and QPACK streams both ways, `conn_recv`
//! reads request streams, `conn_head` takes their sections, `conn_send` and `conn_write` write,
//! `conn_goaway`, `conn_datagram` and `conn_timers` handle what they are named for, `conn_close`
//! ends streams and the connection.
//!
//! Invariants: a stream that is over both ways is not in `streams`; a stream is in the scheduler
//! exactly while it has bytes to send and the transport takes them; only actions follow
//! [`Event::Closed`].

use super::conn_goaway::Draining;
use super::conn_slow::SlowReaders;
use super::conn_uni::{OurUni, PeerUni, Seen};
use super::send_window::SendWindow;
use super::settings::Settings;
use super::stream::{SendQueue, Stream};
use super::stream_credit::StreamCredit;
use super::streams::Streams;
use super::{Action, UniKind};
use crate::abuse::{Abuse, Verdict};
use crate::credit::{Credit, Lender, Path, Quota};
use crate::error::{H2Code, Violation};
use crate::http::body_slab::BodySlab;
use crate::http::head::last_head::LastHead;
use crate::http::head::last_response::LastResponse;
use crate::http::priority::Priority;
use crate::http::schedule::Schedule;
use crate::http::spares::Spares;
use crate::http::{Event, Fields, RequestHead, Side, StreamId};
use crate::limits::{
    Config, QPACK_BLOCKED_STREAMS_MAX, QPACK_TABLE_BYTES_MAX, REFUSED_NOTES_MAX, Windows,
};
use crate::pace::Scarcity;
use crate::qpack::{Decoder, Encoder};
use crate::send_account::SendAccount;
use crate::time::TimerTable;
use bytes::{Bytes, BytesMut};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The deadlines of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl Timer {
    pub(super) const KINDS: usize = 6;
    /// In the order of their discriminants.
    pub(super) const ALL: [Self; Self::KINDS] = [
        Self::Settings,
        Self::Idle,
        Self::Age,
        Self::Drain,
        Self::Streams,
        Self::Windows,
    ];
}

/// Counts since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
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
    pub(super) side: Side,
    pub(super) config: Arc<Config>,
    pub(super) closed: bool,

    // Out.
    pub(super) actions: VecDeque<Action>,
    /// Bytes of the writes in `actions`.
    pub(super) asked_bytes: usize,
    /// The write that the transport was given last, until it is known to be taken.
    pub(super) given: Option<(StreamId, bool)>,
    /// Frames being put together, of the stream in `open`.
    pub(super) slab: BytesMut,
    pub(super) open: Option<StreamId>,
    /// One encoded section.
    pub(super) section: Vec<u8>,
    pub(super) schedule: Schedule,
    pub(super) encoder: Encoder,
    pub(super) ours: [OurUni; 3],
    pub(super) next_uni: u64,
    /// Streams that ended with bytes which are not acknowledged yet.
    pub(super) unacknowledged: u32,

    // In.
    pub(super) events: VecDeque<Event>,
    pub(super) body: BodySlab,
    pub(super) decoder: Decoder,
    /// Server: the request that may come again.
    pub(super) last_head: LastHead,
    /// Client: the response that may.
    pub(super) last_response: LastResponse,
    pub(super) theirs: Vec<PeerUni>,
    pub(super) seen: Seen,
    pub(super) datagrams: VecDeque<(StreamId, Bytes)>,
    /// The peer's settings, once they came.
    pub(super) settings: Option<Settings>,
    /// Client: what the peer said on an earlier connection, whose early data this one begins with.
    pub(super) remembered: Option<Settings>,

    pub(super) streams: Streams<Stream>,
    /// Memory of heads that the owner gave back.
    pub(super) spares: Spares,
    #[expect(clippy::vec_box, reason = "a stream takes the box, not what is in it")]
    pub(super) spare_queues: Vec<Box<SendQueue>>,
    /// PRIORITY_UPDATE frames for streams that are not open yet.
    pub(super) priorities_pending: BTreeMap<u64, Priority>,
    /// Server: the streams we grant.
    pub(super) stream_credit: StreamCredit,
    /// Client: the streams that the peer grants.
    pub(super) stream_quota: Quota,
    pub(super) streams_told: u64,
    /// The connection's receive window: what users took of it.
    pub(super) credit: Credit,
    /// The window's size as last set in the transport.
    pub(super) window_told: u32,
    /// Bytes that the transport lets the peer send on each stream beyond those read.
    pub(super) stream_window: u32,
    /// Bytes that may wait in the transport for an acknowledgement.
    pub(super) send_window: SendWindow,
    pub(super) lender: Lender,
    /// Server: what waits here for the client, out of the budget of all connections.
    pub(super) send_account: SendAccount,
    /// Server: whether connections are scarce.
    pub(super) scarcity: Scarcity,
    /// Server: rules that requests broke which became no exchange, for metrics.
    pub(super) refused: Vec<Violation>,
    /// The budget for bytes that wait in the transport beyond its first window: on a server shared
    /// with all connections.
    pub(super) send_lender: Lender,
    /// Bytes in the queues of all streams.
    pub(super) queued: usize,
    /// Bytes that the transport has taken, or was asked to take.
    pub(super) carried_out: u64,
    /// The connection windows that the path has shown to need.
    pub(super) path: Path,
    pub(super) slow: SlowReaders,
    pub(super) abuse: Abuse,
    pub(super) draining: Draining,
    /// The id and, of a client, the code of the peer's GOAWAY.
    pub(super) peer_goaway: Option<u64>,
    /// The highest push id that a client offered.
    pub(super) push_id_max: Option<u64>,
    /// Handlers that run, those of reset streams included.
    pub(super) running: u32,
    pub(super) timers: TimerTable<{ Timer::KINDS }>,
    pub(super) rtt: Option<Duration>,
    /// The capacity that the owner of a client has last received or requested.
    pub(super) capacity_told: u32,
    pub(super) counts: Counts,
}

impl Conn {
    /// A fresh connection; make it as soon as the transport takes stream data (a server may before
    /// the handshake is done). Our control stream with SETTINGS is among the first actions.
    pub fn new(side: Side, config: Arc<Config>, now: Instant) -> Self {
        let limits = &config.limits;
        let window = config.windows.quic_connection();
        let mut conn = Self {
            side,
            closed: false,
            actions: VecDeque::new(),
            asked_bytes: 0,
            given: None,
            slab: BytesMut::new(),
            open: None,
            section: Vec::new(),
            schedule: Schedule::new(),
            encoder: Encoder::new(),
            ours: [
                OurUni::new(UniKind::Control),
                OurUni::new(UniKind::QpackEncoder),
                OurUni::new(UniKind::QpackDecoder),
            ],
            next_uni: match side {
                Side::Client => 2,
                Side::Server => 3,
            },
            unacknowledged: 0,
            events: VecDeque::new(),
            body: BodySlab::default(),
            decoder: Decoder::new(QPACK_TABLE_BYTES_MAX, QPACK_BLOCKED_STREAMS_MAX),
            last_head: LastHead::default(),
            last_response: LastResponse::default(),
            theirs: Vec::new(),
            seen: Seen::default(),
            datagrams: VecDeque::new(),
            settings: None,
            remembered: None,
            streams: Streams::new(),
            spares: Spares::default(),
            spare_queues: Vec::new(),
            priorities_pending: BTreeMap::new(),
            stream_credit: StreamCredit::new(limits.request_streams_max, now),
            stream_quota: Quota::new(0),
            streams_told: 0,
            credit: Credit::new(window, config.windows.connection, now),
            window_told: window,
            stream_window: stream_window(side, &config.windows),
            send_window: SendWindow::new(),
            lender: Lender::new(config.windows.memory_budget),
            scarcity: Scarcity::default(),
            refused: Vec::new(),
            send_account: SendAccount::own(config.windows.send_budget),
            send_lender: Lender::new(config.windows.send_budget),
            queued: 0,
            carried_out: 0,
            path: Path::new(now),
            slow: SlowReaders::default(),
            abuse: Abuse::new(limits),
            draining: Draining::No,
            peer_goaway: None,
            push_id_max: None,
            running: 0,
            timers: TimerTable::new(now),
            rtt: None,
            capacity_told: 0,
            counts: Counts::default(),
            config,
        };
        conn.send_settings();
        conn
    }

    // Facts and time out; the orders to the transport are in `conn_write`.

    /// The next fact. A request waits, and what came behind it, while the answers before it are far
    /// beyond the room that the connection has
    /// ([`SEND_AHEAD_BYTES_MAX`](crate::limits::SEND_AHEAD_BYTES_MAX)).
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events.is_empty() {
            self.body.close(&mut self.events);
        }
        if self.send_account.is_overrun()
            && !self.closed
            && matches!(self.events.front(), Some(Event::RequestReceived { .. }))
        {
            return None;
        }
        self.events.pop_front()
    }
    /// When `handle_timeout` is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        match self.closed {
            true => None,
            false => self.timers.next(),
        }
    }
    /// Which end of the connection it is.
    pub fn side(&self) -> Side {
        self.side
    }
    /// True after [`Event::Closed`]. Actions may still follow.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    // Questions.

    /// Client: how many more exchanges may start now.
    pub fn capacity(&self) -> u32 {
        if self.side == Side::Server || !self.takes_exchanges() || self.slow.is_exhausted() {
            return 0;
        }
        let ours = self.config.limits.request_streams_max;
        ours.saturating_sub(self.active())
            .min(self.stream_quota.available())
    }
    /// Whether the peer's SETTINGS have come. Requests may go out before.
    pub fn is_settled(&self) -> bool {
        self.settings.is_some()
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
                self.send_account.room(stream.queued(), max)
            }
            _ => 0,
        }
    }
    /// Client: whether the server takes extended CONNECT (RFC 9220 section 3).
    pub fn takes_extended_connect(&self) -> bool {
        self.peer().enable_connect_protocol
    }
    /// Handlers that run, those of reset streams included.
    pub fn running_handlers(&self) -> u32 {
        self.running
    }
    /// Counts for metrics.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// Server: the rule broken by a request that became no exchange, for metrics. Keeps at most
    /// [`REFUSED_NOTES_MAX`]; later ones are dropped.
    pub fn poll_refused(&mut self) -> Option<Violation> {
        self.refused.pop()
    }
    /// The tolerated oddities of the peer, for metrics.
    pub fn abuse(&self) -> &Abuse {
        &self.abuse
    }
    /// The transport's last estimate of the round trip.
    pub fn round_trip(&self) -> Option<Duration> {
        self.rtt
    }

    /// Gives the memory of a head that the owner has read back for the next one.
    pub fn recycle(&mut self, fields: Fields) {
        self.spares.keep_section(fields, SPARES_MAX);
    }
    /// Gives a request head of this connection back that the owner has read.
    pub fn recycle_head(&mut self, head: RequestHead) {
        self.spares.keep_head(head, SPARES_MAX);
    }
    /// Gives buffers back while the connection idles (an idle connection owns no buffer).
    pub fn release(&mut self) {
        self.follow_path(0);
        self.streams.release();
        self.schedule.release();
        self.body.release();
        self.section = Vec::new();
        self.last_head.release();
        self.refused.shrink_to_fit();
        self.last_response.release();
        self.spares = Spares::default();
        self.spare_queues = Vec::new();
        if self.open.is_none() {
            self.slab = BytesMut::new();
        }
        if self.events.is_empty() {
            self.events = VecDeque::new();
        }
        if self.actions.is_empty() {
            self.actions = VecDeque::new();
        }
    }

    // For the files beside this one.

    /// The peer's settings, or the defaults before they come.
    pub(super) fn peer(&self) -> Settings {
        self.settings.or(self.remembered).unwrap_or_default()
    }
    pub(super) fn note_refused(&mut self, violation: Violation) {
        if self.refused.len() < REFUSED_NOTES_MAX {
            self.refused.push(violation);
        }
    }
    /// Carries a verdict out.
    pub(super) fn judge(&mut self, now: Instant, verdict: Verdict) -> Result<(), Violation> {
        match verdict {
            Verdict::Fine => Ok(()),
            Verdict::Drain => {
                self.shut_down(now);
                Ok(())
            }
            Verdict::Close(violation) => Err(violation),
        }
    }
    /// The peer did something odd that is tolerated.
    pub(super) fn glitch(&mut self, now: Instant, points: u32) -> Result<(), Violation> {
        let verdict = self.abuse.glitch(points, now);
        self.judge(now, verdict)
    }
    pub(super) fn push_event(&mut self, event: Event) {
        self.body.close(&mut self.events);
        self.events.push_back(event);
    }
    /// Client: reports a changed capacity to the owner; once per change.
    pub(super) fn note_capacity(&mut self) {
        if self.side == Side::Server || self.closed {
            return;
        }
        let capacity = self.capacity();
        if capacity != self.capacity_told {
            self.capacity_told = capacity;
            self.push_event(Event::CapacityChanged);
        }
    }
    /// The code of a peer's GOAWAY: HTTP/3 has none.
    pub(super) const GOAWAY_CODE: H2Code = H2Code::NO_ERROR;
}

/// Heads kept for the next ones: those of one full batch.
const SPARES_MAX: usize = 128;

/// The window of each of the peer's streams.
fn stream_window(side: Side, windows: &Windows) -> u32 {
    match side {
        Side::Client => windows.quic_stream(),
        Side::Server => windows.quic_upload(),
    }
}
