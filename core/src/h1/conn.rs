//! One HTTP/1.1 connection, client or server: bytes and commands in, bytes and events out.
//!
//! Exchanges are queued in the order of their requests, with consecutive numbers from 1. The first
//! is the one whose response is on the wire. A server parses some requests ahead
//! ([`PIPELINED_REQUESTS_MAX`](crate::limits::PIPELINED_REQUESTS_MAX)); responses may be submitted
//! in any order and go out in the order of the requests (RFC 9112 section 9.3.2).
//!
//! Reading is in `recv`, its read-ahead limit in `flow`, writing in `send`, ends in `end`, and the state
//! that follows (current exchange, end, deadlines) in `advance`.
//!
//! # 100-continue
//!
//! A client that sent `expect: 100-continue` gets its 100 when the server's owner sends it
//! ([`Conn::send_interim`]) or begins to read, with a [`Conn::consume`] of any number of bytes, 0
//! included. A final response before that closes the connection behind it.
//!
//! # Ends
//!
//! A client may close its side behind its requests and still receive the responses
//! ([`Conn::handle_close`]). A client that is gone looks the same until a write fails, so a pending
//! response is waited for no longer than `Timeouts::half_closed`.
//!
//! A request that breaks a rule is answered with the rule's status (`Violation::h1_status`) after
//! the responses before it, then the connection closes. The driver should shut its writing side
//! down and read on for a moment before it closes the socket: closing with unread bytes makes
//! many stacks reset the connection and lose the answer (RFC 9112 section 9.6).
//!
//! The rate of a client's response is its owner's business (`Timeouts::body_idle` guards only
//! request bodies): an event stream may be silent for hours.

mod advance;
mod end;
mod flow;
mod inspect;
mod recv;
mod refuse;
mod request;
mod send;

use super::exchange::Exchange;
use super::parse::HeadScan;
use super::proxy::Proxy;
use super::reuse::CloseReason;
use crate::credit::BudgetShare;
use crate::error::{Closed, TransportEnd};
use crate::http::head::free_list::FreeList;
use crate::http::head::last_head::LastHead;
use crate::http::{Event, Fields, RequestHead, Side, StreamId};
use crate::limits::{Config, SEND_FREE_BYTES, UNREAD_BODY_BYTES_MAX};
use crate::min_rate::Scarcity;
use crate::send_account::SendAccount;
use crate::time::{TimerTable, timer_kinds};
use crate::wire::Outbox;
use crate::write_stall::WriteStall;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// Client: options of one exchange that its head does not give.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// The connection ends behind the exchange, whose head says so. Default false.
    pub closes: bool,
    /// It may be answered late. Nothing goes out behind it before its final head has come, because answers
    /// come in order. Default false.
    pub ends_pipeline: bool,
    /// The target is written in absolute form (RFC 9112 section 3.2.2), of the scheme and the authority of the
    /// head, though the connection does not lead to a known proxy. Default false.
    pub absolute_form: bool,
}

/// One HTTP/1.1 connection.
#[derive(Debug)]
pub struct Conn {
    pub(super) side: Side,
    pub(super) config: Arc<Config>,
    pub(super) outbox: Outbox,
    pub(super) events: VecDeque<Event>,
    /// Open exchanges, numbers consecutive.
    pub(super) exchanges: VecDeque<Exchange>,
    /// The number of the next exchange.
    pub(super) next_id: u64,
    pub(super) receiving: Receiving,
    /// Bytes that were received and not parsed.
    pub(super) tail: Vec<u8>,
    /// Where a rule was broken, and how much of it is whole messages before; see `keep_broken`.
    pub(super) broken: Option<Box<(Bytes, usize)>>,
    /// Parsing stopped though bytes are there: the queue is full or a switch is undecided.
    pub(super) is_paused: bool,
    /// Where body bytes are copied to.
    pub(super) slab: BytesMut,
    /// Server: the last request that may come again.
    pub(super) last_head: LastHead,
    /// Memory of heads to come.
    pub(super) free_list: FreeList,
    /// Body bytes that no owner has consumed.
    pub(super) unread: usize,
    /// Reading stops when this many bytes are unread.
    pub(super) read_ahead: u32,
    /// Bytes of a request body that is read only to be thrown away.
    pub(super) discarded: usize,
    pub(super) timers: TimerTable<Timer>,
    /// The state of the write stall timer.
    pub(super) stall: WriteStall,
    /// Body bytes that came.
    pub(super) received: u64,
    /// The bytes that the outbox had written and `received` together when the rate timer was set.
    pub(super) rate_from: u64,
    /// Bytes that left the outbox.
    pub(super) sent: u64,
    /// The length of the outbox when we last looked.
    pub(super) outbox_len: usize,
    /// Server: what waits for the client, out of the budget of all connections.
    pub(super) send_account: SendAccount,
    /// Server: whether connections are scarce.
    pub(super) scarcity: Scarcity,
    /// Something happened since the last `advance`, whose consequences it is to draw.
    pub(super) unsettled: bool,
    /// The consequences may wait for one attempt to write.
    pub(super) awaits_write: bool,
    /// Client: the capacity its owner knows of.
    pub(super) reported_capacity: u32,
    /// Client: a proxy reads our requests.
    pub(super) proxy: Option<Box<Proxy>>,
    /// Client: of the exchange that is opened next.
    pub(super) open_options: OpenOptions,
    /// No new exchanges.
    pub(super) draining: bool,
    /// Client: the server has said that it processes no request behind the one that it answers.
    pub(super) peer_stops: bool,
    /// Why there is no exchange after the last one in the queue.
    pub(super) last: Option<CloseReason>,
    pub(super) closed: Option<Closed>,
    /// The bytes belong to another protocol now.
    pub(super) switched: bool,
    /// Server: whether the peer still sends.
    pub(super) input: PeerInput,
}

/// Server: whether the peer still sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerInput {
    Open,
    /// It has ended, in order or ragged; some of what it sent may still be to be parsed.
    Ended(TransportEnd),
    /// Everything that it said is parsed; its answers are what is left.
    Concluded,
}

/// The kind of the peer's next bytes.
///
/// ```text
/// Head -> Known | Chunked | UntilClose -> Head
///         Chunked -> Trailers -> Head
/// Head -> AwaitSwitch -> Head | (the machine is done)
/// any  -> Nothing
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) enum Receiving {
    /// A head.
    Head(HeadScan),
    /// Body bytes, `left` of them.
    Known { left: u64 },
    /// The chunked coding.
    Chunked(super::chunked::ChunkDecoder),
    /// The trailer section behind the last chunk.
    Trailers(HeadScan),
    /// Client: body bytes until the connection ends.
    UntilClose,
    /// Server: another protocol or the next request; our response decides.
    AwaitSwitch,
    /// Nothing that matters any more.
    Nothing,
}

timer_kinds! {
    /// The deadlines of a connection.
    pub(super) enum Timer {
        Head,
        BodyIdle,
        Idle,
        WriteStall,
        Rate,
        Age,
        HalfClosed,
    }
}

/// Parsing ahead stops keeping bytes for later at this size, and reading stops with it.
const TAIL_BYTES_MAX: usize = 64 * 1024;

/// Heads whose memory is kept for the next ones.
const FREE_LIST_MAX: usize = 4;

impl Conn {
    /// A fresh connection. Nothing is sent before the first exchange.
    pub fn new(side: Side, config: Arc<Config>, now: Instant) -> Self {
        let mut conn = Self {
            side,
            outbox: Outbox::new(),
            events: VecDeque::new(),
            exchanges: VecDeque::new(),
            next_id: 1,
            receiving: Receiving::Head(HeadScan::default()),
            tail: Vec::new(),
            broken: None,
            is_paused: false,
            slab: BytesMut::new(),
            last_head: LastHead::default(),
            free_list: FreeList::default(),
            unread: 0,
            read_ahead: UNREAD_BODY_BYTES_MAX as u32,
            discarded: 0,
            timers: TimerTable::new(now),
            stall: WriteStall::default(),
            received: 0,
            rate_from: 0,
            sent: 0,
            outbox_len: 0,
            scarcity: Scarcity::default(),
            send_account: SendAccount::own(config.windows.send_budget),
            unsettled: true,
            awaits_write: false,
            reported_capacity: 0,
            proxy: None,
            open_options: OpenOptions::default(),
            draining: false,
            peer_stops: false,
            last: None,
            closed: None,
            switched: false,
            input: PeerInput::Open,
            config,
        };
        if let Some(age) = conn.config.timeouts.age_max {
            conn.timers.set(Timer::Age, now + age);
        }
        conn.set_timers(now);
        conn.reported_capacity = conn.capacity();
        conn
    }

    /// Server: sets the flag by which the owner marks connections as scarce.
    #[must_use]
    pub fn with_scarcity(mut self, scarcity: &Scarcity) -> Self {
        self.scarcity = scarcity.clone();
        self
    }

    /// Server: the flag that [`with_scarcity`](Self::with_scarcity) set, for bytes of another protocol behind this one.
    pub fn scarcity(&self) -> &Scarcity {
        &self.scarcity
    }

    /// Server: takes what waits for the client out of a budget that other connections share, in
    /// place of one of `send_budget` bytes for this connection alone. Call it before the first byte
    /// comes.
    #[must_use]
    pub fn with_send_budget(mut self, budget_share: &BudgetShare) -> Self {
        self.send_account = SendAccount::shared(budget_share);
        self
    }

    /// Client: the connection leads to a proxy that forwards requests, so that every target is
    /// in absolute form (RFC 9112 section 3.2.2).
    #[must_use]
    pub fn through(mut self, proxy: Proxy) -> Self {
        self.proxy = Some(Box::new(proxy));
        self
    }

    /// Client: sets the options of the next [`open`](Self::open). An `open` that is refused uses them up too.
    pub fn set_open_options(&mut self, options: OpenOptions) {
        self.open_options = options;
    }

    // Facts and time out.

    /// The bytes that may go out now. Write its slices, `advance` it, and call again until it is
    /// empty: the call is also how the machine learns what was written. Where nothing can be written, call it once more
    /// before the deadline is asked for.
    pub fn poll_write(&mut self, now: Instant) -> &mut Outbox {
        let awaits_write = std::mem::take(&mut self.awaits_write);
        if awaits_write && !self.outbox.is_empty() && self.outbox.len() == self.outbox_len {
            return &mut self.outbox;
        }
        if self.unsettled || self.outbox.len() != self.outbox_len {
            self.advance(now);
        }
        &mut self.outbox
    }
    /// The next fact.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    /// When `handle_timeout` is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.next()
    }
    /// The bytes that already wait to be written, without choosing what else may go out now.
    pub fn written(&mut self) -> &mut Outbox {
        &mut self.outbox
    }
    /// False while the driver must not read: too many bytes wait to be written, consumed or parsed.
    /// A client's outgoing bytes do not count: a server may answer while it reads, and would wait
    /// for us as we for it.
    pub fn wants_read(&self) -> bool {
        !self.is_inert()
            && (self.side == Side::Client
                || self.outbox.len() < self.config.limits.outbox_bytes_max)
            && self.unread < self.read_ahead as usize
            && !(self.is_paused && self.tail.len() >= TAIL_BYTES_MAX)
    }
    /// Server: the peer has ended its side, all that it sent is parsed, and responses are due.
    pub fn has_concluded_input(&self) -> bool {
        self.input == PeerInput::Concluded && !self.is_closed()
    }
    /// True when nothing more will be written than what the outbox holds: close after it.
    pub fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    // Questions.

    /// Which end of the connection it is.
    pub fn side(&self) -> Side {
        self.side
    }
    /// Client: how many more exchanges may start now. `Limits::pipelining` less what is open, and
    /// 0 while a request is being sent, or behind one that must not be pipelined behind: a
    /// request that may switch protocols, or one that is not answered and may not be repeated (RFC 9112 section
    /// 9.3.2) or was opened with [`OpenOptions::ends_pipeline`].
    pub fn capacity(&self) -> u32 {
        use super::exchange::Sending;
        let over = self.is_inert() || self.draining || self.last.is_some();
        if self.side == Side::Server || over {
            return 0;
        }
        let blocks = |open: &Exchange| {
            open.sending != Sending::Done
                || open.upgrade
                || (open.blocks || !open.repeatable) && !open.answered
        };
        if self.exchanges.iter().any(blocks) {
            return 0;
        }
        let limit = u64::from(self.config.limits.pipelining);
        let served = self.next_id - 1;
        let left = self
            .config
            .limits
            .requests_per_connection_max
            .saturating_sub(served);
        limit.saturating_sub(self.exchanges.len() as u64).min(left) as u32
    }
    /// Exchanges that are open.
    pub fn active(&self) -> u32 {
        self.exchanges.iter().filter(|open| !open.silent).count() as u32
    }
    /// Body bytes that `send_body` takes on this stream before the buffer is full; `SendReady`
    /// follows a 0. `send_body` never refuses for size: this is the back-pressure.
    pub fn send_room(&self, stream: StreamId) -> usize {
        let Some(index) = self.index_of(stream) else {
            return 0;
        };
        let waiting = if index == 0 || self.side == Side::Client {
            self.outbox.len()
        } else {
            self.exchanges[index].queued.len()
        };
        self.room_max(index).saturating_sub(waiting)
    }
    /// Bytes of an exchange that may wait. The first one may write, whatever those behind it hold.
    pub(super) fn room_max(&self, index: usize) -> usize {
        let max = self.config.limits.send_buffer_bytes_max;
        match (self.send_account.is_exhausted(), index) {
            (false, _) => max,
            (true, 0) => max.min(SEND_FREE_BYTES as usize),
            (true, _) => 0,
        }
    }
    /// Why the connection takes no exchange after those that are open, if it does not.
    pub fn close_reason(&self) -> Option<CloseReason> {
        let drains = self.draining.then_some(CloseReason::ShutDown);
        self.last.or(drains)
    }

    // Memory.

    /// Gives the memory of a head that the owner has read back for the next one.
    pub fn recycle(&mut self, fields: Fields) {
        self.free_list.keep_section(fields, FREE_LIST_MAX);
    }
    /// Gives a request head of this connection back that the owner has read: costs less than its
    /// memory alone, where the same one comes again.
    pub fn recycle_head(&mut self, head: RequestHead) {
        self.free_list.keep_head(head, FREE_LIST_MAX);
    }
    /// Gives buffers back while the connection idles (an idle connection owns no buffer).
    pub fn release(&mut self) {
        if self.exchanges.is_empty() && self.events.is_empty() {
            self.outbox.release();
            self.slab = BytesMut::new();
            self.last_head.release();
            self.free_list = FreeList::default();
            self.events = VecDeque::new();
            self.exchanges = VecDeque::new();
            self.tail.shrink_to_fit();
        }
    }

    // Shared by the parts.

    /// Whether nothing is handled any more.
    pub(super) fn is_inert(&self) -> bool {
        self.closed.is_some() || self.switched
    }
    pub(super) fn index_of(&self, stream: StreamId) -> Option<usize> {
        let first = self.exchanges.front()?.id.0;
        let index = usize::try_from(stream.0.checked_sub(first)?).ok()?;
        (index < self.exchanges.len()).then_some(index)
    }
    /// Bytes that wait for the peer.
    pub(super) fn waiting(&self) -> usize {
        let queued = self.exchanges.iter().map(|open| open.queued.len());
        self.outbox.len() + queued.sum::<usize>()
    }
    /// Server: so much waits for the client that its next request waits too. Pipelined requests for
    /// answers that are given whole would else make us hold as many as fit what was read at once.
    pub(super) fn is_backed_up(&self) -> bool {
        self.side == Side::Server && self.waiting() >= self.config.limits.outbox_bytes_max
    }
    /// Learns what the driver has written since the last call.
    pub(super) fn enter(&mut self) {
        let len = self.outbox.len();
        self.sent += self.outbox_len.saturating_sub(len) as u64;
        self.outbox_len = len;
    }
}

#[cfg(test)]
mod end_test;
#[cfg(test)]
mod refused_test;
#[cfg(test)]
mod tests;
