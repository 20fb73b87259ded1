//! How fast a peer sends a body that somebody waits for: it may not stop for long
//! ([`Timeouts::body_idle`]), and not dribble ([`Timeouts::rate_min`]). One rule for every stream of
//! HTTP/2 and HTTP/3; HTTP/1.1, whose connection is one exchange at a time, asks for the same bytes.
//!
//! Only the peer's own time counts: while bytes lie with our user, the clock stands. What comes on
//! the whole connection counts: many bodies that share a slow line are not slow.

use crate::error::Violation;
use crate::limits::Timeouts;
use std::time::{Duration, Instant};

/// The books of one body on its way in.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// When something came last, or the peer's time began anew.
    heard_at: Instant,
    /// The beginning of the time over which bytes are counted.
    since: Instant,
    /// Body bytes that had come on the connection by then.
    carried_then: u64,
    /// Since when bytes lie with our user.
    held_at: Option<Instant>,
}

impl Pace {
    /// A body that is due from now on. `carried`: body bytes that came on the connection so far.
    pub fn new(now: Instant, carried: u64) -> Self {
        Self {
            heard_at: now,
            since: now,
            carried_then: carried,
            held_at: None,
        }
    }
    /// When something came last.
    pub fn heard_at(&self) -> Instant {
        self.heard_at
    }
    /// Something came that is no body: it moves the idle time alone.
    pub fn note(&mut self, now: Instant) {
        self.heard_at = now;
    }
    /// Body bytes came, and lie with our user.
    pub fn receive(&mut self, now: Instant) {
        self.heard_at = now;
        self.held_at.get_or_insert(now);
    }
    /// Our user has taken all that came.
    pub fn take(&mut self, now: Instant) {
        if let Some(at) = self.held_at.take() {
            self.since += now.saturating_duration_since(at);
            self.heard_at = now;
        }
    }
    /// The peer is not the one to act: its time starts anew.
    pub fn restart(&mut self, now: Instant, carried: u64) {
        *self = Self {
            held_at: self.held_at.map(|_| now),
            ..Self::new(now, carried)
        };
    }
    /// Nobody listened for so long: that was not the peer's time.
    pub fn postpone(&mut self, by: Duration) {
        if self.held_at.is_none() {
            self.heard_at += by;
            self.since += by;
        }
    }
    /// When to look again, for a peer that is the one to act.
    ///
    /// # Errors
    /// Its time is up.
    pub fn check(
        &mut self,
        now: Instant,
        timeouts: &Timeouts,
        carried: u64,
    ) -> Result<Option<Instant>, Violation> {
        let idle = timeouts.body_idle.map(|idle| self.heard_at + idle);
        if idle.is_some_and(|at| at <= now) {
            return Err(Violation::BodyTimeout);
        }
        if timeouts.rate_min == 0 {
            return Ok(idle);
        }
        if self.since + timeouts.rate_grace <= now {
            let came = carried.saturating_sub(self.carried_then);
            if came < timeouts.least_bytes(timeouts.rate_grace) {
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
#[path = "pace_test.rs"]
mod pace_test;
