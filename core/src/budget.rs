//! A token bucket: a burst, and a refill per second. Every flood limit is one ([`Budget`]), and so is the pace by which we
//! stay below those of peers (`Pace`).

use std::time::{Duration, Instant};

/// Burst and refill of a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Points that may be charged at once.
    pub burst: u32,
    /// Points that come back per second.
    pub per_second: u32,
}

/// Points left. Invariant: never above the burst of its rate.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    rate: Rate,
    /// Thousandths of a point, so that slow refills are not lost to rounding.
    left_milli: u64,
    refilled_at: Instant,
}

impl Budget {
    /// A full budget.
    pub fn new(rate: Rate, now: Instant) -> Self {
        Self {
            rate,
            left_milli: u64::from(rate.burst) * 1000,
            refilled_at: now,
        }
    }
    /// Takes `points`; false when they are not there (then nothing is taken).
    #[must_use]
    pub fn charge(&mut self, points: u32, now: Instant) -> bool {
        let cost = u64::from(points) * 1000;
        // Always: a refill put off until it is needed would count the same time again behind a
        // full burst, and let twice the burst through.
        self.refill(now);
        if self.left_milli < cost {
            return false;
        }
        self.left_milli -= cost;
        true
    }
    /// The share of the burst that is used, in per cent.
    pub fn used_percent(&mut self, now: Instant) -> u32 {
        self.refill(now);
        let full = u64::from(self.rate.burst).max(1) * 1000;
        ((full - self.left_milli.min(full)) * 100 / full) as u32
    }
    fn refill(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.refilled_at);
        // Only whole milliseconds count; the rest is kept for the next time.
        let whole_ms = elapsed.as_millis().min(u128::from(u32::MAX)) as u32;
        if whole_ms == 0 {
            return;
        }
        let back = u64::from(whole_ms) * u64::from(self.rate.per_second);
        let full = u64::from(self.rate.burst) * 1000;
        self.left_milli = self.left_milli.saturating_add(back).min(full);
        self.refilled_at += Duration::from_millis(u64::from(whole_ms));
    }
}

/// A rate that delays in place of refusing: beyond the burst, each charge holds its successor until the refill has come to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    rate: Rate,
    /// When all charges so far would have been due at the refill.
    paced_until: Instant,
}

impl Pace {
    /// Nothing is charged yet.
    pub(crate) fn new(rate: Rate, now: Instant) -> Self {
        Self {
            rate,
            paced_until: now,
        }
    }
    /// Charges one; the time from which its successor may follow.
    pub(crate) fn charge(&mut self, now: Instant) -> Instant {
        self.paced_until = self.paced_until.max(now) + self.gap();
        self.held_until().map_or(now, |at| at.max(now))
    }
    /// The number of successors that wait.
    pub(crate) fn held(&self, now: Instant) -> u32 {
        let wait = self
            .held_until()
            .map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        wait.as_nanos().div_ceil(self.gap().as_nanos()) as u32
    }
    /// When one fewer waits; `None`: none does.
    pub(crate) fn next_release(&self, now: Instant) -> Option<Instant> {
        let later = self.held(now).checked_sub(1)?;
        self.held_until()?.checked_sub(self.gap() * later)
    }
    fn gap(&self) -> Duration {
        Duration::from_secs(1) / self.rate.per_second
    }
    /// The burst is how far the charges may be ahead of their pace. `None`: the clock has not run for so long.
    fn held_until(&self) -> Option<Instant> {
        self.paced_until.checked_sub(self.gap() * self.rate.burst)
    }
}

#[cfg(test)]
#[path = "budget_test.rs"]
mod budget_test;
