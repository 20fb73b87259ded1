//! Closes connections that are idle, too old, worn out, or were never used.

use crate::pool::connection::Connection;
use crate::pool::{Action, Capacity, ConnectionId, Due, Failure, Key, OriginState, Pool, Standing};
use std::cmp::Reverse;
use std::time::{Duration, Instant};

impl<R> Pool<R> {
    /// A connection's peer waits only so long for the next request: without an exchange it is closed
    /// after `idle`, in place of [`PoolConfig::idle_timeout`](crate::pool::PoolConfig::idle_timeout).
    pub fn handle_peer_patience(&mut self, now: Instant, id: ConnectionId, idle: Duration) {
        if let Some(connection) = self.connections.get_mut(id.0) {
            connection.idle_max = Some(idle);
            // Sooner than planned, perhaps; the look plans the next one.
            let at = now + idle;
            self.upkeep_at = Some(self.upkeep_at.map_or(at, |planned| planned.min(at)));
        }
    }

    /// Gives a connection nothing new from here on; its owner closes it when it has nothing open.
    pub(in crate::pool) fn retire(&mut self, now: Instant, key: Key) {
        self.retire_for(now, key, false);
    }

    /// `idle`: it ends because it carried nothing for its time.
    fn retire_for(&mut self, now: Instant, key: Key, idle: bool) {
        let Some(connection) = self.connections.get(key).filter(|c| !c.is_draining) else {
            return;
        };
        // The report that it would make if it drained by itself.
        let report = connection.gate.draining_report();
        self.file_report(now, key, report);
        if let Some(connection) = self.connections.get_mut(key) {
            connection.idle_since = None;
        }
        self.actions.push_back(Action::Close {
            connection: ConnectionId(key),
            idle,
        });
    }

    /// Notes since when a connection is idle or of no use, and plans the look at it.
    pub(in crate::pool) fn note_use(&mut self, now: Instant, key: Key, report: &Capacity) {
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        if connection.gate.active() > 0 {
            connection.idle_since = None;
        } else if connection.idle_since.is_none() && !connection.is_draining {
            connection.idle_since = Some(now);
        }
        let allows_nothing = report.limit_known
            && report.free + report.active == 0
            && report.standing == Standing::Open;
        match (allows_nothing, connection.requests, connection.shut_since) {
            (true, 0, None) => connection.shut_since = Some(now),
            (true, ..) => {}
            (false, ..) => connection.shut_since = None,
        }
        if self.upkeep_at.is_none() {
            let connection = self.connections.get(key);
            self.upkeep_at = connection.and_then(|c| self.time_up(c).map(|(at, _)| at));
        }
    }

    /// When a connection's time is up, and whether that is because it was of no use.
    fn time_up(&self, connection: &Connection) -> Option<(Instant, EndReason)> {
        if connection.is_draining {
            return None;
        }
        let config = &self.config;
        let after = |since: Option<Instant>, time, end| Some((since? + time?, end));
        let is_judged = connection.shut_since.is_some() && config.no_exchange_timeout.is_some();
        // A peer that allows no request is waited for on one connection to the end: a new one would
        // begin to wait anew, and so on for ever.
        let own = config.idle_timeout.map(|time| connection.shortened(time));
        let idle = connection.idle_max.or(own).filter(|_| !is_judged);
        let age = config.age_max.map(|time| connection.shortened(time));
        [
            after(connection.idle_since, idle, EndReason::Idle),
            after(Some(connection.born), age, EndReason::Old),
            after(
                connection.shut_since,
                config.no_exchange_timeout,
                EndReason::Useless,
            ),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Closes connections whose time is up, and plans the next look.
    pub(in crate::pool) fn keep_up(&mut self, now: Instant) {
        let mut expired = Vec::new();
        for (key, connection) in self.connections.iter() {
            if let Some((at, end)) = self.time_up(connection)
                && at <= now
            {
                expired.push((key, end));
            }
        }
        for (key, end) in expired {
            self.end(now, key, end);
        }
        let planned = self.connections.iter().filter_map(|(_, c)| self.time_up(c));
        self.upkeep_at = planned.map(|(at, _)| at).min();
    }

    fn end(&mut self, now: Instant, key: Key, end: EndReason) {
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let origin = connection.origin;
        let Some(state) = self.origins.get_mut(origin) else {
            return;
        };
        let kept = self.config.warm_min.max(state.prewarm.count(now));
        // One that its peer is about to close is warm no longer, and has no time left to be looked at again.
        let is_kept = connection.idle_max.is_none() && state.connections <= kept;
        if end == EndReason::Idle && is_kept {
            // It stays; the next look is one idle time later.
            connection.idle_since = Some(now);
            return;
        }
        if end == EndReason::Useless {
            let born = connection.born;
            if let Some(at) = state.back_off(now, born, true) {
                self.deadlines.push(Reverse((at, Due::BackOff(origin))));
            }
        }
        // A peer that does not wait at all has asked for the end itself.
        let has_waited = |c: &Connection| c.idle_max != Some(Duration::ZERO);
        let idle = end == EndReason::Idle && self.connections.get(key).is_some_and(has_waited);
        self.retire_for(now, key, idle);
        let alone = |state: &OriginState| state.connections + state.attempts == 0;
        if end == EndReason::Useless && self.origins.get(origin).is_some_and(alone) {
            self.fail_queue(origin, Failure::NoExchanges);
        }
        self.pump(now, origin);
    }
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EndReason {
    Idle,
    Old,
    Useless,
}
