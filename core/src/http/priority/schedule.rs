//! Chooses the stream that sends next (RFC 9218 section 10): the lowest urgency first; within it,
//! in order of arrival, a non-incremental stream until it is drained, an incremental one for one
//! turn. So neither small streams behind large incremental ones are starved, nor the reverse.
//!
//! Streams are known by the key of their slab: small and dense. Every operation is
//! O(1): one doubly linked list per urgency through an array of links indexed by key, and a bit
//! per urgency that has a stream. The array grows to the highest key and stays.
//!
//! Invariant: a bit of `waiting` is set exactly if the list of its urgency has a stream.

use super::{Priority, URGENCY_MAX};

#[cfg(test)]
#[path = "schedule_test.rs"]
mod schedule_test;

/// Urgencies (RFC 9218 section 4.1): 0 is the most urgent.
pub const URGENCIES: usize = URGENCY_MAX as usize + 1;
/// No stream: the end of a list.
const NONE: u32 = u32::MAX;

/// The streams that could send now, in the order they should.
#[derive(Debug, Default)]
pub struct Schedule {
    links: Vec<Link>,
    /// Nothing while nothing waits and the memory was given back.
    lists: Option<Box<Lists>>,
    /// Bit `u`: the list of urgency `u` has a stream.
    waiting: u8,
    len: u32,
}

type Lists = [List; URGENCIES];

/// The place of one key. Meaningful only while `queued`.
#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
    priority: Priority,
    queued: bool,
}

#[derive(Clone, Copy, Debug)]
struct List {
    front: u32,
    back: u32,
}

impl Schedule {
    /// A schedule without a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// The stream at `key` can send: it comes last within its urgency. One that is queued already
    /// keeps its place; use [`reprioritise`](Self::reprioritise) to change its priority.
    pub fn push(&mut self, key: u32, priority: Priority) {
        let at = key as usize;
        if at >= self.links.len() {
            let vacant = Link {
                prev: NONE,
                next: NONE,
                priority,
                queued: false,
            };
            self.links.resize(at + 1, vacant);
        }
        if self.links[at].queued {
            return;
        }
        let urgency = list_of(priority);
        let lists = self.lists.get_or_insert_with(empty_lists);
        let back = std::mem::replace(&mut lists[urgency].back, key);
        self.links[at] = Link {
            prev: back,
            next: NONE,
            priority,
            queued: true,
        };
        match back {
            NONE => lists[urgency].front = key,
            back => self.links[back as usize].next = key,
        }
        self.waiting |= 1 << urgency;
        self.len += 1;
    }

    /// The stream at `key` cannot send any more. Says whether it was queued.
    pub fn remove(&mut self, key: u32) -> bool {
        let link = self.links.get_mut(key as usize);
        let (Some(link), Some(lists)) = (link.filter(|link| link.queued), &mut self.lists) else {
            return false;
        };
        link.queued = false;
        let Link {
            prev,
            next,
            priority,
            ..
        } = *link;
        let urgency = list_of(priority);
        match prev {
            NONE => lists[urgency].front = next,
            prev => self.links[prev as usize].next = next,
        }
        match next {
            NONE => lists[urgency].back = prev,
            next => self.links[next as usize].prev = prev,
        }
        if lists[urgency].front == NONE {
            self.waiting &= !(1 << urgency);
        }
        self.len -= 1;
        true
    }

    /// The stream whose turn it is; it stays queued. After its turn call
    /// [`took_turn`](Self::took_turn), or [`remove`](Self::remove) if it can send no more.
    pub fn choose(&self) -> Option<u32> {
        let urgency = self.waiting.trailing_zeros() as usize;
        let list = self.lists.as_ref()?.get(urgency)?;
        Some(list.front)
    }

    /// Takes the stream whose turn it is out.
    pub fn pop(&mut self) -> Option<u32> {
        let key = self.choose()?;
        self.remove(key);
        Some(key)
    }

    /// The stream at `key` sent its share and can send more: an incremental one goes behind the
    /// others of its urgency, another one goes on.
    pub fn took_turn(&mut self, key: u32) {
        if let Some(priority) = self.priority(key)
            && priority.incremental
        {
            self.remove(key);
            self.push(key, priority);
        }
    }

    /// Changes the priority of a queued stream. With another urgency it comes last there; with the
    /// same one it keeps its place. A stream that is not queued has its priority with its owner.
    pub fn reprioritise(&mut self, key: u32, priority: Priority) {
        let Some(before) = self.priority(key) else {
            return;
        };
        if list_of(before) == list_of(priority) {
            self.links[key as usize].priority = priority;
        } else {
            self.remove(key);
            self.push(key, priority);
        }
    }

    /// The priority of a queued stream.
    pub fn priority(&self, key: u32) -> Option<Priority> {
        let link = self.links.get(key as usize)?;
        link.queued.then_some(link.priority)
    }

    /// Whether the stream is queued.
    pub fn contains(&self, key: u32) -> bool {
        self.priority(key).is_some()
    }

    /// Streams that could send.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether no stream could send.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Gives memory back while nothing wants to send.
    pub fn release(&mut self) {
        if self.is_empty() {
            self.links = Vec::new();
            self.lists = None;
        }
    }
}

fn empty_lists() -> Box<Lists> {
    let empty = List {
        front: NONE,
        back: NONE,
    };
    Box::new([empty; URGENCIES])
}

/// The list a priority belongs to.
fn list_of(priority: Priority) -> usize {
    usize::from(priority.urgency).min(URGENCIES - 1)
}
