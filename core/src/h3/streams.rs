//! The request streams of one connection, found by id without hashing and without allocation in
//! the steady state.
//!
//! Streams are opened in the order of their ids, 0, 4, 8 and so on (RFC 9000 section 2.1), so the
//! number of a stream is its id by four. A ring holds one slot per number from `base` up; the
//! streams themselves are in a slab whose slots are reused. A few old, long-lived ones would
//! stretch the ring: they move to an ordered map once it spans `SPAN_MAX` numbers.
//!
//! Invariants: every live stream is in the ring or in `old`, never in both; the ring's front is a
//! live stream; a key stays the same as long as its stream.

pub mod credit;

use crate::http::StreamId;
use std::collections::{BTreeMap, VecDeque};

/// Numbers that the ring spans at most: 8 KiB of slots.
const SPAN_MAX: usize = 2048;
/// In the ring: not live. In the free list: its end.
const NONE: u32 = u32::MAX;

/// Streams by id, and by key: the place of a stream in the slab, small and dense, for queues.
#[derive(Debug)]
pub struct H3Streams<T> {
    /// The number of the ring's front.
    base: u64,
    ring: VecDeque<u32>,
    /// Live numbers below `base`.
    old: BTreeMap<u64, u32>,
    slab: Vec<Entry<T>>,
    free: u32,
    len: u32,
}

#[derive(Debug)]
enum Entry<T> {
    Live { id: StreamId, stream: T },
    Free { next: u32 },
}

impl<T> Default for H3Streams<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> H3Streams<T> {
    /// No streams, no memory.
    pub fn new() -> Self {
        Self {
            base: 0,
            ring: VecDeque::new(),
            old: BTreeMap::new(),
            slab: Vec::new(),
            free: NONE,
            len: 0,
        }
    }
    /// The id of the stream that is opened next.
    pub fn next_id(&self) -> StreamId {
        StreamId((self.base + self.ring.len() as u64) * 4)
    }
    /// Opens the next stream.
    pub fn open(&mut self, stream: T) -> StreamId {
        let id = self.next_id();
        let key = self.insert_entry(id, stream);
        self.ring.push_back(key);
        self.len += 1;
        if self.ring.len() > SPAN_MAX {
            self.retire_front();
        }
        self.drop_dead_front();
        id
    }
    /// Opens the next stream and forgets it at once.
    pub fn skip(&mut self) -> StreamId {
        let id = self.next_id();
        self.ring.push_back(NONE);
        self.drop_dead_front();
        id
    }
    /// Takes a stream out.
    pub fn remove(&mut self, id: StreamId) -> Option<T> {
        let key = self.key(id)?;
        match self.ring_index(id) {
            Some(index) => self.ring[index] = NONE,
            None => drop(self.old.remove(&(id.0 / 4))),
        }
        let insert_entry = &mut self.slab[key as usize];
        let freed = std::mem::replace(insert_entry, Entry::Free { next: self.free });
        self.free = key;
        self.len -= 1;
        self.drop_dead_front();
        match freed {
            Entry::Live { stream, .. } => Some(stream),
            Entry::Free { .. } => None,
        }
    }
    /// The stream with this id, if it is live.
    pub fn get(&self, id: StreamId) -> Option<&T> {
        match self.slab.get(self.key(id)? as usize)? {
            Entry::Live { stream, .. } => Some(stream),
            Entry::Free { .. } => None,
        }
    }
    /// The stream with this id, if it is live.
    pub fn get_mut(&mut self, id: StreamId) -> Option<&mut T> {
        let key = self.key(id)?;
        self.by_key_mut(key).map(|(_, stream)| stream)
    }
    /// The key of a live stream.
    pub fn key(&self, id: StreamId) -> Option<u32> {
        if !id.0.is_multiple_of(4) {
            return None;
        }
        let key = match self.ring_index(id) {
            Some(index) => *self.ring.get(index)?,
            None => *self.old.get(&(id.0 / 4))?,
        };
        (key != NONE).then_some(key)
    }
    /// The stream at a key.
    pub fn by_key(&self, key: u32) -> Option<(StreamId, &T)> {
        match self.slab.get(key as usize)? {
            Entry::Live { id, stream } => Some((*id, stream)),
            Entry::Free { .. } => None,
        }
    }
    /// The stream at a key.
    pub fn by_key_mut(&mut self, key: u32) -> Option<(StreamId, &mut T)> {
        match self.slab.get_mut(key as usize)? {
            Entry::Live { id, stream } => Some((*id, stream)),
            Entry::Free { .. } => None,
        }
    }
    /// Every live stream, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (StreamId, &T)> {
        self.slab
            .iter()
            .filter_map(|insert_entry| match insert_entry {
                Entry::Live { id, stream } => Some((*id, stream)),
                Entry::Free { .. } => None,
            })
    }
    /// Every live stream, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (StreamId, &mut T)> {
        self.slab
            .iter_mut()
            .filter_map(|insert_entry| match insert_entry {
                Entry::Live { id, stream } => Some((*id, stream)),
                Entry::Free { .. } => None,
            })
    }
    /// The ids of the live streams, ascending.
    pub fn ids(&self) -> Vec<StreamId> {
        let old = self.old.keys().map(|number| StreamId(number * 4));
        let live = self.ring.iter().enumerate();
        let live = live.filter(|&(_, &key)| key != NONE);
        old.chain(live.map(|(index, _)| StreamId((self.base + index as u64) * 4)))
            .collect()
    }
    /// How many are live.
    pub fn len(&self) -> u32 {
        self.len
    }
    /// Whether none is live.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Gives memory back while none is live.
    pub fn release(&mut self) {
        if self.is_empty() {
            self.slab = Vec::new();
            self.free = NONE;
            self.ring = VecDeque::new();
        }
    }

    fn ring_index(&self, id: StreamId) -> Option<usize> {
        let index = (id.0 / 4).checked_sub(self.base)?;
        // The ring has no slot for an id far ahead of all.
        Some(usize::try_from(index).unwrap_or(usize::MAX))
    }
    fn insert_entry(&mut self, id: StreamId, stream: T) -> u32 {
        let live = Entry::Live { id, stream };
        match self.slab.get_mut(self.free as usize) {
            Some(insert_entry) => {
                let key = self.free;
                if let Entry::Free { next } = std::mem::replace(insert_entry, live) {
                    self.free = next;
                }
                key
            }
            None => {
                self.slab.push(live);
                self.slab.len() as u32 - 1
            }
        }
    }
    /// The ring is full: its oldest stream lives on in the map.
    fn retire_front(&mut self) {
        if let Some(key) = self.ring.pop_front() {
            if key != NONE {
                self.old.insert(self.base, key);
            }
            self.base += 1;
        }
    }
    fn drop_dead_front(&mut self) {
        while self.ring.front() == Some(&NONE) {
            self.ring.pop_front();
            self.base += 1;
        }
    }
}

#[cfg(test)]
#[path = "streams_test.rs"]
mod streams_test;
