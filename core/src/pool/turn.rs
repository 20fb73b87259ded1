//! Updates the pool after each event: moves queues, starts attempts, fails requests. Carries out
//! the decisions of `dispatch/decide.rs`.

pub(super) mod growth;
pub(super) mod returns;
mod socket_waiters;
mod suspects;
mod upkeep;

use crate::pool::connection::lifetime::LIFETIME_PROBE_AFTER;
use crate::pool::dispatch::queue::{Entrance, QueueEnd};
use crate::pool::{
    Action, Attempt, AttemptId, Capacity, ConnectionId, DEADLINES_STALE_MAX, Decision, Due,
    Failure, Key, OriginId, OriginState, Pool, PoolBounds, Standing, Ticket, WaitReason, decide,
};
use std::cmp::Reverse;
use std::time::Instant;

impl<R> Pool<R> {
    pub(in crate::pool) fn enter(&mut self, now: Instant, entrance: Entrance<R>) -> Option<Ticket> {
        self.totals.submitted += 1;
        let (key, class, end) = (entrance.origin, entrance.rank.class, entrance.end);
        if self.shut_down {
            self.fail(entrance.request, Failure::ShutDown);
            return None;
        }
        let reserved = self.config.reserved_from(class);
        let state = self.origins.get_mut(key)?;
        let waiting = state.origin_queue.len();
        let is_next =
            waiting == 0 || end == QueueEnd::Front || !state.origin_queue.holds_up_to(class);
        if is_next
            && reserved == 0
            && let Some(connection) =
                state.roomiest(&self.connections, entrance.avoid, entrance.alone)
        {
            self.dispatch(now, key, connection.0, entrance.request, None);
            if waiting > 0 {
                // It may have been the last that its connection takes.
                self.pump(now, key);
            }
            return None;
        }
        if waiting >= self.config.waiting_max {
            self.fail(entrance.request, Failure::QueueFull(waiting));
            return None;
        }
        let due = entrance.limit.due(entrance.since, None);
        let ticket = self.queue.park(entrance);
        self.queue.unpark(&mut state.origin_queue, ticket);
        self.pump(now, key);
        // It may have been served, or failed, already.
        self.queue.get(ticket)?;
        if let Some(at) = due {
            self.push_deadline(at, ticket);
        }
        self.totals.waited += 1;
        if let Some(reason) = self.wait_reason(now, ticket) {
            self.totals.waited_for[reason as usize] += 1;
            self.queue.note_reason(ticket, reason);
        }
        Some(ticket)
    }

    /// Serves the line of an origin until it is empty or must wait.
    pub(in crate::pool) fn pump(&mut self, now: Instant, key: Key) {
        loop {
            let Some(state) = self.origins.get(key) else {
                return;
            };
            let Some(ticket) = state.origin_queue.front() else {
                self.settle_growth(key);
                return self.refill(now, key);
            };
            let bounds = self.bounds_of(ticket);
            let view = state.view(now, &self.connections, &bounds);
            match decide(&view) {
                Decision::Reuse(connection) => {
                    let Some(state) = self.origins.get_mut(key) else {
                        return;
                    };
                    let Some(entry) = self.queue.serve(&mut state.origin_queue, ticket) else {
                        return;
                    };
                    self.dispatch(now, key, connection.0, entry.entrance.request, entry.reason);
                }
                Decision::Open(count) => drop(self.open(now, key, count)),
                Decision::Wait(WaitReason::Sockets) => return self.wait_for_socket(now, key),
                Decision::Wait(WaitReason::Capacity) if self.grow(now, key, ticket, &view) => {}
                // The line is never longer than its bound: `enter` has refused before.
                Decision::Wait(_) | Decision::Refuse => return,
            }
        }
    }

    pub(in crate::pool) fn dispatch(
        &mut self,
        now: Instant,
        origin: Key,
        key: Key,
        request: R,
        waited_for: Option<WaitReason>,
    ) {
        let (Some(connection), Some(state)) =
            (self.connections.get_mut(key), self.origins.get_mut(origin))
        else {
            // `roomiest` names live connections only; failing loudly beats losing a request.
            return self.fail(request, Failure::AttemptFailed);
        };
        connection.gate.pass();
        if connection.gate.is_spent() {
            let probe = Reverse((now + LIFETIME_PROBE_AFTER, Due::Spent(key)));
            self.deadlines.push(probe);
        }
        connection.idle_since = None;
        connection.requests += 1;
        let is_worn = self
            .config
            .requests_max
            .is_some_and(|n| connection.requests >= n);
        state.refile(key, connection);
        state.prewarm.note_request(now, self.config.warm_time);
        state.growth.note_start(now);
        self.totals.dispatched += 1;
        self.actions.push_back(Action::Dispatch {
            request,
            connection: ConnectionId(key),
            waited_for,
            last: is_worn,
        });
        if is_worn {
            self.retire(now, key);
        }
    }

    pub(in crate::pool) fn open(
        &mut self,
        now: Instant,
        origin: Key,
        count: u32,
    ) -> Vec<AttemptId> {
        let mut begun = Vec::new();
        for _ in 0..count {
            let attempt = AttemptId(self.attempts.insert(Attempt { origin, began: now }));
            begun.push(attempt);
            self.totals.attempts += 1;
            self.actions.push_back(Action::Open {
                origin: OriginId(origin),
                attempt,
            });
        }
        let bounds = self.bounds(None, 0);
        if let Some(state) = self.origins.get_mut(origin)
            && count > 0
        {
            state.attempts += count;
            state.probe_began = Some(now);
            if let Some(at) = state.probe_due(now, &bounds) {
                self.deadlines.push(Reverse((at, Due::Probe(origin))));
            }
        }
        begun
    }

    /// Files a report; returns the origin whose line may move.
    pub(in crate::pool) fn file_report(
        &mut self,
        now: Instant,
        key: Key,
        mut capacity: Capacity,
    ) -> Option<Key> {
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
        let mut cut = false;
        if draining && !connection.is_draining {
            cut = connection.returned > 0;
            connection.is_draining = true;
            state.connections -= 1;
            state.draining += 1;
            state.leaving += u32::from(connection.keeps_place());
        }
        let suspect_since = match capacity.standing {
            Standing::Suspect { since } => Some(since),
            Standing::Open | Standing::Draining => None,
        };
        let was_suspect = std::mem::replace(&mut connection.suspect_since, suspect_since);
        let newly_suspect = suspect_since.is_some() && was_suspect.is_none();
        let recovered = was_suspect.filter(|_| suspect_since.is_none() && !draining);
        state.suspect += u32::from(newly_suspect);
        state.suspect -= u32::from(was_suspect.is_some() && suspect_since.is_none());
        state.refile(key, connection);
        let origin = connection.origin;
        let outlived = connection.gate.is_outlived();
        if cut {
            self.learn_lifetime(now, origin, key);
        }
        self.note_use(now, key, &capacity);
        if newly_suspect {
            self.probe_others(origin, key, false);
        }
        if let Some(since) = recovered {
            self.fit(now, origin, key);
            self.answer(now, origin, since);
        }
        if outlived {
            self.outlive(now, origin, key);
        }
        Some(origin)
    }

    /// A suspect lives after all: if others have taken its place, it goes.
    fn fit(&mut self, now: Instant, origin: Key, key: Key) {
        let bounds = self.bounds(None, 0);
        let is_one_too_many = self.origins.get(origin).is_some_and(|state| {
            let there = state.connections - state.suspect + state.attempts;
            there + state.leaving > state.connections_max(now, &bounds)
        });
        if is_one_too_many {
            self.retire(now, key);
        }
    }

    /// Takes a request out of its line, with its origin.
    pub(in crate::pool) fn take_waiting(&mut self, ticket: Ticket) -> Option<(Key, R)> {
        let key = self.queue.get(ticket)?.entrance.origin;
        let state = self.origins.get_mut(key)?;
        let entry = self.queue.leave(&mut state.origin_queue, ticket)?;
        state.parked -= u32::from(entry.is_parked);
        Some((key, entry.entrance.request))
    }

    pub(in crate::pool) fn expire(&mut self, now: Instant, ticket: Ticket) {
        let Some(entry) = self.queue.get(ticket) else {
            return;
        };
        let state = self.origins.get(entry.entrance.origin);
        let started_at = state.and_then(|state| state.growth.started_at);
        match entry.entrance.limit.due(entry.entrance.since, started_at) {
            None => return,
            // Requests of its origin have started meanwhile.
            Some(at) if at > now => return self.push_deadline(at, ticket),
            Some(_) => {}
        }
        let reason = self.wait_reason(now, ticket);
        let reason = reason.unwrap_or(WaitReason::Capacity);
        if let Some((key, request)) = self.take_waiting(ticket) {
            self.fail(request, Failure::QueueTimeout(reason));
            self.pump(now, key);
        }
    }

    pub(in crate::pool) fn fail_queue(&mut self, origin: Key, why: Failure) {
        while self.fail_next(origin, why).is_some() {}
    }

    /// Fails the next request in line alone; `None`: none waits.
    pub(in crate::pool) fn fail_next(&mut self, origin: Key, why: Failure) -> Option<()> {
        let state = self.origins.get_mut(origin)?;
        let ticket = state.origin_queue.front()?;
        let entry = self.queue.leave(&mut state.origin_queue, ticket)?;
        self.fail(entry.entrance.request, why);
        Some(())
    }

    /// Requests that pause fail, as the pool is shut down.
    pub(in crate::pool) fn fail_parked(&mut self) {
        let parked = self.queue.iter().filter(|(_, entry)| entry.is_parked);
        let tickets: Vec<(Ticket, Key)> = parked
            .map(|(t, entry)| (t, entry.entrance.origin))
            .collect();
        for (ticket, origin) in tickets {
            if let Some(state) = self.origins.get_mut(origin)
                && let Some(entry) = self.queue.leave(&mut state.origin_queue, ticket)
            {
                state.parked -= 1;
                self.fail(entry.entrance.request, Failure::ShutDown);
            }
        }
    }

    pub(in crate::pool) fn fail(&mut self, request: R, why: Failure) {
        self.totals.failed += 1;
        self.actions.push_back(Action::Fail { request, why });
    }

    /// Why the request with this ticket waits.
    pub(in crate::pool) fn reason_of(&self, now: Instant, ticket: Ticket) -> Option<WaitReason> {
        let entry = self.queue.get(ticket)?;
        if entry.is_parked {
            return Some(WaitReason::Pause);
        }
        let state = self.origins.get(entry.entrance.origin)?;
        let bounds = self.bounds_of(ticket);
        match decide(&state.view(now, &self.connections, &bounds)) {
            Decision::Wait(reason) => Some(reason),
            // There is room: an earlier request waits for another reason.
            _ => None,
        }
    }

    pub(in crate::pool) fn reason_at(&self, now: Instant, key: Key) -> Option<WaitReason> {
        self.reason_of(now, self.origins.get(key)?.origin_queue.front()?)
    }

    fn bounds_of(&self, ticket: Ticket) -> PoolBounds {
        match self.queue.get(ticket) {
            Some(entry) => PoolBounds {
                alone: entry.entrance.alone,
                ..self.bounds(
                    entry.entrance.avoid,
                    self.config.reserved_from(entry.entrance.rank.class),
                )
            },
            None => self.bounds(None, 0),
        }
    }

    pub(in crate::pool) fn bounds(&self, avoid: Option<Key>, reserved: u32) -> PoolBounds {
        PoolBounds {
            pipelining: self.config.pipelining,
            waiting_max: self.config.waiting_max,
            connections_max: self.config.connections_max,
            sockets_left: self.config.sockets_max.saturating_sub(self.sockets()),
            avoid,
            alone: false,
            reserved,
            probe_patience: self.config.probe_patience,
        }
    }

    pub(in crate::pool) fn push_deadline(&mut self, at: Instant, ticket: Ticket) {
        self.deadlines.push(Reverse((at, Due::Request(ticket))));
        // Most requests leave the line long before their deadline; their entries go in bulk.
        if self.deadlines.len() > 2 * self.queue.len() + DEADLINES_STALE_MAX {
            let queue = &self.queue;
            self.deadlines.retain(|Reverse((_, due))| match due {
                Due::Request(ticket) | Due::Return(ticket) => queue.get(*ticket).is_some(),
                Due::BackOff(_) | Due::Probe(_) | Due::Spent(_) | Due::Warm(_) | Due::Growth(_) => {
                    true
                }
            });
        }
    }

    pub(in crate::pool) fn forget_idle_origins(&mut self) {
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

#[cfg(test)]
mod growth_test;
#[cfg(test)]
mod returns_test;
#[cfg(test)]
mod socket_waiters_test;
#[cfg(test)]
mod suspects_test;
#[cfg(test)]
mod upkeep_test;
