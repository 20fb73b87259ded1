//! Carries out the pool's decisions. Decisions are made under one lock; their effects (tasks to
//! start, tasks and users to wake) run after it is released. No I/O happens under the lock.

use super::exchange::{Exchange, Outgoing};
use super::settings::Settings;
use super::settings::origin::RecentOrigins;
use crate::driver::signals::{Signals, Stop};
use crate::error::{Error, ErrorKind, Fault, Retry};
use crate::metrics::client::ClientVersionMetrics;
use crate::metrics::client::counters::ConnectionCounts;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Id;
use tokio::sync::Notify;
use trunkline_core::credit::BudgetShare;
use trunkline_core::limits::Config;
use trunkline_core::pool::{
    Action, AttemptId, Capacity, ConnectionId, Failure, FailureScope, Multiplexing, Origin, Pool,
    PoolConfig, Ticket,
};

mod back;
pub(super) mod early_counts;
pub(super) mod exchange_future;
pub(super) mod inspect;
mod machine;
mod prewarm;
mod stats;
pub(super) mod tasks;

pub(super) use back::random;
use prewarm::Warmer;
use tasks::{Runtimes, Tasks};

/// The slot number that stands for "look into your inbox" in a connection's notes.
pub(super) const INBOX: u32 = u32::MAX;

/// The way to a connection's task.
#[derive(Debug, Default)]
pub(super) struct TaskHandle {
    pub(super) signals: Arc<Signals>,
    /// Requests dispatched to it and not yet taken.
    #[allow(
        clippy::vec_box,
        reason = "requests move by pointer from line to inbox to slot"
    )]
    pub(super) inbox: Mutex<Vec<Box<Outgoing>>>,
    pub(super) counts: ConnectionCounts,
}

impl TaskHandle {
    /// Whether nothing was dispatched that is not taken yet.
    pub(super) fn is_empty(&self) -> bool {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.is_empty()
    }
    /// A request of another runtime than this was dispatched.
    pub(super) fn has_of_others(&self, runtime: Option<Id>) -> bool {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.iter().any(|request| request.runtime != runtime)
    }
    /// Takes what was dispatched into `requests`, which is empty.
    #[allow(
        clippy::vec_box,
        reason = "requests move by pointer from line to inbox to slot"
    )]
    pub(super) fn take(&self, requests: &mut Vec<Box<Outgoing>>) {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *inbox, requests);
    }
}

/// Starts the task that opens a connection and runs it. The task is made above this module and reports
/// to it.
pub(super) type Connect = fn(&Tasks, &Arc<Dispatch>, Origin, AttemptId);

/// One client's pool, its settings, and the ways to its connections.
pub(super) struct Dispatch {
    pub(super) settings: Arc<Settings>,
    pub(super) recent_origins: RecentOrigins,
    /// The budget that the receive windows of all connections borrow from.
    budget_share: BudgetShare,
    connect: Connect,
    state: Mutex<State>,
    /// Wakes the task that watches the pool's deadlines.
    alarm: Arc<Notify>,
}

struct State {
    pool: Pool<Box<Outgoing>>,
    handles: BTreeMap<ConnectionId, Arc<TaskHandle>>,
    /// Counts of the connections that are gone.
    past: Box<[ClientVersionMetrics; 3]>,
    /// Settings of the machines of new connections.
    machine_config: Arc<Config>,
    /// When the watching task looks next; `None`: there is no such task.
    alarm_at: Option<Instant>,
    runtimes: Runtimes,
    /// Calls that wait for connections to be warm.
    warmers: Vec<Warmer>,
}

/// Effects to carry out once the lock is released.
#[derive(Default)]
struct Effects {
    /// Nearly every turn wakes one connection or none: no allocation for that.
    first: Option<Arc<TaskHandle>>,
    more: Vec<Arc<TaskHandle>>,
    opens: Vec<(Origin, AttemptId)>,
    failed: Vec<(Box<Outgoing>, Failure)>,
    closes: Vec<(Arc<TaskHandle>, Stop)>,
    probes: Vec<(Arc<TaskHandle>, bool)>,
    outlived: Vec<(Arc<TaskHandle>, Duration)>,
    watch: Option<Tasks>,
    notify_alarm: bool,
    tasks: Option<Tasks>,
    /// A runtime that has dropped a task: nothing starts there.
    ended: Option<Id>,
}

impl Dispatch {
    pub(super) fn new(settings: Settings, pool: PoolConfig, connect: Connect) -> Self {
        let machine_config = settings.config.freeze(pool.pipelining);
        let runtimes = Runtimes::new(settings.spawner.clone());
        let budget_share = BudgetShare::new(settings.config.windows.memory_budget);
        Self {
            budget_share,
            settings: Arc::new(settings),
            recent_origins: RecentOrigins::default(),
            connect,
            state: Mutex::new(State {
                pool: Pool::new(pool),
                handles: BTreeMap::new(),
                past: Box::default(),
                machine_config,
                alarm_at: None,
                runtimes,
                warmers: Vec::new(),
            }),
            alarm: Arc::new(Notify::new()),
        }
    }

    /// Submits a request. Its exchange gets the ticket before any other thread can use it.
    pub(super) fn submit(self: &Arc<Self>, now: Instant, mut request: Box<Outgoing>) {
        let mut state = self.lock();
        request.runtime = state.runtimes.note_current();
        let exchange = Arc::clone(&request.exchange);
        let origin = Arc::clone(&request.origin);
        let limit = request.wait_limit();
        let (rank, alone) = (request.rank, request.stands_alone());
        let ticket = state
            .pool
            .submit_ranked(now, &origin, request, limit, rank, alone);
        let cancelled = ticket.and_then(|ticket| match exchange.wait_with(ticket) {
            true => None,
            false => state.pool.cancel(now, ticket),
        });
        self.finish(state, None);
        drop(cancelled);
    }

    /// Cancels a request that its user has dropped, in the queue or on its connection.
    pub(super) fn abandon(self: &Arc<Self>, exchange: &Exchange) {
        self.give_up(exchange.abandon());
    }

    /// As [`abandon`](Self::abandon); what was written to a tunnel leaves.
    pub(super) fn leave(self: &Arc<Self>, exchange: &Exchange) {
        self.give_up(exchange.leave());
    }

    /// As [`abandon`](Self::abandon); the source of the request's body has failed.
    pub(super) fn fail_source(self: &Arc<Self>, exchange: &Exchange) {
        self.give_up(exchange.fail_source());
    }

    /// Takes the request with this ticket out of the queue.
    fn give_up(self: &Arc<Self>, ticket: Option<Ticket>) {
        let Some(ticket) = ticket else {
            return;
        };
        let mut state = self.lock();
        let cancelled = state.pool.cancel(Instant::now(), ticket);
        self.finish(state, None);
        drop(cancelled);
    }

    /// An attempt became a connection behind `handle`.
    pub(super) fn connected(
        self: &Arc<Self>,
        attempt: AttemptId,
        multiplexing: Multiplexing,
        capacity: Capacity,
        handle: &Arc<TaskHandle>,
    ) -> Option<ConnectionId> {
        let mut state = self.lock();
        let now = Instant::now();
        let id = state
            .pool
            .handle_connected(now, attempt, multiplexing, capacity);
        state.notify_prewarmers(attempt, None);
        if let Some(id) = id {
            state.handles.insert(id, Arc::clone(handle));
        }
        self.finish(state, None);
        id
    }

    /// An attempt failed, and with it the requests of `scope`.
    pub(super) fn attempt_failed(
        self: &Arc<Self>,
        attempt: AttemptId,
        error: Error,
        scope: FailureScope,
    ) {
        let mut state = self.lock();
        let error = Arc::new(error);
        let now = Instant::now();
        state.pool.handle_attempt_failed(now, attempt, scope);
        state.notify_prewarmers(attempt, Some(&error));
        self.finish(state, Some(error));
    }

    /// A connection's report after a turn, with the window that its path needs.
    pub(super) fn report(
        self: &Arc<Self>,
        now: Instant,
        id: ConnectionId,
        capacity: Capacity,
        bdp_bytes: u32,
    ) {
        let mut state = self.lock();
        state.pool.handle_path_need(now, id, bdp_bytes);
        state.pool.handle_capacity(now, id, capacity);
        self.finish(state, None);
    }

    /// A connection is gone.
    pub(super) fn closed(self: &Arc<Self>, id: ConnectionId) {
        let mut state = self.lock();
        if let Some(handle) = state.handles.remove(&id) {
            handle.counts.add_to(&mut state.past, false);
        }
        state.pool.handle_closed(Instant::now(), id);
        self.finish(state, None);
    }

    /// Fails what waits; connections finish what they have, `leaves_bodies`: without the bodies whose responses have ended.
    pub(super) fn shut_down(self: &Arc<Self>, leaves_bodies: bool) {
        let mut state = self.lock();
        state.pool.shut_down();
        let open: Vec<_> = match leaves_bodies {
            true => state.handles.values().cloned().collect(),
            false => Vec::new(),
        };
        self.finish(state, None);
        for handle in open {
            handle.signals.stop(Stop::LeaveBodies);
        }
    }

    /// Carries out the pool's deadlines; returns the next one.
    fn handle_timeout(self: &Arc<Self>) -> Option<Instant> {
        let mut state = self.lock();
        state.pool.handle_timeout(Instant::now());
        state.alarm_at = state.pool.next_deadline();
        let next = state.alarm_at;
        self.finish(state, None);
        next
    }

    pub(super) fn pipelining(&self) -> u32 {
        self.lock().pool.config().pipelining
    }

    pub(super) fn set_pipelining(&self, pipelining: u32) {
        let mut state = self.lock();
        state.pool.set_pipelining(pipelining);
        state.machine_config = self.settings.config.freeze(pipelining.max(1));
    }

    pub(super) fn max_concurrent_streams(&self) -> u32 {
        self.settings.config.limits.concurrent_streams_max
    }

    /// Turns actions into effects, releases the lock, and runs the effects. `error` is the cause of
    /// a failed attempt, where one was just reported.
    fn finish(self: &Arc<Self>, state: MutexGuard<'_, State>, error: Option<Arc<Error>>) {
        self.finish_leaving(state, error, None);
    }

    /// As [`finish`](Self::finish), with nothing started on the runtime `ended`, which may be the caller's.
    fn finish_leaving(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        error: Option<Arc<Error>>,
        ended: Option<Id>,
    ) {
        let mut effects = Effects {
            ended,
            ..Effects::default()
        };
        while let Some(action) = state.pool.poll_action() {
            match action {
                Action::Dispatch {
                    mut request,
                    connection,
                    waited_for,
                    last,
                } => {
                    request.waited_for = waited_for;
                    request.is_last = last;
                    match state.handles.get(&connection) {
                        Some(handle) => effects.put(handle, request),
                        // The connection's task ended between two locks: `handle_closed` follows.
                        None => effects.failed.push((request, Failure::AttemptFailed)),
                    }
                }
                Action::Open { origin, attempt } => {
                    let now = Instant::now();
                    let origin = state.pool.origin_to_open(now, origin);
                    effects.opens.extend(origin.map(|origin| (origin, attempt)));
                }
                Action::Fail { request, why } => effects.failed.push((request, why)),
                Action::Probe {
                    connection,
                    even_if_recent,
                } => {
                    let handle = state.handles.get(&connection).cloned();
                    effects
                        .probes
                        .extend(handle.map(|handle| (handle, even_if_recent)));
                }
                Action::Outlived {
                    connection,
                    answer_time,
                } => {
                    let handle = state.handles.get(&connection).cloned();
                    effects
                        .outlived
                        .extend(handle.map(|handle| (handle, answer_time)));
                }
                Action::Close { connection, idle } => {
                    let stop = if idle { Stop::Idle } else { Stop::Drain };
                    let handle = state.handles.get(&connection).cloned();
                    effects.closes.extend(handle.map(|handle| (handle, stop)));
                }
            }
        }
        state.plan_alarm(&mut effects);
        drop(state);
        self.carry_out(effects, error);
    }

    fn carry_out(self: &Arc<Self>, effects: Effects, error: Option<Arc<Error>>) {
        for handle in effects.first.into_iter().chain(effects.more) {
            handle.signals.ready(INBOX);
        }
        for (handle, stop) in effects.closes {
            handle.signals.stop(stop);
        }
        for (handle, even_if_recent) in effects.probes {
            handle.signals.probe(even_if_recent);
        }
        for (handle, answer_time) in effects.outlived {
            handle.signals.outlived(answer_time);
        }
        for (request, why) in effects.failed {
            request.fail(&self.settings.counts, failure(why, error.as_ref()));
        }
        if let Some(tasks) = effects.watch {
            tasks::watch_deadlines(&tasks, self);
        }
        if effects.notify_alarm {
            self.alarm.notify_one();
        }
        for (origin, attempt) in effects.opens {
            match &effects.tasks {
                Some(tasks) => (self.connect)(tasks, self, origin, attempt),
                None => self.attempt_failed(
                    attempt,
                    Error::config("a request must be sent from within a tokio runtime"),
                    FailureScope::All,
                ),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Dispatch {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        for handle in state.handles.values() {
            handle.signals.stop(Stop::Drain);
        }
        self.alarm.notify_one();
    }
}

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatch")
            .field("origins", &self.stats())
            .finish_non_exhaustive()
    }
}

impl Effects {
    fn put(&mut self, handle: &Arc<TaskHandle>, request: Box<Outgoing>) {
        let mut inbox = handle.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.push(request);
        // The task takes all at once, and the note of the first is there or comes from the thread that put it in.
        if inbox.len() > 1 {
            return;
        }
        drop(inbox);
        match &self.first {
            None => self.first = Some(Arc::clone(handle)),
            Some(_) => self.more.push(Arc::clone(handle)),
        }
    }
}

fn failure(why: Failure, error: Option<&Arc<Error>>) -> Error {
    match (why, error) {
        (Failure::AttemptFailed, Some(error)) => error.again(),
        (Failure::AttemptFailed, None) => {
            Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe)
        }
        (Failure::QueueTimeout(reason), _) => {
            Error::new(ErrorKind::Timeout, Fault::Us, Retry::Safe)
                .with_text(format!("waited too long in line: {}", reason.text()))
                .with_wait_reason(reason)
        }
        (Failure::NoExchanges, _) => Error::new(ErrorKind::Refused, Fault::Peer, Retry::Safe)
            .with_text("the peer was connected and allowed no request"),
        (Failure::QueueFull(waiting), _) => Error::new(ErrorKind::Refused, Fault::Us, Retry::Safe)
            .with_text(format!("{waiting} requests wait at this origin already")),
        (Failure::ShutDown, _) => Error::cancelled("the client is shut down"),
    }
}
