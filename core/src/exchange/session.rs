//! State of one connection that does not depend on how exchanges are framed: events for the owner,
//! memory of heads, budgets, counts and what is known of the path.
//!
//! Invariant: body bytes become an event before any other event that comes after them.

use super::drain::Drain;
use crate::abuse::Abuse;
use crate::credit::{BdpHistory, BudgetShare};
use crate::error::{H2Code, Violation};
use crate::http::body::slab::BodySlab;
use crate::http::head::free_list::FreeList;
use crate::http::head::last_head::LastHead;
use crate::http::priority::Priority;
use crate::http::priority::schedule::Schedule;
use crate::http::{Event, Fields, RequestHead, Side, StreamId, Version};
use crate::limits::{Config, REFUSED_NOTES_MAX};
use crate::min_rate::Scarcity;
use crate::send_account::SendAccount;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Heads whose memory is kept for the next ones: those of one full batch.
const FREE_HEADS_MAX: usize = 128;

/// Counts since the connection began, of what every framing has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionTotals {
    /// Exchanges that were opened, by either side.
    pub(crate) exchanges: u64,
    /// Exchanges that ended early.
    pub(crate) resets: u64,
    /// Requests that were refused unprocessed.
    pub(crate) refused: u64,
    /// Body bytes that came.
    pub(crate) body_bytes_received: u64,
    /// Body bytes that went into DATA frames.
    pub(crate) body_bytes_sent: u64,
    /// DATA frames sent.
    pub(crate) data_frames_sent: u64,
}

/// Which end of the connection this is, with what only that end counts.
#[derive(Clone, Copy, Debug)]
enum Role {
    Client {
        /// The capacity that the owner knows.
        capacity_announced: u32,
    },
    Server {
        /// Handlers that run, those of reset streams included.
        handlers: u32,
    },
}

/// Priorities of streams that have not come, by their ids (RFC 9218 section 7).
#[derive(Debug, Default)]
struct EarlyPriorities(BTreeMap<u64, Priority>);

/// State of one connection that is alike in HTTP/2 and HTTP/3.
#[derive(Debug)]
pub(crate) struct Session {
    role: Role,
    config: Arc<Config>,
    events: VecDeque<Event>,
    /// Body bytes that no event holds yet.
    body: BodySlab,
    /// Server: the last request that may come again.
    last_head: LastHead,
    /// Memory of heads that the owner gave back.
    free_list: FreeList,
    /// Streams with bytes to send, in the order of RFC 9218.
    schedule: Schedule,
    /// Server: made with the first; few clients send any.
    early_priorities: Option<Box<EarlyPriorities>>,
    drain: Drain,
    /// This connection's share of the memory for received bytes.
    receive_budget: BudgetShare,
    /// Server: this connection's share of the memory for bytes that wait for the client.
    send_account: SendAccount,
    /// Bytes in the queues of all streams.
    queued: usize,
    /// Server: whether connections are scarce.
    scarcity: Scarcity,
    /// Server: rules that requests broke which became no exchange, for metrics.
    refused: Vec<Violation>,
    /// The receive windows that the path has needed recently.
    path: BdpHistory,
    round_trip: Option<Duration>,
    abuse: Abuse,
    totals: SessionTotals,
}

impl Session {
    /// A fresh connection; `capacity`: what its owner takes for granted.
    pub(crate) fn new(side: Side, config: Arc<Config>, capacity: u32, now: Instant) -> Self {
        let role = match side {
            Side::Client => Role::Client {
                capacity_announced: capacity,
            },
            Side::Server => Role::Server { handlers: 0 },
        };
        Self {
            role,
            events: VecDeque::new(),
            body: BodySlab::default(),
            last_head: LastHead::default(),
            free_list: FreeList::default(),
            schedule: Schedule::new(),
            early_priorities: None,
            drain: Drain::new(),
            receive_budget: BudgetShare::new(config.windows.memory_budget),
            send_account: SendAccount::own(config.windows.send_budget),
            queued: 0,
            scarcity: Scarcity::default(),
            refused: Vec::new(),
            path: BdpHistory::new(now),
            round_trip: None,
            abuse: Abuse::new(&config.limits),
            totals: SessionTotals::default(),
            config,
        }
    }
    /// Goes on from a connection whose streams were all forgotten, with what is not of streams:
    /// events, budget, path and counts.
    pub(crate) fn resume(&mut self, before: Self) {
        self.events = before.events;
        self.receive_budget = before.receive_budget;
        self.path = before.path;
        self.round_trip = before.round_trip;
        self.totals = before.totals;
        self.role = before.role;
        self.drain = before.drain;
    }
    /// Gives memory back while the connection idles.
    pub(crate) fn release(&mut self) {
        self.schedule.release();
        self.body.release();
        self.last_head.release();
        self.refused.shrink_to_fit();
        self.free_list = FreeList::default();
        if self.events.is_empty() {
            self.events = VecDeque::new();
        }
    }

    // Settings.

    #[inline]
    pub(crate) fn side(&self) -> Side {
        match self.role {
            Role::Client { .. } => Side::Client,
            Role::Server { .. } => Side::Server,
        }
    }
    #[inline]
    pub(crate) fn is_server(&self) -> bool {
        matches!(self.role, Role::Server { .. })
    }
    #[inline]
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
    /// The settings, for this connection to change its own.
    pub(crate) fn config_mut(&mut self) -> &mut Config {
        Arc::make_mut(&mut self.config)
    }
    /// The settings for a connection in place of this one.
    pub(crate) fn shared_config(&self) -> Arc<Config> {
        Arc::clone(&self.config)
    }

    // Events.

    /// Queues an event, behind the body bytes before it.
    #[inline]
    pub(crate) fn push_event(&mut self, event: Event) {
        self.body.close(&mut self.events);
        self.events.push_back(event);
    }
    /// Body bytes came for the owner.
    #[inline]
    pub(crate) fn push_body(&mut self, stream: StreamId, bytes: &[u8]) {
        self.body.push(stream, bytes, &mut self.events);
    }
    /// The body of a stream is complete.
    #[inline]
    pub(crate) fn end_body(&mut self, stream: StreamId) {
        self.body.end(stream, &mut self.events);
    }
    /// Makes an event of the body bytes so far.
    #[inline]
    pub(crate) fn close_body(&mut self) {
        self.body.close(&mut self.events);
    }
    /// The next event. On a connection that is not closed a request may wait, with all behind it, while
    /// the answers before it are far beyond the send budget. `waiting`: the bytes that wait on a stream; `None`: it is over.
    #[inline]
    pub(crate) fn poll_event(
        &mut self,
        is_closed: bool,
        waiting: impl Fn(u64) -> Option<usize>,
    ) -> Option<Event> {
        if self.send_account.is_overrun()
            && !is_closed
            && let Some(Event::RequestReceived { stream, .. }) = self.events.front()
            && !self.send_account.begins_beyond(stream.0, waiting)
        {
            return None;
        }
        if self.events.is_empty() {
            // Not before: bytes of several reads become one event.
            self.body.close(&mut self.events);
        }
        self.events.pop_front()
    }

    // Heads.

    /// Memory for the fields of a section.
    #[inline]
    pub(crate) fn fields(&mut self) -> Fields {
        self.free_list.section()
    }
    /// The request head that `section` is, if it is the last one again in the same state (`stamp`)
    /// of the table.
    #[inline]
    pub(crate) fn find_head(&mut self, section: &[u8], stamp: u64) -> Option<RequestHead> {
        let Self {
            last_head,
            free_list,
            ..
        } = self;
        let known = last_head.find(section, stamp)?;
        Some(known.again(free_list.head()))
    }
    /// The request head that these fields are.
    #[inline]
    pub(crate) fn request_head(
        &mut self,
        fields: Fields,
        version: Version,
    ) -> Result<RequestHead, Violation> {
        let mut head = RequestHead::received_in(self.free_list.head(), fields, version, true)?;
        self.last_head.number_fields(&mut head);
        Ok(head)
    }
    /// Whether the next head is worth keeping with [`keep_head`](Self::keep_head): a connection with
    /// one exchange pays nothing for a second.
    #[inline]
    pub(crate) fn is_head_due(&mut self) -> bool {
        self.totals.exchanges > 0 && self.last_head.is_due()
    }
    /// Keeps a head for [`find_head`](Self::find_head).
    pub(crate) fn keep_head(
        &mut self,
        section: &[u8],
        stamp: u64,
        head: &RequestHead,
        version: Version,
    ) {
        self.last_head.keep(section, stamp, head, version);
    }
    /// Takes the memory of a section back.
    #[inline]
    pub(crate) fn recycle(&mut self, fields: Fields) {
        self.free_list.keep_section(fields, FREE_HEADS_MAX);
    }
    /// Takes a request head back.
    #[inline]
    pub(crate) fn recycle_head(&mut self, head: RequestHead) {
        self.free_list.keep_head(head, FREE_HEADS_MAX);
    }

    // Budgets, and the path.

    /// This connection's share of the memory for received bytes.
    #[inline]
    pub(crate) fn receive_budget(&mut self) -> &mut BudgetShare {
        &mut self.receive_budget
    }
    /// A quarter of what is left of it: the most that one guess may take.
    pub(crate) fn receive_budget_quarter(&self) -> u32 {
        u32::try_from(self.receive_budget.left() / 4).unwrap_or(u32::MAX)
    }
    /// Takes received bytes out of a budget that other connections share.
    pub(crate) fn share_receive_budget(&mut self, budget: &BudgetShare) {
        self.receive_budget = budget.share();
    }
    /// Takes bytes to send out of a budget that other connections share.
    pub(crate) fn share_send_budget(&mut self, budget: &BudgetShare) {
        self.send_account = SendAccount::shared(budget);
    }
    #[inline]
    pub(crate) fn send_account(&self) -> &SendAccount {
        &self.send_account
    }
    #[inline]
    pub(crate) fn send_account_mut(&mut self) -> &mut SendAccount {
        &mut self.send_account
    }
    /// Bytes of bodies that wait on the streams.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// `bytes` were queued on a stream.
    #[inline]
    pub(crate) fn note_queued(&mut self, bytes: usize) {
        self.queued += bytes;
    }
    /// `bytes` left the queue of a stream.
    #[inline]
    pub(crate) fn note_unqueued(&mut self, bytes: usize) {
        self.queued -= bytes;
    }
    /// Server: counts what waits for the client, `framed` bytes of it outside the queues. True: there
    /// is room again where there was none.
    #[inline]
    pub(crate) fn account_for_waiting(&mut self, framed: usize) -> bool {
        self.is_server() && self.send_account.follow(self.queued + framed)
    }
    #[inline]
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }
    #[inline]
    pub(crate) fn schedule_mut(&mut self) -> &mut Schedule {
        &mut self.schedule
    }
    /// Follows whether connections are scarce, as the owner of all knows.
    pub(crate) fn follow_scarcity(&mut self, scarcity: &Scarcity) {
        self.scarcity = scarcity.clone();
    }
    pub(crate) fn is_scarce(&self) -> bool {
        self.scarcity.is_set()
    }
    /// Whether connections or the send budget are scarce.
    pub(crate) fn is_scarce_to_send(&self) -> bool {
        self.is_scarce() || self.send_account.is_scarce()
    }
    #[inline]
    pub(crate) fn path(&self) -> &BdpHistory {
        &self.path
    }
    pub(crate) fn path_mut(&mut self) -> &mut BdpHistory {
        &mut self.path
    }
    #[inline]
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }
    pub(crate) fn set_round_trip(&mut self, round_trip: Duration) {
        self.round_trip = Some(round_trip);
    }

    /// Server: a PRIORITY_UPDATE came before its request. Streams below `next` have come or were
    /// skipped, so that none of them is waited for. How many are kept: the caller bounds it.
    pub(crate) fn keep_priority(&mut self, stream: u64, next: u64, priority: Priority) {
        let early = &mut self.early_priorities.get_or_insert_default().0;
        while let Some(entry) = early.first_entry()
            && *entry.key() < next
        {
            entry.remove();
        }
        early.insert(stream, priority);
    }
    /// Server: the priority that came before its request, which wins over the request's field.
    #[inline]
    pub(crate) fn take_priority(&mut self, stream: u64) -> Option<Priority> {
        self.early_priorities.as_mut()?.0.remove(&stream)
    }
    pub(crate) fn early_priorities(&self) -> usize {
        self.early_priorities
            .as_ref()
            .map_or(0, |early| early.0.len())
    }
    /// The orderly end of the connection.
    #[inline]
    pub(crate) fn drain(&self) -> &Drain {
        &self.drain
    }
    pub(crate) fn drain_mut(&mut self) -> &mut Drain {
        &mut self.drain
    }
    /// The peer's GOAWAY gives up the streams from `first` on. The first one is an event for a
    /// client's owner; with `frame_events` for any owner, and with `each` so are the later ones.
    ///
    /// # Errors
    /// [`Violation::GoawayIdIncreased`].
    pub(crate) fn take_goaway(
        &mut self,
        first: u64,
        (code, last): (H2Code, StreamId),
        debug: &[u8],
        each: bool,
    ) -> Result<(), Violation> {
        let is_first = self.drain.take_goaway(first, code)?;
        let is_wanted = self.config.frame_events || is_first && !self.is_server();
        if is_wanted && (is_first || each) {
            let debug = Bytes::copy_from_slice(debug);
            self.push_event(Event::GoingAway { code, last, debug });
        }
        Ok(())
    }

    // The peer's conduct.

    #[inline]
    pub(crate) fn abuse(&self) -> &Abuse {
        &self.abuse
    }
    #[inline]
    pub(crate) fn abuse_mut(&mut self) -> &mut Abuse {
        &mut self.abuse
    }
    /// Server: a request broke a rule and became no exchange. With
    /// [`REFUSED_NOTES_MAX`] unread ones it is dropped.
    pub(crate) fn note_refused(&mut self, violation: Violation) {
        if self.refused.len() < REFUSED_NOTES_MAX {
            self.refused.push(violation);
        }
    }
    pub(crate) fn poll_refused(&mut self) -> Option<Violation> {
        self.refused.pop()
    }

    // Exchanges.

    /// Client: an exchange was opened, `capacity` more may be.
    #[inline]
    pub(crate) fn opened(&mut self, capacity: u32) {
        self.totals.exchanges += 1;
        self.role = Role::Client {
            capacity_announced: capacity,
        };
    }
    /// Server: a request became an exchange. True: it is the last that this connection takes.
    #[inline]
    pub(crate) fn accepted(&mut self) -> bool {
        if let Role::Server { handlers } = &mut self.role {
            *handlers += 1;
        }
        self.totals.exchanges += 1;
        self.totals.exchanges >= self.config.limits.requests_per_connection_max
    }
    /// Server: a handler is gone.
    #[inline]
    pub(crate) fn handler_done(&mut self) {
        debug_assert!(self.handlers() > 0, "handler_done without RequestReceived");
        if let Role::Server { handlers } = &mut self.role {
            *handlers = handlers.saturating_sub(1);
        }
    }
    #[inline]
    pub(crate) fn handlers(&self) -> u32 {
        match self.role {
            Role::Server { handlers } => handlers,
            Role::Client { .. } => 0,
        }
    }
    #[inline]
    pub(crate) fn totals(&self) -> &SessionTotals {
        &self.totals
    }
    #[inline]
    pub(crate) fn totals_mut(&mut self) -> &mut SessionTotals {
        &mut self.totals
    }
    /// Body bytes went out in a DATA frame.
    #[inline]
    pub(crate) fn note_frame_sent(&mut self, bytes: usize) {
        self.note_data_sent(1, bytes as u64);
        self.abuse.data_sent();
    }
    /// Body bytes went out in `frames` DATA frames.
    #[inline]
    pub(crate) fn note_data_sent(&mut self, frames: u64, bytes: u64) {
        self.totals.data_frames_sent += frames;
        self.totals.body_bytes_sent += bytes;
    }
    /// Client: announces the capacity if the owner knows another.
    #[inline]
    pub(crate) fn announce_capacity(&mut self, capacity: u32) {
        if let Role::Client { capacity_announced } = &mut self.role
            && *capacity_announced != capacity
        {
            *capacity_announced = capacity;
            self.push_event(Event::CapacityChanged);
        }
    }
}
