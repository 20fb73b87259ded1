//! One heap for the deadlines of all connections of an endpoint. Moving a deadline pushes a new
//! entry; the old one is dropped when it reaches the top, so a move never searches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// The deadlines by key, one per key.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
    /// By key: when it is due, and the earliest entry that the heap has for it.
    due: Vec<Due>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Due {
    at: Option<Instant>,
    /// An entry for this time is in the heap. Invariant: not after `at`.
    queued: Option<Instant>,
}

impl Timers {
    /// Sets or clears the deadline of `key`. A deadline that moves away costs nothing before its
    /// old entry comes up, and most of them always move away.
    pub(crate) fn set(&mut self, key: u32, at: Option<Instant>) {
        let index = key as usize;
        if index >= self.due.len() {
            self.due.resize(index + 1, Due::default());
        }
        let due = &mut self.due[index];
        due.at = at;
        if let Some(at) = at
            && due.queued.is_none_or(|queued| at < queued)
        {
            due.queued = Some(at);
            self.heap.push(Reverse((at, key)));
        }
    }
    /// The next key whose deadline is at or before `now`; its deadline is cleared.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<u32> {
        while let Some(&Reverse((at, key))) = self.heap.peek() {
            if at > now {
                return None;
            }
            self.heap.pop();
            let due = &mut self.due[key as usize];
            if due.queued != Some(at) {
                // A nearer entry took its place, and has come up.
                continue;
            }
            due.queued = None;
            match due.at {
                Some(moved) if moved > now => {
                    due.queued = Some(moved);
                    self.heap.push(Reverse((moved, key)));
                }
                Some(_) => {
                    due.at = None;
                    return Some(key);
                }
                None => {}
            }
        }
        None
    }
    /// When to look again. Not after the first deadline; perhaps before it.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }
}

#[cfg(test)]
#[path = "timers_test.rs"]
mod timers_test;
