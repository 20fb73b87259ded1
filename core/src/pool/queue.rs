//! Requests that wait: one line per origin, all in one slab, so that an abort takes a request out
//! in constant time wherever it stands.

use super::slab::{Key, Slab};
use std::time::Instant;

/// Names a waiting request until it leaves the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(Key);

/// A request in line.
#[derive(Debug)]
pub(super) struct Waiting<R> {
    pub(super) request: R,
    pub(super) origin: Key,
    pub(super) deadline: Option<Instant>,
    /// The connection that has just given the request back unprocessed: another one is better.
    pub(super) avoid: Option<Key>,
    before: Option<Key>,
    behind: Option<Key>,
}

/// The ends of one origin's line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    front: Option<Key>,
    back: Option<Key>,
    len: u32,
}

impl Line {
    pub(super) fn len(&self) -> u32 {
        self.len
    }
    pub(super) fn front(&self) -> Option<Ticket> {
        self.front.map(Ticket)
    }
}

/// Which end a request joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Front,
    Back,
}

/// All lines' entries.
#[derive(Debug)]
pub(super) struct Queue<R> {
    entries: Slab<Waiting<R>>,
}

impl<R> Default for Queue<R> {
    fn default() -> Self {
        Self {
            entries: Slab::default(),
        }
    }
}

impl<R> Queue<R> {
    pub(super) fn join(
        &mut self,
        line: &mut Line,
        end: End,
        origin: Key,
        request: R,
        deadline: Option<Instant>,
        avoid: Option<Key>,
    ) -> Ticket {
        let (before, behind) = match end {
            End::Front => (None, line.front),
            End::Back => (line.back, None),
        };
        let key = self.entries.insert(Waiting {
            request,
            origin,
            deadline,
            avoid,
            before,
            behind,
        });
        match before.and_then(|before| self.entries.get_mut(before)) {
            Some(before) => before.behind = Some(key),
            None => line.front = Some(key),
        }
        match behind.and_then(|behind| self.entries.get_mut(behind)) {
            Some(behind) => behind.before = Some(key),
            None => line.back = Some(key),
        }
        line.len += 1;
        Ticket(key)
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Waiting<R>> {
        self.entries.get(ticket.0)
    }

    /// Takes a request out of `line`, which must be the line it stands in.
    pub(super) fn leave(&mut self, line: &mut Line, ticket: Ticket) -> Option<Waiting<R>> {
        let entry = self.entries.remove(ticket.0)?;
        match entry.before.and_then(|before| self.entries.get_mut(before)) {
            Some(before) => before.behind = entry.behind,
            None => line.front = entry.behind,
        }
        match entry.behind.and_then(|behind| self.entries.get_mut(behind)) {
            Some(behind) => behind.before = entry.before,
            None => line.back = entry.before,
        }
        line.len -= 1;
        Some(entry)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}
