//! Which stream sends next (RFC 9218 section 10): the lowest urgency that has one; within it, in
//! order of arrival, a stream that is not incremental until it has nothing left, an incremental
//! one for one turn. So small streams that arrived behind large incremental ones are not starved,
//! nor the other way round.
//!
//! Streams are known by their key in [`Streams`](super::streams::Streams). Every operation is
//! O(1): one doubly linked list per urgency through an array of links indexed by key, and a bit
//! per urgency that has a stream. The array grows to the highest key and stays.
//!
//! Invariant: a bit of `waiting` is set exactly if the list of its urgency has a stream.

#[cfg(test)]
#[path = "schedule_test.rs"]
mod schedule_test;

/// Urgencies (RFC 9218 section 4.1): 0 is the most urgent.
pub const URGENCIES: usize = 8;
/// What a stream has that says nothing (RFC 9218 section 4.1).
pub const URGENCY_DEFAULT: u8 = 3;

/// No stream: the end of a list.
const NONE: u32 = u32::MAX;

/// How one stream competes with the others (RFC 9218 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rank {
    /// 0 (first) to 7 (last); higher values count as 7.
    pub urgency: u8,
    /// Whether its parts are of use before it is whole: it shares turns.
    pub incremental: bool,
}

impl Default for Rank {
    fn default() -> Self {
        Self {
            urgency: URGENCY_DEFAULT,
            incremental: false,
        }
    }
}

/// The streams that could send now, in the order they should.
#[derive(Debug)]
pub struct Schedule {
    links: Vec<Link>,
    lists: [List; URGENCIES],
    /// Bit `u`: the list of urgency `u` has a stream.
    waiting: u8,
    len: u32,
}

/// The place of one key. Meaningful only while `queued`.
#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
    rank: Rank,
    queued: bool,
}

#[derive(Clone, Copy, Debug)]
struct List {
    front: u32,
    back: u32,
}

impl Default for Schedule {
    fn default() -> Self {
        Self::new()
    }
}

impl Schedule {
    /// Nothing wants to send.
    pub fn new() -> Self {
        let empty = List {
            front: NONE,
            back: NONE,
        };
        Self {
            links: Vec::new(),
            lists: [empty; URGENCIES],
            waiting: 0,
            len: 0,
        }
    }

    /// The stream at `key` can send: it comes last within its urgency. One that is queued already
    /// keeps its place; use [`reprioritise`](Self::reprioritise) to change its rank.
    pub fn push(&mut self, key: u32, rank: Rank) {
        let at = key as usize;
        if at >= self.links.len() {
            let vacant = Link {
                prev: NONE,
                next: NONE,
                rank,
                queued: false,
            };
            self.links.resize(at + 1, vacant);
        }
        if self.links[at].queued {
            return;
        }
        let urgency = list_of(rank);
        let back = std::mem::replace(&mut self.lists[urgency].back, key);
        self.links[at] = Link {
            prev: back,
            next: NONE,
            rank,
            queued: true,
        };
        match back {
            NONE => self.lists[urgency].front = key,
            back => self.links[back as usize].next = key,
        }
        self.waiting |= 1 << urgency;
        self.len += 1;
    }

    /// The stream at `key` cannot send any more. Says whether it was queued.
    pub fn remove(&mut self, key: u32) -> bool {
        let Some(link) = self.links.get_mut(key as usize).filter(|link| link.queued) else {
            return false;
        };
        link.queued = false;
        let Link {
            prev, next, rank, ..
        } = *link;
        let urgency = list_of(rank);
        match prev {
            NONE => self.lists[urgency].front = next,
            prev => self.links[prev as usize].next = next,
        }
        match next {
            NONE => self.lists[urgency].back = prev,
            next => self.links[next as usize].prev = prev,
        }
        if self.lists[urgency].front == NONE {
            self.waiting &= !(1 << urgency);
        }
        self.len -= 1;
        true
    }

    /// The stream whose turn it is; it stays queued. After its turn call
    /// [`took_turn`](Self::took_turn), or [`remove`](Self::remove) if it can send no more.
    pub fn choose(&self) -> Option<u32> {
        let urgency = self.waiting.trailing_zeros() as usize;
        let list = self.lists.get(urgency)?;
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
        if let Some(rank) = self.rank(key)
            && rank.incremental
        {
            self.remove(key);
            self.push(key, rank);
        }
    }

    /// Changes the rank of a queued stream. With another urgency it comes last there; with the
    /// same one it keeps its place. A stream that is not queued has its rank with its owner.
    pub fn reprioritise(&mut self, key: u32, rank: Rank) {
        let Some(before) = self.rank(key) else {
            return;
        };
        if list_of(before) == list_of(rank) {
            self.links[key as usize].rank = rank;
        } else {
            self.remove(key);
            self.push(key, rank);
        }
    }

    /// The rank of a queued stream.
    pub fn rank(&self, key: u32) -> Option<Rank> {
        let link = self.links.get(key as usize)?;
        link.queued.then_some(link.rank)
    }

    /// Whether the stream is queued.
    pub fn contains(&self, key: u32) -> bool {
        self.rank(key).is_some()
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
        }
    }
}

/// The list a rank belongs to.
fn list_of(rank: Rank) -> usize {
    usize::from(rank.urgency).min(URGENCIES - 1)
}
