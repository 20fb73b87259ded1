//! Prewarming: opens connections before the first request, and opens them again when they end,
//! until the warm time is over.

use crate::pool::slab::Key;
use crate::pool::{AttemptId, Due, OriginId, Pool};
use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// The pause behind the first refill since the last request; each later one is twice as long, so
/// that a peer that ends idle connections, or is gone, gets ever fewer attempts.
const REFILL_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two refills.
const REFILL_PAUSE_MAX: Duration = Duration::from_secs(60);

/// The warm connections of one origin.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pool) struct Prewarm {
    count: u32,
    /// When prewarming ends because the origin has had no request.
    until: Option<Instant>,
    /// Refills since the last request.
    refills: u32,
    /// No refill before this; a deadline is set for it.
    not_before: Option<Instant>,
}

impl Prewarm {
    /// Connections to keep, now.
    pub(in crate::pool) fn count(&self, now: Instant) -> u32 {
        match self.until {
            Some(until) if now < until => self.count,
            _ => 0,
        }
    }

    /// A request came: more may follow, and the peer is worth asking.
    pub(in crate::pool) fn note_request(&mut self, now: Instant, warm_time: Duration) {
        if self.count(now) > 0 {
            self.until = Some(now + warm_time);
            self.refills = 0;
            self.not_before = None;
        }
    }

    /// Books a refill; when the next one may be.
    fn pause(&mut self, now: Instant) -> Instant {
        let pause = REFILL_PAUSE * (1 << self.refills.min(16));
        self.refills += 1;
        let at = now + pause.min(REFILL_PAUSE_MAX);
        self.not_before = Some(at);
        at
    }
}

impl<R> Pool<R> {
    /// Opens connections to an origin until it has `count`, those under way included, as far as
    /// its bound and the client's allow, and keeps that many: they do not end for idleness, and
    /// what dies or gets old is replaced, with a pause that grows while no request comes. That
    /// lasts for [`warm_time`](crate::pool::PoolConfig::warm_time) after this call or the origin's last
    /// request; `count` 0 ends it. Returns the attempts that were begun.
    pub fn warm_up(&mut self, now: Instant, id: OriginId, count: u32) -> Vec<AttemptId> {
        let OriginId(key) = id;
        let bounds = self.bounds(None, 0);
        let until = now + self.config.warm_time;
        let Some(state) = self.origins.get_mut(key).filter(|_| !self.shut_down) else {
            return Vec::new();
        };
        let count = count.min(bounds.connections_max(state.multiplexing(now)));
        state.prewarm = Prewarm {
            count,
            until: Some(until),
            ..Prewarm::default()
        };
        let missing = count.saturating_sub(state.connections + state.attempts);
        if count > 0 {
            let next = state.prewarm.pause(now);
            self.deadlines.push(Reverse((next, Due::Warm(key))));
        }
        self.open(now, key, missing.min(bounds.sockets_left))
    }

    /// Connections of an origin that may get requests.
    pub fn connections(&self, id: OriginId) -> u32 {
        self.origins.get(id.0).map_or(0, |state| state.connections)
    }

    /// Opens missing warm connections when no request waits.
    pub(in crate::pool) fn refill(&mut self, now: Instant, key: Key) {
        let Some(state) = self.origins.get_mut(key) else {
            return;
        };
        let there = state.connections - state.suspect + state.attempts;
        let missing = state.prewarm.count(now).saturating_sub(there);
        if missing == 0 || self.shut_down {
            return;
        }
        // The look at that time is planned already.
        if state.prewarm.not_before.is_some_and(|at| at > now) {
            return;
        }
        let next = state.prewarm.pause(now);
        self.deadlines.push(Reverse((next, Due::Warm(key))));
        let sockets_left = self.bounds(None, 0).sockets_left;
        self.open(now, key, missing.min(sockets_left));
    }
}
