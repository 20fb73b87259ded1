//! The event queue: a heap ordered by time, and by insertion where times are equal, so that a seed
//! replays exactly.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Events, each with its time.
#[derive(Debug)]
pub struct EventQueue<T> {
    heap: BinaryHeap<Entry<T>>,
    pushed: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Instant,
    number: u64,
    event: T,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            pushed: 0,
        }
    }
}

impl<T> EventQueue<T> {
    /// Adds `event`, for `at`.
    pub fn push(&mut self, at: Instant, event: T) {
        self.pushed += 1;
        let number = self.pushed;
        self.heap.push(Entry { at, number, event });
    }
    /// The next event, and its time.
    pub fn pop(&mut self) -> Option<(Instant, T)> {
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}

impl<T> Entry<T> {
    fn key(&self) -> (Instant, u64) {
        (self.at, self.number)
    }
}

// The heap's greatest is the earliest.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}
