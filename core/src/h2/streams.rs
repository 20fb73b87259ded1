//! The streams of one connection, found by id without hashing and without allocation in the steady
//! state.
//!
//! Ids only rise and are odd (push does not exist), so most live ids lie close together: a ring
//! holds one slot number per id from `base` up, and the streams themselves are in a slab whose
//! slots are reused. A few old, long-lived ids (a tunnel, a download) would stretch the ring: they
//! move to an ordered map once it spans `SPAN_MAX` ids.
//!
//! Invariants: every live id is in the ring or in `old`, never in both; the ring's front is a live
//! id; the ring holds at most `SPAN_MAX` slots; a key stays the same as long as its stream.

pub(super) mod ids;

use super::stream_state::ClosedHow;
use std::collections::{BTreeMap, VecDeque};

#[cfg(test)]
#[path = "streams_test.rs"]
mod streams_test;

/// Odd ids that the ring spans at most: 4 KiB of slot numbers.
const SPAN_MAX: u32 = 1024;
/// Closed streams remembered: 1 KiB. One of the last 256 ids that were opened is forgotten only if
/// a much older stream ends after it.
const CLOSED_MAX: usize = 256;
/// Where that memory begins: a connection with few exchanges keeps little.
const CLOSED_FIRST: usize = 8;
/// In the ring: this id is not live. In the free list: its end.
const NONE: u32 = u32::MAX;

/// Streams by id, and by key: the place of a stream in the slab, small and dense, for queues.
#[derive(Debug)]
pub struct H2Streams<T> {
    /// The id of the ring's front. Odd.
    base: u32,
    ring: VecDeque<u32>,
    /// Live ids below `base`.
    old: BTreeMap<u32, u32>,
    slab: Vec<Entry<T>>,
    free: u32,
    len: u32,
    /// The highest id ever inserted; 0 before the first.
    last_id: u32,
    closed: ClosedMemory,
}

#[derive(Debug)]
enum Entry<T> {
    Live { id: u32, stream: T },
    Free { next: u32 },
}

impl<T> Default for H2Streams<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> H2Streams<T> {
    /// No streams, no memory.
    pub fn new() -> Self {
        Self {
            base: 1,
            ring: VecDeque::new(),
            old: BTreeMap::new(),
            slab: Vec::new(),
            free: NONE,
            len: 0,
            last_id: 0,
            closed: ClosedMemory::default(),
        }
    }

    /// Adds a stream and returns its key. `id` must be odd and above every id before it
    /// (RFC 9113 section 5.1.1): that is checked where the frame is judged.
    pub fn insert(&mut self, id: u32, stream: T) -> u32 {
        debug_assert!(id % 2 == 1, "id {id} must be odd");
        debug_assert!(id > self.last_id, "id {id} must be above {}", self.last_id);
        self.last_id = id;
        self.make_room(id);
        let key = self.insert_entry(id, stream);
        // Ids that were skipped are closed (RFC 9113 section 5.1.1): not live.
        let index = ((id - self.base) / 2) as usize;
        if self.ring.len() != index {
            self.ring.resize(index, NONE);
        }
        self.ring.push_back(key);
        self.len += 1;
        key
    }

    /// Takes a stream out, and remembers how it ended.
    // Callers that take it out want little of it: inlined, the rest need not be moved.
    #[inline]
    pub fn remove(&mut self, id: u32, how: ClosedHow) -> Option<T> {
        let key = match self.ring_index(id) {
            Some(index) => std::mem::replace(self.ring.get_mut(index)?, NONE),
            None => self.old.remove(&id)?,
        };
        let insert_entry = self.slab.get_mut(key as usize)?;
        let Entry::Live { stream, .. } =
            std::mem::replace(insert_entry, Entry::Free { next: self.free })
        else {
            unreachable!("the ring and the map name live places only");
        };
        self.free = key;
        self.len -= 1;
        self.closed.remember(id, how);
        self.drop_dead_front();
        Some(stream)
    }

    /// The stream with this id, if it is live.
    pub fn get(&self, id: u32) -> Option<&T> {
        self.by_key(self.key(id)?).map(|(_, stream)| stream)
    }

    /// The stream with this id, if it is live.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.by_key_mut(self.key(id)?).map(|(_, stream)| stream)
    }

    /// The key of a live stream.
    pub fn key(&self, id: u32) -> Option<u32> {
        let key = match self.ring_index(id) {
            Some(index) => *self.ring.get(index)?,
            None => *self.old.get(&id)?,
        };
        (key != NONE).then_some(key)
    }

    /// Id and stream at a key.
    pub fn by_key(&self, key: u32) -> Option<(u32, &T)> {
        match self.slab.get(key as usize)? {
            Entry::Live { id, stream } => Some((*id, stream)),
            Entry::Free { .. } => None,
        }
    }

    /// Id and stream at a key.
    pub fn by_key_mut(&mut self, key: u32) -> Option<(u32, &mut T)> {
        match self.slab.get_mut(key as usize)? {
            Entry::Live { id, stream } => Some((*id, stream)),
            Entry::Free { .. } => None,
        }
    }

    /// How a stream ended, as far as it is remembered: `None` for live and idle ids, for ids that
    /// were skipped, and for those that closed long ago. A late DATA on one of the last is best
    /// ignored (it may cross our reset) and counted as a glitch; HEADERS reuse an id (RFC 9113
    /// section 5.1.1).
    pub fn closed(&self, id: u32) -> Option<ClosedHow> {
        self.closed.recall(id)
    }

    /// Live streams.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether no stream is live.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The highest id ever inserted; 0 before the first. Odd ids above it are idle; those below
    /// that are not live are closed (RFC 9113 section 5.1.1).
    pub fn last_id(&self) -> u32 {
        self.last_id
    }

    /// Live ids in rising order.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let young = self.ring.iter().zip((self.base..).step_by(2));
        let young = young.filter_map(|(key, id)| (*key != NONE).then_some(id));
        self.old.keys().copied().chain(young)
    }

    /// Live streams with their ids, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> + '_ {
        self.slab
            .iter()
            .filter_map(|insert_entry| match insert_entry {
                Entry::Live { id, stream } => Some((*id, stream)),
                Entry::Free { .. } => None,
            })
    }

    /// Live streams with their ids, in the order of their keys.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> + '_ {
        self.slab
            .iter_mut()
            .filter_map(|insert_entry| match insert_entry {
                Entry::Live { id, stream } => Some((*id, stream)),
                Entry::Free { .. } => None,
            })
    }

    /// Gives memory back while no stream is live. Keys start again from 0.
    pub fn release(&mut self) {
        if self.is_empty() {
            self.ring = VecDeque::new();
            self.slab = Vec::new();
            self.free = NONE;
        }
    }

    /// Where `id` is in the ring, `None` if it is not an id that the ring can hold.
    fn ring_index(&self, id: u32) -> Option<usize> {
        // An even id must not find its odd neighbour.
        (id % 2 == 1).then_some(())?;
        Some((id.checked_sub(self.base)? / 2) as usize)
    }

    /// Moves the front on, and live ids there to `old`, until the ring may hold `id`.
    fn make_room(&mut self, id: u32) {
        while !self.ring.is_empty() && (id - self.base) / 2 >= SPAN_MAX {
            if let Some(key) = self.ring.pop_front()
                && key != NONE
            {
                self.old.insert(self.base, key);
            }
            self.base += 2;
        }
        if self.ring.is_empty() {
            self.base = id;
        }
    }

    /// Puts a stream into a free place of the slab.
    fn insert_entry(&mut self, id: u32, stream: T) -> u32 {
        let live = Entry::Live { id, stream };
        if let Some(insert_entry) = self.slab.get_mut(self.free as usize)
            && let Entry::Free { next } = *insert_entry
        {
            *insert_entry = live;
            return std::mem::replace(&mut self.free, next);
        }
        self.slab.push(live);
        (self.slab.len() - 1) as u32
    }

    fn drop_dead_front(&mut self) {
        while self.ring.front() == Some(&NONE) {
            self.ring.pop_front();
            self.base = self.base.saturating_add(2);
        }
    }
}

/// How recent streams ended: a table indexed by id, in which a later end overwrites one 512 ids
/// (256 odd ones) away. Empty until the first end; smaller, a power of two, until two of its ends
/// want one place.
#[derive(Debug, Default)]
struct ClosedMemory {
    /// `id >> 1` (30 bits) and then how (2 bits, 1..=3); 0 is nothing.
    ends: Vec<u32>,
}

impl ClosedMemory {
    fn remember(&mut self, id: u32, how: ClosedHow) {
        let how = match how {
            ClosedHow::Ended => 1,
            ClosedHow::ResetByPeer => 2,
            ClosedHow::ResetByUs => 3,
        };
        let half = id >> 1;
        loop {
            let places = self.ends.len();
            if let Some(insert_entry) = self.ends.get_mut(half as usize & places.wrapping_sub(1))
                && (places == CLOSED_MAX || *insert_entry == 0 || *insert_entry >> 2 == half)
            {
                *insert_entry = half << 2 | how;
                return;
            }
            self.grow();
        }
    }

    /// To twice the places: two ends that had one each have one each then.
    #[cold]
    fn grow(&mut self) {
        let places = (self.ends.len() * 2).clamp(CLOSED_FIRST, CLOSED_MAX);
        for end in std::mem::replace(&mut self.ends, vec![0; places]) {
            // An absent entry may fall on a present one.
            if end != 0 {
                self.ends[(end >> 2) as usize & (places - 1)] = end;
            }
        }
    }

    fn recall(&self, id: u32) -> Option<ClosedHow> {
        (id % 2 == 1).then_some(())?;
        let half = id >> 1;
        let last = self.ends.len().checked_sub(1)?;
        let end = *self.ends.get(half as usize & last)?;
        match (end >> 2 == half, end & 3) {
            (true, 1) => Some(ClosedHow::Ended),
            (true, 2) => Some(ClosedHow::ResetByPeer),
            (true, 3) => Some(ClosedHow::ResetByUs),
            _ => None,
        }
    }
}
