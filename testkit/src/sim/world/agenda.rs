//! The event queue: a heap ordered by time, and by insertion where times are equal, so that a seed
//! replays exactly.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Things to come.
#[derive(Debug)]
pub struct Agenda<T> {
    heap: BinaryHeap<Entry<T>>,
    entered: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Instant,
    number: u64,
    thing: T,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            entered: 0,
        }
    }
}

impl<T> Agenda<T> {
    /// Enters `thing` for `at`.
    pub fn enter(&mut self, at: Instant, thing: T) {
        self.entered += 1;
        let number = self.entered;
        self.heap.push(Entry { at, number, thing });
    }
    /// Takes the next thing.
    pub fn take(&mut self) -> Option<(Instant, T)> {
        self.heap.pop().map(|entry| (entry.at, entry.thing))
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
