//! Dispatch: which request starts on which connection now. Sees only capacity, never a version.
//!
//! The line belongs to the origin, not to a connection: a request waits until a connection has
//! room. A cold origin of unknown version opens one attempt; the answer is remembered. Failed
//! attempts fail everybody they leave without hope, at once, never one after another.
//!
//! ```text
//! submit --> room? --yes--> Dispatch --> (connection reports capacity) --> next in line
//!              |no
//!              v
//!            line --> decide: Open | Wait --> Dispatch | Fail (timeout, attempt failed) | cancel
//! ```
//!
//! Invariants: a request handed in comes out exactly once, by `Dispatch`, `Fail` or
//! [`Pool::cancel`] (it moves through, so it cannot be copied); connections and attempts of an
//! origin never exceed its bound, draining connections aside; sockets never exceed `sockets_max`.

mod capacity;
mod connection;
mod decide;
mod gate;
mod origin;
mod origin_state;
mod queue;
mod slab;
mod stats;

#[cfg(test)]
#[path = "pool/decide_test.rs"]
mod decide_test;
#[cfg(test)]
#[path = "pool/gate_test.rs"]
mod gate_test;
#[cfg(test)]
#[path = "pool/pool_random_test.rs"]
mod pool_random_test;
#[cfg(test)]
#[path = "pool/pool_test.rs"]
mod pool_test;

pub use capacity::{Capacity, Standing};
pub use decide::{Decision, OriginView, WaitReason, decide};
pub use gate::{Gate, UNSETTLED_EXCHANGES};
pub use origin::{Multiplexing, Origin, Protocols, Scheme};
pub use queue::Ticket;
pub use stats::{OriginStats, Totals};

use connection::Connection;
use origin_state::{Bounds, OriginState};
use queue::{End, Queue};
use slab::{Key, Slab};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

/// Connections to one origin while nothing says that they multiplex.
pub const CONNECTIONS_MAX: u32 = 100;
/// Connections to one origin that multiplexes.
pub const CONNECTIONS_MULTIPLEXED_MAX: u32 = 16;
/// Sockets of one client, attempts included: below the usual limit of 1024 file descriptors.
pub const SOCKETS_MAX: u32 = 900;
/// Requests that wait at one origin.
pub const WAITING_MAX: u32 = 100_000;
/// Origins remembered; the idle ones beyond it are forgotten.
pub const ORIGINS_MAX: usize = 4096;

/// What a user may set.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Connections and attempts per origin. Default: [`CONNECTIONS_MAX`], or
    /// [`CONNECTIONS_MULTIPLEXED_MAX`] where they multiplex.
    pub connections_max: Option<u32>,
    /// HTTP/1.1's exchanges in flight on one connection, default 1. No other setting moves it.
    pub pipelining: u32,
    /// See [`SOCKETS_MAX`].
    pub sockets_max: u32,
    /// See [`WAITING_MAX`].
    pub waiting_max: u32,
    /// A connection without an exchange is closed after this. Default 60 s.
    pub idle_timeout: Option<Duration>,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            connections_max: None,
            pipelining: 1,
            sockets_max: SOCKETS_MAX,
            waiting_max: WAITING_MAX,
            idle_timeout: Some(Duration::from_secs(60)),
        }
    }
}

/// Names an origin of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OriginId(Key);
/// Names a connection of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(Key);
/// Names an attempt of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId(Key);

/// What the owner must do.
#[derive(Debug)]
pub enum Action<R> {
    /// Open a connection; answer with `handle_connected` or `handle_attempt_failed`.
    Open {
        /// To where.
        origin: OriginId,
        /// Names it in the answer.
        attempt: AttemptId,
    },
    /// Start the exchange. The connection counts it as `taken` in its next report.
    Dispatch {
        /// What was submitted.
        request: R,
        /// On which connection.
        connection: ConnectionId,
    },
    /// Tell the user.
    Fail {
        /// What was submitted.
        request: R,
        /// Why.
        why: Failure,
    },
    /// Close the connection once it has nothing open; it gets no more requests.
    Close {
        /// Which.
        connection: ConnectionId,
    },
}

/// Why the pool fails a request. Nothing of it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The attempt failed, and no connection or other attempt is there to hope for.
    AttemptFailed,
    /// It waited until its deadline, at the end for this.
    QueueTimeout(WaitReason),
    /// So many wait already.
    QueueFull(u32),
    /// The pool is shut down.
    ShutDown,
}

#[derive(Debug)]
struct Attempt {
    origin: Key,
    began: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    BackOff(Key),
    Request(Ticket),
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
    idle_check_at: Option<Instant>,
    /// Origins that found the bound on sockets reached.
    starved: VecDeque<Key>,
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
            idle_check_at: None,
            starved: VecDeque::new(),
            shut_down: false,
            totals: Totals::default(),
        }
    }

    /// What the pool goes by.
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

    /// Hands a request in. The ticket cancels it while it waits; `None`: it does not wait.
    pub fn submit(
        &mut self,
        now: Instant,
        origin: &Origin,
        request: R,
        deadline: Option<Instant>,
    ) -> Option<Ticket> {
        let OriginId(key) = self.origin_id(origin);
        self.enter(now, key, End::Back, request, deadline, None)
    }

    /// Hands in again what a connection has given back provably unprocessed (RFC 9113 section
    /// 8.7): it goes to the front of the line and prefers another connection.
    pub fn resubmit(
        &mut self,
        now: Instant,
        origin: &Origin,
        request: R,
        deadline: Option<Instant>,
        avoid: ConnectionId,
    ) -> Option<Ticket> {
        let OriginId(key) = self.origin_id(origin);
        self.enter(now, key, End::Front, request, deadline, Some(avoid.0))
    }

    /// Takes a waiting request out of the line. `None`: it does not wait any more.
    pub fn cancel(&mut self, now: Instant, ticket: Ticket) -> Option<R> {
        let key = self.queue.get(ticket)?.origin;
        let state = self.origins.get_mut(key)?;
        let entry = self.queue.leave(&mut state.line, ticket)?;
        // The one behind may be the first that a connection has room for.
        self.pump(now, key);
        Some(entry.request)
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
        let gate = Gate::new(capacity, state.limit_hint(now));
        self.totals.connections += 1;
        let key = self.connections.insert(Connection::new(origin, gate, now));
        self.file_report(now, key, capacity);
        if self.shut_down {
            self.actions.push_back(Action::Close {
                connection: ConnectionId(key),
            });
        }
        self.pump(now, origin);
        Some(ConnectionId(key))
    }

    /// A connection's report after a turn.
    pub fn handle_capacity(&mut self, now: Instant, connection: ConnectionId, capacity: Capacity) {
        if let Some(origin) = self.file_report(now, connection.0, capacity) {
            self.pump(now, origin);
        }
    }

    /// An attempt failed. Whoever waits and has no connection and no other attempt to hope for
    /// fails now: the evidence is as fresh as it gets, and asking again one by one would make a
    /// dead host cost its timeout once per request.
    pub fn handle_attempt_failed(&mut self, now: Instant, attempt: AttemptId) {
        let Some(Attempt { origin, began }) = self.attempts.remove(attempt.0) else {
            return;
        };
        let Some(state) = self.origins.get_mut(origin) else {
            return;
        };
        state.attempts -= 1;
        if let Some(at) = state.back_off(now, began) {
            self.deadlines.push(Reverse((at, Due::BackOff(origin))));
        }
        if state.attempts + state.connections == 0 {
            self.fail_line(origin, Failure::AttemptFailed);
        }
        self.pump(now, origin);
        self.feed_starved(now);
    }

    /// A connection is gone. What it had taken is the owner's to settle.
    pub fn handle_closed(&mut self, now: Instant, connection: ConnectionId) {
        let Some(gone) = self.connections.remove(connection.0) else {
            return;
        };
        if let Some(state) = self.origins.get_mut(gone.origin) {
            state.forget(connection.0, &gone);
        }
        self.pump(now, gone.origin);
        self.feed_starved(now);
    }

    /// Carries out every deadline at or before `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&Reverse((at, due))) = self.deadlines.peek() {
            if at > now {
                break;
            }
            self.deadlines.pop();
            match due {
                Due::BackOff(origin) => self.pump(now, origin),
                Due::Request(ticket) => self.expire(now, ticket),
            }
        }
        if self.idle_check_at.is_some_and(|at| at <= now) {
            self.close_idle(now);
        }
    }

    /// When `handle_timeout` is due; sometimes early, never late.
    pub fn next_deadline(&self) -> Option<Instant> {
        let line = self.deadlines.peek().map(|Reverse((at, _))| *at);
        line.into_iter().chain(self.idle_check_at).min()
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
            self.fail_line(origin, Failure::ShutDown);
        }
        let connections = self.connections.iter().map(|(key, _)| key);
        self.actions.extend(connections.map(|key| Action::Close {
            connection: ConnectionId(key),
        }));
    }

    /// Why a request waits; `None`: it does not.
    pub fn wait_reason(&self, now: Instant, ticket: Ticket) -> Option<WaitReason> {
        self.reason_at(now, self.queue.get(ticket)?.origin)
    }

    /// Every origin, now.
    pub fn stats(&self, now: Instant) -> Vec<OriginStats> {
        let mut stats: Vec<OriginStats> = Vec::with_capacity(self.origins.len());
        for (key, state) in self.origins.iter() {
            let own = self.connections.iter().filter(|(_, c)| c.origin == key);
            stats.push(OriginStats {
                origin: state.origin.clone(),
                multiplexing: state.multiplexing(now),
                waiting: state.line.len(),
                wait_reason: self.reason_at(now, key),
                connections: state.connections,
                draining: state.draining,
                attempts: state.attempts,
                active: own.map(|(_, connection)| connection.gate.active()).sum(),
                limit: state.limit_hint(now),
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

/// The steps behind the commands.
impl<R> Pool<R> {
    fn enter(
        &mut self,
        now: Instant,
        key: Key,
        end: End,
        request: R,
        deadline: Option<Instant>,
        avoid: Option<Key>,
    ) -> Option<Ticket> {
        self.totals.submitted += 1;
        if self.shut_down {
            self.fail(request, Failure::ShutDown);
            return None;
        }
        let state = self.origins.get_mut(key)?;
        let waiting = state.line.len();
        if (waiting == 0 || end == End::Front)
            && let Some(connection) = state.roomiest(&self.connections, avoid)
        {
            self.dispatch(key, connection.0, request);
            return None;
        }
        if waiting >= self.config.waiting_max {
            self.fail(request, Failure::QueueFull(waiting));
            return None;
        }
        self.totals.waited += 1;
        let ticket = self
            .queue
            .join(&mut state.line, end, key, request, deadline, avoid);
        if let Some(at) = deadline {
            self.push_deadline(at, ticket);
        }
        self.pump(now, key);
        Some(ticket)
    }

    /// Serves the line of an origin until it is empty or must wait.
    fn pump(&mut self, now: Instant, key: Key) {
        loop {
            let Some(state) = self.origins.get(key) else {
                return;
            };
            let Some(ticket) = state.line.front() else {
                return;
            };
            let avoid = self.queue.get(ticket).and_then(|entry| entry.avoid);
            let view = state.view(now, &self.connections, &self.bounds(avoid));
            match decide(&view) {
                Decision::Reuse(connection) => {
                    let Some(state) = self.origins.get_mut(key) else {
                        return;
                    };
                    let Some(entry) = self.queue.leave(&mut state.line, ticket) else {
                        return;
                    };
                    self.dispatch(key, connection.0, entry.request);
                }
                Decision::Open(count) => self.open(now, key, count),
                Decision::Wait(WaitReason::Sockets) => return self.starve(key),
                // The line is never longer than its bound: `enter` has refused before.
                Decision::Wait(_) | Decision::Refuse => return,
            }
        }
    }

    fn dispatch(&mut self, origin: Key, key: Key, request: R) {
        let (Some(connection), Some(state)) =
            (self.connections.get_mut(key), self.origins.get_mut(origin))
        else {
            // `roomiest` names live connections only; failing loudly beats losing a request.
            return self.fail(request, Failure::AttemptFailed);
        };
        connection.gate.pass();
        connection.idle_since = None;
        state.refile(key, connection);
        self.totals.dispatched += 1;
        self.actions.push_back(Action::Dispatch {
            request,
            connection: ConnectionId(key),
        });
    }

    fn open(&mut self, now: Instant, origin: Key, count: u32) {
        for _ in 0..count {
            let attempt = AttemptId(self.attempts.insert(Attempt { origin, began: now }));
            self.totals.attempts += 1;
            if let Some(state) = self.origins.get_mut(origin) {
                state.attempts += 1;
            }
            self.actions.push_back(Action::Open {
                origin: OriginId(origin),
                attempt,
            });
        }
    }

    /// Files a report; returns the origin whose line may move.
    fn file_report(&mut self, now: Instant, key: Key, mut capacity: Capacity) -> Option<Key> {
        let connection = self.connections.get_mut(key)?;
        let state = self.origins.get_mut(connection.origin)?;
        if connection.is_draining {
            // There is no way back: a report that crossed our own decision does not undo it.
            capacity.standing = Standing::Draining;
        }
        connection.gate.handle_report(capacity);
        if let Some(limit) = connection.gate.limit() {
            state.learn_limit(limit);
        }
        let draining = capacity.standing == Standing::Draining;
        if draining && !connection.is_draining {
            connection.is_draining = true;
            state.connections -= 1;
            state.draining += 1;
        }
        state.refile(key, connection);
        if connection.gate.active() > 0 {
            connection.idle_since = None;
        } else if connection.idle_since.is_none() {
            connection.idle_since = Some(now);
        }
        if let (Some(since), Some(timeout), None) = (
            connection.idle_since,
            self.config.idle_timeout,
            self.idle_check_at,
        ) {
            self.idle_check_at = Some(since + timeout);
        }
        Some(connection.origin)
    }

    /// Closes connections that have been idle for long enough, and plans the next look.
    fn close_idle(&mut self, now: Instant) {
        self.idle_check_at = None;
        let Some(timeout) = self.config.idle_timeout else {
            return;
        };
        let mut expired = Vec::new();
        for (key, connection) in self.connections.iter() {
            let Some(since) = connection.idle_since else {
                continue;
            };
            let due = since + timeout;
            if due <= now {
                expired.push(key);
            } else {
                let earliest = self.idle_check_at.map_or(due, |at| at.min(due));
                self.idle_check_at = Some(earliest);
            }
        }
        for key in expired {
            let Some(connection) = self.connections.get(key) else {
                continue;
            };
            // As if it had said so itself: it gets nothing more from here on.
            let report = connection.gate.draining_report();
            self.file_report(now, key, report);
            if let Some(connection) = self.connections.get_mut(key) {
                connection.idle_since = None;
            }
            self.actions.push_back(Action::Close {
                connection: ConnectionId(key),
            });
        }
    }

    fn expire(&mut self, now: Instant, ticket: Ticket) {
        let Some(entry) = self.queue.get(ticket) else {
            return;
        };
        if entry.deadline.is_none_or(|at| at > now) {
            return;
        }
        let key = entry.origin;
        let reason = self.reason_at(now, key).unwrap_or(WaitReason::Capacity);
        if let Some(request) = self.cancel(now, ticket) {
            self.fail(request, Failure::QueueTimeout(reason));
        }
    }

    fn fail_line(&mut self, origin: Key, why: Failure) {
        let Some(state) = self.origins.get_mut(origin) else {
            return;
        };
        while let Some(ticket) = state.line.front() {
            let Some(entry) = self.queue.leave(&mut state.line, ticket) else {
                return;
            };
            self.totals.failed += 1;
            self.actions.push_back(Action::Fail {
                request: entry.request,
                why,
            });
        }
    }

    fn fail(&mut self, request: R, why: Failure) {
        self.totals.failed += 1;
        self.actions.push_back(Action::Fail { request, why });
    }

    fn reason_at(&self, now: Instant, key: Key) -> Option<WaitReason> {
        let state = self.origins.get(key)?;
        state.line.front()?;
        let view = state.view(now, &self.connections, &self.bounds(None));
        match decide(&view) {
            Decision::Wait(reason) => Some(reason),
            _ => None,
        }
    }

    fn bounds(&self, avoid: Option<Key>) -> Bounds {
        Bounds {
            pipelining: self.config.pipelining,
            waiting_max: self.config.waiting_max,
            connections_max: self.config.connections_max,
            sockets_left: self.config.sockets_max.saturating_sub(self.sockets()),
            avoid,
        }
    }

    fn starve(&mut self, key: Key) {
        if let Some(state) = self.origins.get_mut(key)
            && !state.starved
        {
            state.starved = true;
            self.starved.push_back(key);
        }
    }

    /// A socket is free: whoever has waited longest for one asks again.
    fn feed_starved(&mut self, now: Instant) {
        for _ in 0..self.starved.len() {
            if self.sockets() >= self.config.sockets_max {
                return;
            }
            let Some(key) = self.starved.pop_front() else {
                return;
            };
            if let Some(state) = self.origins.get_mut(key) {
                state.starved = false;
            }
            self.pump(now, key);
        }
    }

    fn push_deadline(&mut self, at: Instant, ticket: Ticket) {
        self.deadlines.push(Reverse((at, Due::Request(ticket))));
        // Most requests leave the line long before their deadline; their entries go in bulk.
        if self.deadlines.len() > 2 * self.queue.len() + DEADLINES_STALE_MAX {
            let queue = &self.queue;
            self.deadlines.retain(|Reverse((_, due))| match due {
                Due::Request(ticket) => queue.get(*ticket).is_some(),
                Due::BackOff(_) => true,
            });
        }
    }

    fn forget_idle_origins(&mut self) {
        let origins = &mut self.origins;
        self.by_origin.retain(|_, &mut key| {
            let idle = origins.get(key).is_none_or(OriginState::is_idle);
            if idle {
                origins.remove(key);
            }
            !idle
        });
    }
}

/// Entries of requests long gone that the heap of deadlines may hold beside the live ones.
const DEADLINES_STALE_MAX: usize = 1024;
