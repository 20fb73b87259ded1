//! Completions for JavaScript: the ring, and an overflow queue behind it for those that found no
//! room. None is lost and the order is kept. A sleeping side is always woken: JavaScript checks for
//! overflow after each time that it makes room ([`Completions::set_overflows`]), and the engine
//! checks for room before each sleep.

use super::ring::{Completions, Entry, Memory};
use super::sync::Arc;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Looks at what waits for JavaScript that are remembered: with one every 50 ms, a lag of 12 s is exact, and a longer one is
/// that of the completions which waited then.
const LOOKS_MAX: usize = 256;

pub(crate) struct Outbound {
    completions: Completions,
    overflow: VecDeque<(Entry, Vec<u8>, Vec<u8>)>,
    /// When completions were found waiting, and the number of the last of them; the oldest look of which one still waits is the
    /// first.
    looks: VecDeque<(Instant, u32)>,
}

impl Outbound {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self {
            completions: Completions::new(memory),
            overflow: VecDeque::new(),
            looks: VecDeque::new(),
        }
    }
    /// How long the oldest completion has waited for JavaScript, since a look at it first found it.
    pub(crate) fn lag(&mut self, now: Instant) -> Duration {
        let (written, drained) = self.completions.progress();
        while let Some(&(_, last)) = self.looks.front()
            // Positions wrap around.
            && drained.wrapping_sub(last) as i32 >= 0
        {
            self.looks.pop_front();
        }
        let is_new = self.looks.back().is_none_or(|&(_, last)| last != written);
        if written != drained && is_new && self.looks.len() < LOOKS_MAX {
            self.looks.push_back((now, written));
        }
        let oldest = self.looks.front();
        oldest.map_or(Duration::ZERO, |&(at, _)| now.saturating_duration_since(at))
    }
    /// Sends a completion to JavaScript. True: it sleeps and must be woken now, by the caller.
    #[must_use]
    pub(crate) fn complete(&mut self, entry: Entry, first: &[u8], second: &[u8]) -> bool {
        let has_room = self.overflow.is_empty();
        if !has_room || !self.completions.push(entry, first, second) {
            let waiting = (entry, first.to_vec(), second.to_vec());
            self.overflow.push_back(waiting);
            self.completions.set_overflows(true);
        }
        self.completions.is_pressing() && self.completions.announce()
    }
    /// Moves what waits into the ring, as far as it has room. True: something waited, and nothing
    /// does any more.
    pub(crate) fn spill(&mut self) -> bool {
        while let Some((entry, first, second)) = self.overflow.front() {
            if !self.completions.push(*entry, first, second) {
                return false;
            }
            self.overflow.pop_front();
            if self.overflow.is_empty() {
                // Memory that one burst took is not kept for the next.
                self.overflow = VecDeque::new();
                self.completions.set_overflows(false);
                return true;
            }
        }
        false
    }
    /// Whether completions wait outside of the ring.
    pub(crate) fn is_behind(&self) -> bool {
        !self.overflow.is_empty()
    }
    /// The engine is about to sleep. True: JavaScript sleeps and something is new; the caller
    /// rings.
    #[must_use]
    pub(crate) fn announce(&mut self) -> bool {
        self.completions.announce()
    }
}

#[cfg(test)]
#[path = "outbound_test.rs"]
mod outbound_test;
