//! The ids of streams (RFC 9113 section 5.1.1): odd, rising, and never used again. Push does not
//! exist here, so that only clients open streams.

use super::frame::STREAM_ID_MAX;
use super::stream_state::ClosedHow;
use crate::http::Side;

/// How far behind the newest stream an id may be and still be remembered when it closed.
const REMEMBERED_IDS: u32 = 512;
/// Closed streams remembered: 1 KiB. One of the last 256 ids that were opened is forgotten only if
/// a much older stream ends after it.
const CLOSED_MAX: usize = 256;
/// Where that memory begins: a connection with few exchanges keeps little.
const CLOSED_FIRST: usize = 8;

/// The ids that are used.
///
/// Invariant: both numbers only rise.
#[derive(Debug)]
pub(super) struct StreamIds {
    /// The highest stream that the peer opened; 0 before the first.
    last_peer: u32,
    /// Client: the id of the next stream that we open.
    next: u32,
    closed: ClosedMemory,
}

impl StreamIds {
    pub(super) fn new() -> Self {
        Self {
            last_peer: 0,
            next: 1,
            closed: ClosedMemory::default(),
        }
    }
    /// Client: the id of a stream that opens.
    #[inline]
    pub(super) fn open(&mut self) -> u32 {
        let id = self.next;
        self.next += 2;
        id
    }
    /// Client: the id of the next stream that opens, which skips those below. False: it is not one of
    /// a client's, or used.
    pub(super) fn skip_to(&mut self, id: u32) -> bool {
        let is_ours = id >= self.next && id <= STREAM_ID_MAX && !id.is_multiple_of(2);
        if is_ours {
            self.next = id;
        }
        is_ours
    }
    /// Client: the id of the next stream that opens.
    pub(super) fn next(&self) -> u32 {
        self.next
    }
    /// Client: whether an id is left. Without one a new connection has fresh ones.
    #[inline]
    pub(super) fn has_next(&self) -> bool {
        self.next <= STREAM_ID_MAX
    }
    /// Server: whether a header block on `id` opens a stream.
    #[inline]
    pub(super) fn is_new(&self, id: u32) -> bool {
        id > self.last_peer
    }
    /// Server: the client opened `id`, which skips those below.
    #[inline]
    pub(super) fn accept(&mut self, id: u32) {
        debug_assert!(self.is_new(id), "{id} is not above {}", self.last_peer);
        self.last_peer = id;
    }
    /// The highest stream that the peer opened; 0 before the first.
    #[inline]
    pub(super) fn last_peer(&self) -> u32 {
        self.last_peer
    }
    /// Whether no frame but HEADERS and PRIORITY may come on it yet (RFC 9113 section 5.1).
    pub(super) fn is_idle(&self, id: u32, side: Side) -> bool {
        id.is_multiple_of(2)
            || match side {
                Side::Client => id >= self.next,
                Side::Server => self.is_new(id),
            }
    }
    /// Server: whether an id of which nothing is remembered was skipped, and not closed long ago.
    pub(super) fn was_skipped(&self, id: u32) -> bool {
        self.last_peer - id < REMEMBERED_IDS
    }
    /// A stream ended.
    #[inline]
    pub(super) fn close(&mut self, id: u32, how: ClosedHow) {
        self.closed.remember(id, how);
    }
    /// How a stream ended, as far as it is remembered: `None` for live and idle ids, for ids that
    /// were skipped, and for those that closed long ago. A late DATA on one of the last is best
    /// ignored (it may cross our reset) and counted as a glitch; HEADERS reuse an id (RFC 9113
    /// section 5.1.1).
    pub(super) fn closed(&self, id: u32) -> Option<ClosedHow> {
        self.closed.recall(id)
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
            if let Some(end) = self.ends.get_mut(half as usize & places.wrapping_sub(1))
                && (places == CLOSED_MAX || *end == 0 || *end >> 2 == half)
            {
                *end = half << 2 | how;
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

#[cfg(test)]
#[path = "stream_ids_test.rs"]
mod stream_ids_test;
