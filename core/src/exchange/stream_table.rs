//! The streams of one connection, found by id without hashing and without allocation in the steady
//! state.
//!
//! Ids of one kind only rise, in equal steps, so most live ids lie close together: a ring holds one slot
//! number per id from `base` up, and the streams themselves are in a slab whose slots are reused. A few
//! old, long-lived ids (a tunnel, a download) would stretch the ring: they move to an ordered map once it
//! spans `SPAN_MAX` ids.
//!
//! Invariants: every live id is in the ring or in `old`, never in both; the ring's front is a live id;
//! the ring holds at most `SPAN_MAX` slots; a key stays the same as long as its stream.

use crate::http::StreamId;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::marker::PhantomData;

#[cfg(test)]
#[path = "stream_table_test.rs"]
mod stream_table_test;

/// Ids that the ring spans at most: 4 KiB of slot numbers.
const SPAN_MAX: u64 = 1024;
/// In the ring: this id is not live. In the free list: its end.
const NONE: u32 = u32::MAX;

/// The ids of the streams that a client opens: how they are counted.
pub(crate) trait StreamNumbers {
    type Id: Copy + Debug + PartialEq;
    /// How many ids lie below this one; `None`: it is not one that a client opens.
    fn number(id: Self::Id) -> Option<u64>;
    /// The id that has `number` ids below it.
    fn id(number: u64) -> Self::Id;
}

/// The ids of HTTP/2's streams: 1, 3, 5 and so on (RFC 9113 section 5.1.1).
#[derive(Debug)]
pub(crate) struct H2Ids;

impl StreamNumbers for H2Ids {
    type Id = u32;
    #[inline]
    fn number(id: u32) -> Option<u64> {
        // An even id must not find its odd neighbour.
        (id % 2 == 1).then_some(u64::from(id / 2))
    }
    #[inline]
    fn id(number: u64) -> u32 {
        number as u32 * 2 + 1
    }
}

/// The ids of HTTP/3's request streams: 0, 4, 8 and so on (RFC 9000 section 2.1).
#[derive(Debug)]
pub(crate) struct H3Ids;

impl StreamNumbers for H3Ids {
    type Id = StreamId;
    #[inline]
    fn number(id: StreamId) -> Option<u64> {
        id.0.is_multiple_of(4).then_some(id.0 / 4)
    }
    #[inline]
    fn id(number: u64) -> StreamId {
        StreamId(number * 4)
    }
}

/// Streams by id, and by key: the place of a stream in the slab, small and dense, for queues.
#[derive(Debug)]
pub(crate) struct StreamTable<N: StreamNumbers, T> {
    /// The number of the ring's front.
    base: u64,
    ring: VecDeque<u32>,
    /// Live numbers below `base`.
    old: BTreeMap<u64, u32>,
    slab: Vec<Entry<N::Id, T>>,
    free: u32,
    len: u32,
    numbers: PhantomData<N>,
}

#[derive(Debug)]
enum Entry<I, T> {
    Live { id: I, stream: T },
    Free { next: u32 },
}

impl<N: StreamNumbers, T> StreamTable<N, T> {
    /// No streams, no memory.
    pub(crate) fn new() -> Self {
        Self {
            base: 0,
            ring: VecDeque::new(),
            old: BTreeMap::new(),
            slab: Vec::new(),
            free: NONE,
            len: 0,
            numbers: PhantomData,
        }
    }
    /// The id above all that were inserted or skipped.
    pub(crate) fn next_id(&self) -> N::Id {
        N::id(self.next())
    }
    fn next(&self) -> u64 {
        self.base + self.ring.len() as u64
    }
    /// Adds a stream and returns its key. `id`: [`next_id`](Self::next_id) or above; those between are
    /// skipped.
    pub(crate) fn insert(&mut self, id: N::Id, stream: T) -> u32 {
        let number = N::number(id).unwrap_or_else(|| self.next());
        debug_assert!(
            number >= self.next(),
            "id {id:?} must be above those before"
        );
        self.make_room(number);
        let key = self.insert_entry(id, stream);
        let index = (number - self.base) as usize;
        if self.ring.len() != index {
            self.ring.resize(index, NONE);
        }
        self.ring.push_back(key);
        self.len += 1;
        key
    }
    /// Skips the next id, which is never live.
    pub(crate) fn skip(&mut self) -> N::Id {
        let number = self.next();
        self.make_room(number);
        self.ring.push_back(NONE);
        self.drop_dead_front();
        N::id(number)
    }
    /// Takes a stream out.
    // Callers that take it out want little of it: inlined, the rest need not be moved.
    #[inline]
    pub(crate) fn remove(&mut self, id: N::Id) -> Option<T> {
        let number = N::number(id)?;
        let key = match self.ring_index(number) {
            Some(index) => std::mem::replace(self.ring.get_mut(index)?, NONE),
            None => self.old.remove(&number)?,
        };
        let entry = self.slab.get_mut(key as usize)?;
        let Entry::Live { stream, .. } = std::mem::replace(entry, Entry::Free { next: self.free })
        else {
            unreachable!("the ring and the map name live places only");
        };
        self.free = key;
        self.len -= 1;
        self.drop_dead_front();
        Some(stream)
    }
    /// The stream with this id, if it is live.
    pub(crate) fn get(&self, id: N::Id) -> Option<&T> {
        self.by_key(self.key(id)?).map(|(_, stream)| stream)
    }
    /// The stream with this id, if it is live.
    pub(crate) fn get_mut(&mut self, id: N::Id) -> Option<&mut T> {
        self.by_key_mut(self.key(id)?).map(|(_, stream)| stream)
    }
    /// The key of a live stream.
    pub(crate) fn key(&self, id: N::Id) -> Option<u32> {
        let number = N::number(id)?;
        let key = match self.ring_index(number) {
            Some(index) => *self.ring.get(index)?,
            None => *self.old.get(&number)?,
        };
        (key != NONE).then_some(key)
    }
    /// Id and stream at a key.
    pub(crate) fn by_key(&self, key: u32) -> Option<(N::Id, &T)> {
        self.slab.get(key as usize).and_then(Entry::live)
    }
    /// Id and stream at a key.
    pub(crate) fn by_key_mut(&mut self, key: u32) -> Option<(N::Id, &mut T)> {
        self.slab.get_mut(key as usize).and_then(Entry::live_mut)
    }
    /// Live streams.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }
    /// Whether no stream is live.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Live ids in rising order.
    pub(crate) fn ids(&self) -> Vec<N::Id> {
        let young = self.ring.iter().zip(self.base..);
        let young = young.filter_map(|(key, number)| (*key != NONE).then_some(number));
        let live = self.old.keys().copied().chain(young);
        live.map(N::id).collect()
    }
    /// Live streams with their ids, in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (N::Id, &T)> + '_ {
        self.slab.iter().filter_map(Entry::live)
    }
    /// Live streams with their ids, in the order of their keys.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (N::Id, &mut T)> + '_ {
        self.slab.iter_mut().filter_map(Entry::live_mut)
    }
    /// Gives memory back while no stream is live. Keys start again from 0.
    pub(crate) fn release(&mut self) {
        if self.is_empty() {
            self.ring = VecDeque::new();
            self.slab = Vec::new();
            self.free = NONE;
        }
    }

    /// Where a number is in the ring; `None`: it is below.
    fn ring_index(&self, number: u64) -> Option<usize> {
        let index = number.checked_sub(self.base)?;
        // The ring has no slot for an id far ahead of all.
        Some(usize::try_from(index).unwrap_or(usize::MAX))
    }
    /// Moves the front on, and live ids there to `old`, until the ring may hold this number.
    fn make_room(&mut self, number: u64) {
        while !self.ring.is_empty() && number - self.base >= SPAN_MAX {
            if let Some(key) = self.ring.pop_front()
                && key != NONE
            {
                self.old.insert(self.base, key);
            }
            self.base += 1;
        }
        if self.ring.is_empty() {
            self.base = number;
        }
    }
    /// Puts a stream into a free place of the slab.
    fn insert_entry(&mut self, id: N::Id, stream: T) -> u32 {
        let live = Entry::Live { id, stream };
        if let Some(entry) = self.slab.get_mut(self.free as usize)
            && let Entry::Free { next } = *entry
        {
            *entry = live;
            return std::mem::replace(&mut self.free, next);
        }
        self.slab.push(live);
        (self.slab.len() - 1) as u32
    }
    fn drop_dead_front(&mut self) {
        while self.ring.front() == Some(&NONE) {
            self.ring.pop_front();
            self.base += 1;
        }
    }
}

impl<I: Copy, T> Entry<I, T> {
    fn live(&self) -> Option<(I, &T)> {
        match self {
            Self::Live { id, stream } => Some((*id, stream)),
            Self::Free { .. } => None,
        }
    }
    fn live_mut(&mut self) -> Option<(I, &mut T)> {
        match self {
            Self::Live { id, stream } => Some((*id, stream)),
            Self::Free { .. } => None,
        }
    }
}
