//! What the pool does after each fact it is told: lines move, attempts start, requests fail, idle
//! connections close. Decisions stand in `decide.rs`; here they are carried out.

use super::{
    Action, Attempt, AttemptId, Bounds, Capacity, ConnectionId, DEADLINES_STALE_MAX, Decision, Due,
    End, Failure, Key, OriginId, OriginState, Pool, Standing, Ticket, WaitReason, decide,
};
use std::cmp::Reverse;
use std::time::Instant;

impl<R> Pool<R> {
    pub(super) fn enter(
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
    pub(super) fn pump(&mut self, now: Instant, key: Key) {
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

    pub(super) fn dispatch(&mut self, origin: Key, key: Key, request: R) {
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

    pub(super) fn open(&mut self, now: Instant, origin: Key, count: u32) {
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
    pub(super) fn file_report(
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
    pub(super) fn close_idle(&mut self, now: Instant) {
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

    pub(super) fn expire(&mut self, now: Instant, ticket: Ticket) {
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

    pub(super) fn fail_line(&mut self, origin: Key, why: Failure) {
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

    pub(super) fn fail(&mut self, request: R, why: Failure) {
        self.totals.failed += 1;
        self.actions.push_back(Action::Fail { request, why });
    }

    pub(super) fn reason_at(&self, now: Instant, key: Key) -> Option<WaitReason> {
        let state = self.origins.get(key)?;
        state.line.front()?;
        let view = state.view(now, &self.connections, &self.bounds(None));
        match decide(&view) {
            Decision::Wait(reason) => Some(reason),
            _ => None,
        }
    }

    pub(super) fn bounds(&self, avoid: Option<Key>) -> Bounds {
        Bounds {
            pipelining: self.config.pipelining,
            waiting_max: self.config.waiting_max,
            connections_max: self.config.connections_max,
            sockets_left: self.config.sockets_max.saturating_sub(self.sockets()),
            avoid,
        }
    }

    pub(super) fn starve(&mut self, key: Key) {
        if let Some(state) = self.origins.get_mut(key)
            && !state.starved
        {
            state.starved = true;
            self.starved.push_back(key);
        }
    }

    /// A socket is free: whoever has waited longest for one asks again.
    pub(super) fn feed_starved(&mut self, now: Instant) {
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

    pub(super) fn push_deadline(&mut self, at: Instant, ticket: Ticket) {
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

    pub(super) fn forget_idle_origins(&mut self) {
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
