//! The timer table: all deadlines of a connection, at most one per kind.

use std::time::{Duration, Instant};

/// A set of deadlines indexed by the kind's number, below `KINDS`; at most one per kind.
///
/// Half the size of a table of instants, and numbers compare faster: each deadline is the
/// nanoseconds since the table was created, which suffice for five hundred years.
#[derive(Clone, Copy, Debug)]
pub struct TimerTable<const KINDS: usize> {
    made_at: Instant,
    deadlines: [u64; KINDS],
}

/// An instant in the table's own units, to set several deadlines without converting each.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

/// No deadline.
const NONE: u64 = u64::MAX;

impl<const KINDS: usize> TimerTable<KINDS> {
    /// No deadlines; none to come is before `now`.
    pub fn new(now: Instant) -> Self {
        Self {
            made_at: now,
            deadlines: [NONE; KINDS],
        }
    }
    /// Forgets all deadlines.
    pub fn clear(&mut self) {
        self.deadlines = [NONE; KINDS];
    }
    /// Sets or moves the deadline of `kind`.
    pub fn set(&mut self, kind: usize, at: Instant) {
        self.deadlines[kind] = self.number(at);
    }
    /// `at` by the count of this table.
    pub fn moment(&self, at: Instant) -> Moment {
        Moment(self.number(at))
    }
    /// Sets or moves the deadline of `kind` to `after` behind `from`, which is of this table: most
    /// of the cost of [`set`](Self::set) is to find out what moment it is.
    pub fn set_after(&mut self, kind: usize, from: Moment, after: Duration) {
        self.deadlines[kind] = from.0.saturating_add(nanos(after)).min(NONE - 1);
    }
    /// Sets the deadline of `kind`, unless there is an earlier one.
    pub fn set_earlier(&mut self, kind: usize, at: Instant) {
        self.deadlines[kind] = self.deadlines[kind].min(self.number(at));
    }
    /// Forgets the deadline of `kind`.
    pub fn stop(&mut self, kind: usize) {
        self.deadlines[kind] = NONE;
    }
    /// The deadline of `kind`.
    pub fn get(&self, kind: usize) -> Option<Instant> {
        self.instant(self.deadlines[kind])
    }
    /// Whether `kind` has a deadline.
    pub fn is_set(&self, kind: usize) -> bool {
        self.deadlines[kind] != NONE
    }
    /// The earliest deadline.
    pub fn next(&self) -> Option<Instant> {
        self.instant(self.deadlines.iter().copied().min().unwrap_or(NONE))
    }
    /// Takes one kind whose deadline is at or before `now`.
    pub fn expire(&mut self, now: Instant) -> Option<usize> {
        let now = self.number(now);
        let kind = self.deadlines.iter().position(|&at| at <= now)?;
        self.deadlines[kind] = NONE;
        Some(kind)
    }

    /// Moves every deadline away by `by`.
    pub fn postpone(&mut self, by: Duration) {
        let by = nanos(by);
        for deadline in self.deadlines.iter_mut().filter(|at| **at != NONE) {
            *deadline = deadline.saturating_add(by).min(NONE - 1);
        }
    }

    fn number(&self, at: Instant) -> u64 {
        nanos(at.saturating_duration_since(self.made_at))
    }
    fn instant(&self, number: u64) -> Option<Instant> {
        (number != NONE).then(|| self.made_at + Duration::from_nanos(number))
    }
}

/// As [`Duration::as_nanos`], in half as many bits. Never [`NONE`]: a deadline that far away is due a
/// moment earlier.
#[inline]
fn nanos(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000_000);
    let nanos = seconds.saturating_add(duration.subsec_nanos().into());
    nanos.min(NONE - 1)
}

#[cfg(test)]
#[path = "time_test.rs"]
mod time_test;
