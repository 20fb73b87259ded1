//! All deadlines of a connection in one place.

use std::time::Instant;

/// A set of deadlines indexed by a small enum `T`; at most one per kind.
#[derive(Clone, Copy, Debug)]
pub struct TimerTable<const KINDS: usize> {
    deadlines: [Option<Instant>; KINDS],
}

impl<const KINDS: usize> Default for TimerTable<KINDS> {
    fn default() -> Self {
        Self {
            deadlines: [None; KINDS],
        }
    }
}

impl<const KINDS: usize> TimerTable<KINDS> {
    /// Sets or moves the deadline of `kind`.
    pub fn set(&mut self, kind: usize, at: Instant) {
        self.deadlines[kind] = Some(at);
    }
    /// Sets the deadline of `kind`, unless there is an earlier one.
    pub fn set_earlier(&mut self, kind: usize, at: Instant) {
        let deadline = &mut self.deadlines[kind];
        if deadline.is_none_or(|set| at < set) {
            *deadline = Some(at);
        }
    }
    /// Forgets the deadline of `kind`.
    pub fn stop(&mut self, kind: usize) {
        self.deadlines[kind] = None;
    }
    /// The deadline of `kind`.
    pub fn get(&self, kind: usize) -> Option<Instant> {
        self.deadlines[kind]
    }
    /// The earliest deadline.
    pub fn next(&self) -> Option<Instant> {
        self.deadlines.iter().flatten().min().copied()
    }
    /// Takes one kind whose deadline is at or before `now`.
    pub fn expire(&mut self, now: Instant) -> Option<usize> {
        let kind = self
            .deadlines
            .iter()
            .position(|at| at.is_some_and(|at| at <= now))?;
        self.deadlines[kind] = None;
        Some(kind)
    }
}

#[cfg(test)]
#[path = "time_test.rs"]
mod time_test;
