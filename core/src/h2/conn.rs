//! One HTTP/2 connection, client or server: bytes and commands in, bytes and events out.
//!
//! This file holds the state and its getters; each concern has a file in its folder: `recv` cuts frames,
//! `head` takes header blocks, `flow` keeps the windows, `room` bounds what waits to be sent, `send` writes,
//! `settings`, `ping`, `goaway`, `priority`, `announce` (ALTSVC and ORIGIN) and `timers` handle the frames and
//! deadlines that they are named for, `close` ends streams and the connection.
//!
//! Invariants: a closed stream is not in `streams`; a stream is in the scheduler exactly while it
//! has bytes to send and its own window allows one; no event follows [`Event::Closed`].

mod announce;
mod close;
mod flow;
mod goaway;
mod head;
mod ping;
mod priority;
mod recv;
mod room;
mod send;
mod settings;
mod timers;

use super::connection_window::{ConnectionWindow, WINDOW_INITIAL};
use super::reset_slots::ResetSlots;
use super::settings::{Settings, initial_window};
use super::stream::{FreeBodies, Incoming, Stream};
use super::stream_ids::StreamIds;
use super::stream_state::StreamState;
use crate::abuse::BodyFrames;
use crate::credit::{BudgetShare, Credit, Quota};
use crate::error::{Closed, TransportEnd, Violation};
use crate::exchange::{
    Framing, H2Ids, OutOfOrder, Received, Sent, Session, StreamTable, framing_parts, session_verbs,
};
use crate::hpack::{Decoder, Encoder};
use crate::http::priority::Priority;
use crate::http::{Event, Side, StreamId};
use crate::limits::{Config, HPACK_TABLE_BYTES_MAX};
use crate::min_rate::MinRate;
use crate::time::{TimerTable, timer_kinds};
use crate::wire::Outbox;
use crate::write_stall::WriteStall;
use recv::{PREFACE, Reader};
use settings::Unacknowledged;
use std::sync::Arc;
use std::time::Instant;

/// How far the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// Server: the client's preface is incomplete.
    Preface,
    /// The peer's first SETTINGS is due.
    Settings,
    /// Frames flow.
    Open,
    /// Over: [`Event::Closed`] was queued.
    Closed,
}

timer_kinds! {
    /// The deadlines of a connection.
    pub(super) enum Timer {
        /// The peer's preface and SETTINGS.
        Preface,
        /// Its acknowledgement of our SETTINGS.
        SettingsAck,
        /// The frame or header block that is incomplete.
        Head,
        /// No exchange is open.
        Idle,
        /// The connection gets old.
        Age,
        /// Server: the second GOAWAY of a drain. Client: the end behind the peer's GOAWAY with an error's code.
        Drain,
        /// The transport takes nothing.
        Write,
        /// The earliest stream that waits for its peer.
        Streams,
        /// The slot of a stream that we reset comes back.
        ResetSlots,
        /// The earliest stream that is granted what was held back, or gives back what it borrowed.
        Windows,
    }
}

/// Counts since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct H2Counts {
    /// Exchanges that were opened, by either side.
    pub exchanges: u64,
    /// Exchanges that ended early.
    pub resets: u64,
    /// Streams answered with REFUSED_STREAM.
    pub refused: u64,
    /// Body bytes that came.
    pub body_bytes_received: u64,
    /// Body bytes that went into DATA frames.
    pub body_bytes_sent: u64,
    /// DATA frames sent.
    pub data_frames_sent: u64,
    /// WINDOW_UPDATE frames sent.
    pub window_updates_sent: u64,
}

/// The state of deadlines that ask for progress.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// The state of [`Timer::Write`].
    pub(super) stall: WriteStall,
    /// Body bytes that had come, modulo 2^32, when [`Timer::Drain`] of a client was set.
    pub(super) received: u32,
}

/// One HTTP/2 connection.
#[derive(Debug)]
pub struct Conn {
    /// State that does not depend on frames.
    pub(super) session: Session,
    pub(super) life: Life,
    pub(super) outbox: Outbox,
    pub(super) reader: Reader,
    pub(super) decoder: Decoder,
    pub(super) encoder: Encoder,
    /// Memory of finished bodies for the next ones; `None` before the first.
    pub(super) free_bodies: Option<Box<FreeBodies>>,
    pub(super) streams: StreamTable<H2Ids, Stream>,
    /// The peer's settings.
    pub(super) peer: Settings,
    pub(super) window: ConnectionWindow,
    pub(super) ids: StreamIds,
    /// Client: streams that we reset and that the peer may still count.
    pub(super) reset_slots: ResetSlots,
    pub(super) timers: TimerTable<Timer>,
    pub(super) seen: Seen,
    pub(super) unacknowledged: Unacknowledged,
}

impl Conn {
    /// A fresh connection. The preface with our SETTINGS and the raised connection window waits in the outbox.
    pub fn new(side: Side, config: Arc<Config>, now: Instant) -> Self {
        let mut conn = Self {
            life: match side {
                Side::Client => Life::Settings,
                Side::Server => Life::Preface,
            },
            outbox: Outbox::new(),
            reader: Reader::default(),
            decoder: Decoder::new(HPACK_TABLE_BYTES_MAX),
            encoder: Encoder::with_table_max(config.limits.encoder_table_bytes_max),
            free_bodies: None,
            streams: StreamTable::new(),
            peer: Settings::default(),
            window: ConnectionWindow::new(),
            ids: StreamIds::new(),
            reset_slots: ResetSlots::default(),
            timers: TimerTable::new(now),
            seen: Seen::default(),
            unacknowledged: Unacknowledged::new(now),
            session: Session::new(side, config, 1, now),
        };
        if side == Side::Client {
            conn.outbox.buffer().extend_from_slice(PREFACE);
        }
        conn.send_settings();
        conn.start_timers(now);
        conn
    }

    /// Lets the windows borrow from a budget that other connections share, in place of one of
    /// `memory_budget` bytes for this connection alone. Call it before the first byte comes.
    #[must_use]
    pub fn with_receive_budget(mut self, budget_share: &BudgetShare) -> Self {
        self.session.share_receive_budget(budget_share);
        self
    }

    /// Server: takes what waits for the client out of a budget that other connections share, in
    /// place of one of `send_budget` bytes for this connection alone. Call it before the first byte
    /// comes.
    #[must_use]
    pub fn with_send_budget(mut self, budget_share: &BudgetShare) -> Self {
        self.session.share_send_budget(budget_share);
        self
    }

    // Bytes and time in.

    /// Takes all of `bytes`; keeps an unparsed tail itself.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        if self.life == Life::Closed {
            return;
        }
        self.read(now, bytes);
        if self.life != Life::Closed {
            self.reset_slots
                .handle_bytes(now, self.session.round_trip());
            self.grant_connection(now);
            self.note_capacity();
        }
    }
    /// Carries out every deadline at or before `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while self.life != Life::Closed {
            let Some(kind) = self.timers.expire(now) else {
                break;
            };
            self.expire(now, kind);
        }
        self.note_capacity();
    }
    /// The transport ended. No body of HTTP/2 is delimited by that, so that `end` decides nothing
    /// but what [`Event::Closed`] says.
    pub fn handle_close(&mut self, now: Instant, end: TransportEnd) {
        let closed = match self.session.drain().peer_code() {
            Some(code) => Closed::ByPeer(code),
            None => Closed::Transport(end),
        };
        self.close(now, closed);
    }

    // Bytes, facts and time out.

    /// Fills the outbox with what may go out now, in priority order, up to about 128 KiB, and
    /// returns it. Write its slices, `advance` it, and call again until it is empty.
    pub fn poll_write(&mut self, now: Instant) -> &mut Outbox {
        if self.life != Life::Closed {
            self.fill(now);
            self.watch_write(now);
        }
        &mut self.outbox
    }
    /// The next fact. A request waits, and what came behind it, while the answers before it are far
    /// beyond the room that the connection has
    /// ([`SEND_AHEAD_BYTES_MAX`](crate::limits::SEND_AHEAD_BYTES_MAX)).
    pub fn poll_event(&mut self) -> Option<Event> {
        let streams = &self.streams;
        let waiting = |id| streams.get(id as u32).map(Stream::queued);
        self.session.poll_event(self.life == Life::Closed, waiting)
    }
    /// When `handle_timeout` is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        match self.life {
            Life::Closed => None,
            _ => self.timers.next(),
        }
    }
    /// The bytes that already wait to be written, without choosing what else may go out now.
    pub fn written(&mut self) -> &mut Outbox {
        &mut self.outbox
    }
    /// False while the driver must not read: too much waits to be written or to be consumed.
    pub fn wants_read(&self) -> bool {
        self.life != Life::Closed
            && self.outbox.len() <= self.session.config().limits.outbox_bytes_max
    }
    /// True when nothing more will be written than what the outbox holds: close after it.
    pub fn is_closed(&self) -> bool {
        self.life == Life::Closed
    }

    // Questions.

    /// Client: how many more exchanges may start now.
    pub fn capacity(&self) -> u32 {
        if self.session.side() == Side::Server || !self.takes_exchanges() {
            return 0;
        }
        let ours = self.session.config().limits.concurrent_streams_max;
        let ceiling = match self.life {
            // The peer's limit is unknown: one stream is always worth a try.
            Life::Settings | Life::Preface => {
                self.session.config().limits.early_streams_max.min(ours)
            }
            _ => ours.min(self.peer.max_concurrent_streams),
        };
        ceiling.saturating_sub(self.active())
    }
    /// Client: the id of the next stream, a client's, which skips those below it (RFC 9113 section
    /// 5.1.1). False: it is even, used or beyond 2^31-1.
    pub fn skip_to(&mut self, id: u32) -> bool {
        self.session.side() == Side::Client && self.ids.skip_to(id)
    }
    /// Client: the id of the next stream.
    pub fn next_stream(&self) -> u32 {
        self.ids.next()
    }
    /// Whether the peer's first SETTINGS has come: before, its limit on streams is unknown.
    pub fn is_limit_known(&self) -> bool {
        matches!(self.life, Life::Open | Life::Closed)
    }
    /// Exchanges that are open, and those we reset that the peer may still count.
    pub fn active(&self) -> u32 {
        self.streams.len() + self.reset_slots.len()
    }
    /// Whether a stream is open, in either direction.
    pub fn is_open(&self, stream: StreamId) -> bool {
        self.live_key(stream).is_ok()
    }
    /// Body bytes that `send_body` takes on this stream before the buffer is full; `SendReady`
    /// follows a 0. `send_body` never refuses for size: this is the back-pressure.
    pub fn send_room(&self, stream: StreamId) -> usize {
        match self
            .live_key(stream)
            .ok()
            .and_then(|key| self.streams.by_key(key))
        {
            Some((_, stream)) if stream.queue.as_ref().is_none_or(|queue| !queue.is_full) => {
                let max = self.queue_max(stream.quota);
                self.session.send_account().room(stream.queued(), max)
            }
            _ => 0,
        }
    }
    /// Bytes of a body that were given and have not left.
    pub fn queued(&self, stream: StreamId) -> usize {
        let open = self.live_key(stream).ok();
        let open = open.and_then(|key| self.streams.by_key(key));
        open.map_or(0, |(_, stream)| stream.queued())
    }
    /// Client: whether the server takes extended CONNECT (RFC 8441 section 3).
    pub fn takes_extended_connect(&self) -> bool {
        self.peer.enable_connect_protocol
    }
    /// Counts for metrics.
    pub fn counts(&self) -> H2Counts {
        let totals = self.session.totals();
        H2Counts {
            exchanges: totals.exchanges,
            resets: totals.resets,
            refused: totals.refused,
            body_bytes_received: totals.body_bytes_received,
            body_bytes_sent: totals.body_bytes_sent,
            data_frames_sent: totals.data_frames_sent,
            window_updates_sent: self.window.updates_sent(),
        }
    }
    // Commands; the others are in `send`, `flow`, `goaway` and `close`.

    /// Server: the handler of this stream is gone (finished or cancelled): it no longer counts
    /// against `running_handlers_max`. Called exactly once per `RequestReceived`. A request whose response is complete and of
    /// which more is to come is asked for no more of it (RFC 9113 section 8.1), unless its end comes soon.
    pub fn handler_done(&mut self, now: Instant, stream: StreamId) {
        self.session.handler_done();
        // Most are over by now.
        if let Ok(key) = self.live_key(stream)
            && let Some((_, open)) = self.streams.by_key_mut(key)
        {
            open.released = true;
            self.watch_unwanted(now, key);
        }
    }
    /// Gives buffers back while the connection idles (an idle connection owns no buffer).
    pub fn release(&mut self) {
        self.outbox.release();
        self.reader.release();
        self.decoder.release();
        self.encoder.release();
        self.streams.release();
        self.session.release();
        self.free_bodies = None;
    }

    // For the files beside this one.

    /// A stream that is idle still, with the peer's window of now.
    pub(super) fn fresh_stream(&self, received: Received, sent: Sent, now: Instant) -> Stream {
        Stream {
            state: StreamState::Idle,
            received,
            sent,
            quota: Quota::new(self.peer.initial_window_size),
            priority: Priority::default(),
            opened_at: now,
            incoming: None,
            queue: None,
            released: false,
            stops: false,
        }
    }
    /// The violations of DATA and HEADERS that are not due: those of the stream.
    pub(super) const OUT_OF_ORDER: OutOfOrder = OutOfOrder {
        data: Violation::DataBeforeHead,
        // RFC 9113 section 8.5.
        headers: Violation::HeadersOnTunnel,
    };
    /// Our window for a body to come.
    pub(super) fn fresh_incoming(&mut self, now: Instant) -> Box<Incoming> {
        let windows = &self.session.config().windows;
        let initial = initial_window(self.session.config());
        let max = if windows.auto { windows.stream_max } else { 0 };
        let mut credit = match windows.threshold {
            Some(left) if !windows.auto => Credit::fixed(initial, left, now),
            _ => Credit::new(initial, max.max(initial), now),
        };
        if !self.unacknowledged.has_preface_settings() {
            // RFC 9113 section 6.9.2: the peer may not have seen that we grant less.
            credit = credit.tolerating(WINDOW_INITIAL);
        }
        let fresh = Incoming {
            credit,
            frames: BodyFrames::default(),
            min_rate: MinRate::new(now, self.session.totals().body_bytes_received),
            is_read: false,
        };
        let spare = self.free_bodies.as_mut();
        match spare.and_then(|spare| spare.incoming.pop()) {
            Some(mut incoming) => {
                *incoming = fresh;
                incoming
            }
            None => Box::new(fresh),
        }
    }
}

session_verbs!(Conn);

impl Framing for Conn {
    framing_parts!(u32, Stream, Timer);

    fn takes_exchanges(&self) -> bool {
        self.life != Life::Closed && self.ids.has_next() && self.session.drain().takes_exchanges()
    }
    fn offers_extended_connect(&self) -> bool {
        self.peer.enable_connect_protocol
    }
    #[inline]
    fn find(&self, stream: StreamId) -> Option<u32> {
        self.streams.key(u32::try_from(stream.0).ok()?)
    }
    fn carried_out(&self) -> u64 {
        self.outbox.written()
    }
    fn end_late(&mut self, now: Instant, id: u32, violation: Violation) -> Result<(), Violation> {
        match self.decline_body(now, id) {
            true => Ok(()),
            false => self.break_stream(now, id, violation),
        }
    }
}
