//! Dispatch: decides which request starts on which connection, from capacities alone, without
//! knowing a version.
//!
//! The queue belongs to the origin, not to a connection: a request waits until any connection has
//! room. An origin of unknown version opens one attempt and remembers the version. A failed attempt
//! fails, at once and together, all requests that no other connection or attempt can serve.

mod action;
mod config;
mod connection;
mod dispatch;
mod origin;
mod retry;
mod slab;
mod stats;
mod turn;

#[cfg(test)]
mod attempt_test;
#[cfg(test)]
mod pool_random_test;
#[cfg(test)]
mod pool_test;
#[cfg(test)]
mod retry_test;

pub use action::{Action, Failure, FailureScope};
pub use config::{
    CONNECTIONS_MAX, CONNECTIONS_MULTIPLEXED_MAX, ORIGINS_MAX, PoolConfig, SOCKETS_MAX,
    WAITING_MAX, WARM_TIME,
};
pub use connection::capacity::{Capacity, Multiplexing, Standing};
pub use connection::gate::{Gate, UNSETTLED_EXCHANGES};
pub use connection::health::{Health, HealthAction, HealthTimes, Unanswered};
pub use dispatch::decide::{Decision, OriginView, WaitReason, decide};
pub use dispatch::queue::{PriorityClass, Rank, Ticket, WaitLimit};
pub use origin::alt_svc::{AltSvc, Alternatives, QUIC_HEAD_START};
pub use origin::race::*;
pub use origin::{Origin, Protocols, Scheme};
pub use retry::{
    Cause, Loss, NoRetry, RETRIES_MAX, RETRY_BURST, RETRY_PAUSE, RETRY_PERCENT, Retry, RetryBudget,
    RetryClass, classify,
};
pub use stats::{OriginStats, Totals, Wait};
pub use turn::returns::Return;

use connection::{Connection, jitter_per_mille};
use dispatch::queue::{Entrance, Queue, QueueEnd};
use origin::state::{OriginState, PoolBounds};
use slab::{Key, Slab};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

/// Names an origin of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OriginId(Key);
/// Names a connection of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(Key);

impl ConnectionId {
    /// A number that no other connection of the pool ever has.
    pub fn number(self) -> u64 {
        self.0.number()
    }
}

/// Names an attempt of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId(Key);

#[derive(Debug)]
struct Attempt {
    origin: Key,
    began: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    BackOff(Key),
    Probe(Key),
    Request(Ticket),
    Return(Ticket),
    /// A connection whose life should be over by now.
    Spent(Key),
    Warm(Key),
    /// A default bound that requests wait at.
    Growth(Key),
}

/// All origins of one client. `R` is a request on its way through.
#[derive(Debug)]
pub struct Pool<R> {
    config: PoolConfig,
    by_origin: BTreeMap<Origin, Key>,
    origins: Slab<OriginState>,
    connections: Slab<Connection>,
    attempts: Slab<Attempt>,
    queue: Queue<R>,
    actions: VecDeque<Action<R>>,
    /// Entries of requests that have left the line stay until they are due or too many.
    deadlines: BinaryHeap<Reverse<(Instant, Due)>>,
    /// When the connections are looked through for those whose time is up; sometimes early.
    upkeep_at: Option<Instant>,
    /// Origins that found the bound on sockets reached.
    socket_waiters: VecDeque<Key>,
    shut_down: bool,
    totals: Totals,
}

impl<R> Pool<R> {
    /// An empty pool.
    pub fn new(config: PoolConfig) -> Self {
        Self {
            config,
            by_origin: BTreeMap::new(),
            origins: Slab::default(),
            connections: Slab::default(),
            attempts: Slab::default(),
            queue: Queue::default(),
            actions: VecDeque::new(),
            deadlines: BinaryHeap::new(),
            upkeep_at: None,
            socket_waiters: VecDeque::new(),
            shut_down: false,
            totals: Totals::default(),
        }
    }

    /// The pool's settings.
    pub fn config(&self) -> &PoolConfig {
        &self.config
    }

    /// HTTP/1.1's exchanges in flight on one connection, from the next connection on.
    pub fn set_pipelining(&mut self, pipelining: u32) {
        self.config.pipelining = pipelining.max(1);
    }

    /// The id of an origin; valid while anything is open, coming or waiting there, and until the
    /// next call otherwise.
    pub fn origin_id(&mut self, origin: &Origin) -> OriginId {
        if let Some(&key) = self.by_origin.get(origin) {
            return OriginId(key);
        }
        if self.origins.len() >= ORIGINS_MAX {
            self.forget_idle_origins();
        }
        let key = self.origins.insert(OriginState::new(origin.clone()));
        self.by_origin.insert(origin.clone(), key);
        OriginId(key)
    }

    /// The origin behind an id.
    pub fn origin(&self, id: OriginId) -> Option<&Origin> {
        self.origins.get(id.0).map(|state| &state.origin)
    }

    /// The origin behind an id, as a connection to it is to be made now.
    pub fn origin_to_open(&self, now: Instant, id: OriginId) -> Option<Origin> {
        let state = self.origins.get(id.0)?;
        let mut origin = state.origin.clone();
        if state.is_pinned_h1(now) {
            origin.protocols = Protocols::H1Only;
        }
        Some(origin)
    }

    /// Hands a request in. The ticket cancels it while it waits; `None`: it does not wait.
    pub fn submit(
        &mut self,
        now: Instant,
        origin: &Origin,
        request: R,
        limit: impl Into<WaitLimit>,
    ) -> Option<Ticket> {
        self.submit_ranked(now, origin, request, limit, Rank::default(), false)
    }

    /// Hands a request in that has its own rank. `alone`: it is not pipelined behind requests that
    /// are not answered yet (RFC 9112 section 9.3.2), so that a connection that multiplexes nothing
    /// takes it only while it is idle.
    pub fn submit_ranked(
        &mut self,
        now: Instant,
        origin: &Origin,
        request: R,
        limit: impl Into<WaitLimit>,
        rank: Rank,
        alone: bool,
    ) -> Option<Ticket> {
        let OriginId(key) = self.origin_id(origin);
        if let Some(state) = self.origins.get_mut(key) {
            state.retries.earn();
        }
        let entrance = Entrance {
            request,
            origin: key,
            rank,
            since: now,
            limit: limit.into(),
            avoid: None,
            alone,
            end: QueueEnd::Back,
        };
        self.enter(now, entrance)
    }

    /// Hands in again what was never sent on the connection it was dispatched to: it goes to the
    /// front of the line and prefers another connection. For everything else:
    /// [`give_back`](Self::give_back).
    pub fn resubmit(
        &mut self,
        now: Instant,
        origin: &Origin,
        request: R,
        limit: impl Into<WaitLimit>,
        avoid: ConnectionId,
    ) -> Option<Ticket> {
        let OriginId(key) = self.origin_id(origin);
        let entrance = Entrance {
            request,
            origin: key,
            rank: Rank::default(),
            since: now,
            limit: limit.into(),
            avoid: Some(avoid.0),
            // Its cause is not known here.
            alone: true,
            end: QueueEnd::Front,
        };
        self.enter(now, entrance)
    }

    /// Takes a waiting request out of the line. `None`: it does not wait any more.
    pub fn cancel(&mut self, now: Instant, ticket: Ticket) -> Option<R> {
        let (key, request) = self.take_waiting(ticket)?;
        // The one behind may be the first that a connection has room for.
        self.pump(now, key);
        Some(request)
    }

    /// An attempt has become a connection. Its first report says what it carries.
    pub fn handle_connected(
        &mut self,
        now: Instant,
        attempt: AttemptId,
        multiplexing: Multiplexing,
        capacity: Capacity,
    ) -> Option<ConnectionId> {
        let Attempt { origin, .. } = self.attempts.remove(attempt.0)?;
        let state = self.origins.get_mut(origin)?;
        state.attempts -= 1;
        state.connections += 1;
        state.learn(now, multiplexing);
        let mut gate = Gate::new(capacity, state.limit_hint(now));
        gate.set_lifetime(state.lifetime.believed());
        if self.config.requests_max.is_some() && multiplexing == Multiplexing::No {
            gate.pass_one_by_one();
        }
        let is_unwanted = state.is_pinned_h1(now) && multiplexing == Multiplexing::Yes;
        self.totals.connections += 1;
        let mut connection = Connection::new(origin, gate, multiplexing, now);
        connection.jitter_per_mille = jitter_per_mille(self.config.seed, self.totals.connections);
        let key = self.connections.insert(connection);
        self.file_report(now, key, capacity);
        if let Some(age) = self.config.age_max {
            // Sooner than the look that an idle connection asks for, perhaps.
            self.upkeep_at = self.upkeep_at.into_iter().chain([now + age / 2]).min();
        }
        if self.shut_down {
            self.actions.push_back(Action::Close {
                connection: ConnectionId(key),
                idle: false,
            });
        } else if is_unwanted {
            self.retire(now, key);
        }
        self.pump(now, origin);
        self.make_room(now);
        Some(ConnectionId(key))
    }

    /// A connection's report after a turn.
    pub fn handle_capacity(&mut self, now: Instant, connection: ConnectionId, capacity: Capacity) {
        if let Some(origin) = self.file_report(now, connection.0, capacity) {
            self.pump(now, origin);
            self.make_room(now);
        }
    }

    /// A connection measured its path.
    pub fn handle_round_trip(&mut self, connection: ConnectionId, round_trip: Duration) {
        if let Some(connection) = self.connections.get(connection.0)
            && let Some(state) = self.origins.get_mut(connection.origin)
        {
            state.learn_round_trip(round_trip);
        }
    }

    /// A connection has seen how large a receive window its path needs, in bytes (0: nothing was
    /// seen). Connections that are opened later begin with it.
    pub fn handle_path_need(&mut self, now: Instant, connection: ConnectionId, need: u32) {
        if let Some(connection) = self.connections.get(connection.0)
            && let Some(state) = self.origins.get_mut(connection.origin)
        {
            state.learn_path_need(now, need);
        }
    }

    /// The network changed: attempts that failed over the old one hold nothing back, and its paths
    /// say nothing of the new one's.
    pub fn handle_network_change(&mut self, now: Instant) {
        let origins: Vec<Key> = self.origins.iter().map(|(key, _)| key).collect();
        for origin in origins {
            if let Some(state) = self.origins.get_mut(origin) {
                state.forgive();
                state.forget_round_trip();
            }
            self.pump(now, origin);
        }
    }

    /// An attempt failed. Requests without a connection or another attempt fail now: the evidence
    /// is as fresh as it gets, and retrying one by one would make a dead host cost its timeout once
    /// per request. Suspect connections count only behind an attempt that failed at once, as on a
    /// path that is gone for a moment. `scope` says where that is another rule.
    pub fn handle_attempt_failed(&mut self, now: Instant, attempt: AttemptId, scope: FailureScope) {
        let Some(Attempt { origin, began }) = self.attempts.remove(attempt.0) else {
            return;
        };
        let Some(state) = self.origins.get_mut(origin) else {
            return;
        };
        state.attempts -= 1;
        if scope != FailureScope::All {
            // Attempts that are left are for as many requests.
            let is_for_next = state.origin_queue.len() > state.attempts;
            if scope == FailureScope::Next && is_for_next {
                self.fail_next(origin, Failure::AttemptFailed);
            }
            self.pump(now, origin);
            return self.wake_socket_waiters(now);
        }
        let is_asking = state.multiplexing(now).is_none();
        let lasted = now.saturating_duration_since(began);
        // A second probe that has been silent for nearly as long says the same as the first.
        let may_succeed = |attempt: &Attempt| {
            let silent = now.saturating_duration_since(attempt.began);
            attempt.origin == origin && (!is_asking || silent * 2 <= lasted)
        };
        let is_last = !self
            .attempts
            .iter()
            .any(|(_, attempt)| may_succeed(attempt));
        let open = state.connections - state.suspect;
        let is_silent = open == 0 && lasted >= SILENT_ATTEMPT_MIN;
        let fails = (state.connections == 0 || is_silent) && is_last;
        // With no request left the next attempt is a new request's, one at a time: no loop.
        let pauses = self.config.backs_off || !fails;
        if let Some(at) = state.back_off(now, began, pauses) {
            self.deadlines.push(Reverse((at, Due::BackOff(origin))));
        }
        if fails {
            self.fail_queue(origin, Failure::AttemptFailed);
        }
        self.pump(now, origin);
        self.wake_socket_waiters(now);
    }

    /// A connection is gone. What it had taken is the owner's to settle.
    pub fn handle_closed(&mut self, now: Instant, connection: ConnectionId) {
        let Some(gone) = self.connections.remove(connection.0) else {
            return;
        };
        if let Some(state) = self.origins.get_mut(gone.origin) {
            state.forget(connection.0, &gone);
        }
        // The socket is for those who have waited for it, not for the line that gave it.
        self.wake_socket_waiters(now);
        self.pump(now, gone.origin);
    }

    /// Carries out every deadline at or before `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&Reverse((at, due))) = self.deadlines.peek() {
            if at > now {
                break;
            }
            self.deadlines.pop();
            match due {
                Due::BackOff(origin)
                | Due::Probe(origin)
                | Due::Warm(origin)
                | Due::Growth(origin) => {
                    self.pump(now, origin);
                }
                Due::Spent(connection) => self.probe_lifetime(now, connection),
                Due::Request(ticket) => self.expire(now, ticket),
                Due::Return(ticket) => self.resume(now, ticket),
            }
        }
        if self.upkeep_at.is_some_and(|at| at <= now) {
            self.keep_up(now);
        }
    }

    /// When `handle_timeout` is due; sometimes early, never late.
    pub fn next_deadline(&self) -> Option<Instant> {
        let origin_queue = self.deadlines.peek().map(|Reverse((at, _))| *at);
        origin_queue.into_iter().chain(self.upkeep_at).min()
    }

    /// The next thing to do.
    pub fn poll_action(&mut self) -> Option<Action<R>> {
        self.actions.pop_front()
    }

    /// Fails what waits and closes what is open; nothing is taken in any more.
    pub fn shut_down(&mut self) {
        self.shut_down = true;
        let origins: Vec<Key> = self.origins.iter().map(|(key, _)| key).collect();
        for origin in origins {
            self.fail_queue(origin, Failure::ShutDown);
        }
        self.fail_parked();
        let connections = self.connections.iter().map(|(key, _)| key);
        self.actions.extend(connections.map(|key| Action::Close {
            connection: ConnectionId(key),
            idle: false,
        }));
    }

    /// The origin of a connection; `None`: it is gone.
    pub fn origin_of(&self, connection: ConnectionId) -> Option<&Origin> {
        let connection = self.connections.get(connection.0)?;
        Some(&self.origins.get(connection.origin)?.origin)
    }

    /// Why a request waits; `None`: it does not.
    pub fn wait_reason(&self, now: Instant, ticket: Ticket) -> Option<WaitReason> {
        self.reason_of(now, ticket)
    }

    /// Every request that waits, now, with the reason. Takes time for each of them.
    pub fn waits(&self, now: Instant) -> Vec<Wait> {
        let mut waits = Vec::with_capacity(self.queue.len());
        for (ticket, entry) in self.queue.iter() {
            if let Some(state) = self.origins.get(entry.entrance.origin) {
                waits.push(Wait {
                    origin: state.origin.clone(),
                    rank: entry.entrance.rank,
                    waited: now.saturating_duration_since(entry.entrance.since),
                    reason: self.reason_of(now, ticket),
                });
            }
        }
        waits
    }

    /// Every origin, now.
    pub fn stats(&self, now: Instant) -> Vec<OriginStats> {
        let mut stats: Vec<OriginStats> = Vec::with_capacity(self.origins.len());
        for (key, state) in self.origins.iter() {
            let own = self.connections.iter().filter(|(_, c)| c.origin == key);
            stats.push(OriginStats {
                origin: state.origin.clone(),
                multiplexing: state.multiplexing(now),
                waiting: state.origin_queue.len(),
                paused: state.parked,
                wait_reason: self.reason_at(now, key),
                connections: state.connections,
                suspect: state.suspect,
                draining: state.draining,
                warm: state.prewarm.count(now),
                attempts: state.attempts,
                active: own.map(|(_, connection)| connection.gate.active()).sum(),
                limit: state.limit_hint(now),
                round_trip: state.round_trip(now),
            });
        }
        stats
    }

    /// Totals over the pool's life.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Sockets open or being opened.
    pub fn sockets(&self) -> u32 {
        (self.connections.len() + self.attempts.len()) as u32
    }
}

/// An attempt that failed after this time says as much of its peer as a silent connection: a port that
/// is closed and a network that is not there are known sooner.
const SILENT_ATTEMPT_MIN: Duration = Duration::from_secs(1);
/// Entries of requests long gone that the heap of deadlines may hold beside the live ones.
const DEADLINES_STALE_MAX: usize = 1024;
