//! The minimum rate of a received body that has a reader: it may not pause longer than
//! [`Timeouts::body_idle`], nor stay below [`Timeouts::rate_min`]. One rule for every stream of
//! HTTP/2 and HTTP/3; HTTP/1.1, with one exchange at a time, applies the same rate.
//!
//! The rate applies to a body of known length that misses bytes, or where connections are scarce
//! ([`Scarcity`]). A body without a length owes no bytes: one gRPC message a minute may be all
//! there is to send. It costs a connection, and counts as slow only where these are scarce.
//!
//! Only the peer's time counts: the clock stops while bytes are unread here. The bytes of the whole
//! connection count: many bodies that share a slow path are not slow.

use crate::error::Violation;
use crate::limits::Timeouts;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether a server holds most of the connections that it may: then slow bodies without a length are
/// dribbles too. Its owner sets it, all of its connections look at it. The default is never scarce.
#[derive(Clone, Debug, Default)]
pub struct Scarcity(Option<Arc<AtomicBool>>);

impl Scarcity {
    /// One that can be set; its clones are the same.
    pub fn shared() -> Self {
        Self(Some(Arc::default()))
    }
    /// Connections are scarce from now on, or not any more.
    pub fn set(&self, is_scarce: bool) {
        if let Some(shared) = &self.0 {
            // Relaxed: nothing is ordered by it.
            shared.store(is_scarce, Ordering::Relaxed);
        }
    }
    /// Whether connections are scarce.
    pub fn is_set(&self) -> bool {
        let shared = self.0.as_ref();
        shared.is_some_and(|shared| shared.load(Ordering::Relaxed))
    }
}

/// The books of one body on its way in.
#[derive(Clone, Copy, Debug)]
pub struct MinRate {
    /// When something came last, or the peer's time began anew.
    received_at: Instant,
    /// The beginning of the time over which bytes are counted.
    since: Instant,
    /// Body bytes that had come on the connection by then.
    carried_then: u64,
    /// Since when bytes lie with our user.
    unread_since: Option<Instant>,
}

impl MinRate {
    /// A body that is due from now on. `carried`: body bytes that came on the connection so far.
    pub fn new(now: Instant, carried: u64) -> Self {
        Self {
            received_at: now,
            since: now,
            carried_then: carried,
            unread_since: None,
        }
    }
    /// When something came last.
    pub fn received_at(&self) -> Instant {
        self.received_at
    }
    /// Something came that is no body: it moves the idle time alone.
    pub fn note(&mut self, now: Instant) {
        self.received_at = now;
    }
    /// Body bytes came, and lie with our user.
    pub fn receive(&mut self, now: Instant) {
        self.received_at = now;
        self.unread_since.get_or_insert(now);
    }
    /// Our user has taken all that came.
    pub fn take(&mut self, now: Instant) {
        if let Some(at) = self.unread_since.take() {
            self.since += now.saturating_duration_since(at);
            self.received_at = now;
        }
    }
    /// The peer is not the one to act: its time starts anew.
    pub fn restart(&mut self, now: Instant, carried: u64) {
        *self = Self {
            unread_since: self.unread_since.map(|_| now),
            ..Self::new(now, carried)
        };
    }
    /// Excludes the time in which the service's pause stopped reading.
    pub fn postpone(&mut self, by: Duration) {
        if self.unread_since.is_none() {
            self.received_at += by;
            self.since += by;
        }
    }
    /// When to look again, for a peer that is the one to act. `is_due`: bytes are missing, or
    /// connections are scarce, so that they must come at a rate.
    ///
    /// # Errors
    /// Its time is up.
    pub fn check(
        &mut self,
        now: Instant,
        timeouts: &Timeouts,
        carried: u64,
        is_due: bool,
    ) -> Result<Option<Instant>, Violation> {
        let idle = timeouts.body_idle.map(|idle| self.received_at + idle);
        if idle.is_some_and(|at| at <= now) {
            return Err(Violation::BodyTimeout);
        }
        if timeouts.rate_min == 0 {
            return Ok(idle);
        }
        if self.since + timeouts.rate_grace <= now {
            let came = carried.saturating_sub(self.carried_then);
            if is_due && came < timeouts.least_bytes(timeouts.rate_grace) {
                return Err(Violation::BodyTooSlow);
            }
            self.since = now;
            self.carried_then = carried;
        }
        let rate = self.since + timeouts.rate_grace;
        Ok(Some(idle.map_or(rate, |idle| idle.min(rate))))
    }
}

#[cfg(test)]
#[path = "min_rate_test.rs"]
mod min_rate_test;
