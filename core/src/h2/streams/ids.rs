//! The ids of streams (RFC 9113 section 5.1.1): odd, rising, and never used again. Push does not
//! exist here, so that only clients open streams.

use crate::h2::frame::STREAM_ID_MAX;
use crate::http::Side;

/// How far behind the newest stream an id may be and still be remembered when it closed.
const REMEMBERED_IDS: u32 = 512;

/// The ids that are used.
///
/// Invariant: both numbers only rise.
#[derive(Debug)]
pub(in crate::h2) struct StreamIds {
    /// The highest stream that the peer opened; 0 before the first.
    last_peer: u32,
    /// Client: the id of the next stream that we open.
    next: u32,
}

impl StreamIds {
    pub(in crate::h2) fn new() -> Self {
        Self {
            last_peer: 0,
            next: 1,
        }
    }
    /// Client: the id of a stream that opens.
    #[inline]
    pub(in crate::h2) fn open(&mut self) -> u32 {
        let id = self.next;
        self.next += 2;
        id
    }
    /// Client: the id of the next stream that opens, which skips those below. False: it is not one of
    /// a client's, or used.
    pub(in crate::h2) fn skip_to(&mut self, id: u32) -> bool {
        let is_ours = id >= self.next && id <= STREAM_ID_MAX && !id.is_multiple_of(2);
        if is_ours {
            self.next = id;
        }
        is_ours
    }
    /// Client: the id of the next stream that opens.
    pub(in crate::h2) fn next(&self) -> u32 {
        self.next
    }
    /// Client: whether an id is left. Without one a new connection has fresh ones.
    #[inline]
    pub(in crate::h2) fn has_next(&self) -> bool {
        self.next <= STREAM_ID_MAX
    }
    /// Server: whether a header block on `id` opens a stream.
    #[inline]
    pub(in crate::h2) fn is_new(&self, id: u32) -> bool {
        id > self.last_peer
    }
    /// Server: the client opened `id`, which skips those below.
    #[inline]
    pub(in crate::h2) fn accept(&mut self, id: u32) {
        debug_assert!(self.is_new(id), "{id} is not above {}", self.last_peer);
        self.last_peer = id;
    }
    /// The highest stream that the peer opened; 0 before the first.
    #[inline]
    pub(in crate::h2) fn last_peer(&self) -> u32 {
        self.last_peer
    }
    /// Whether no frame but HEADERS and PRIORITY may come on it yet (RFC 9113 section 5.1).
    pub(in crate::h2) fn is_idle(&self, id: u32, side: Side) -> bool {
        id.is_multiple_of(2)
            || match side {
                Side::Client => id >= self.next,
                Side::Server => self.is_new(id),
            }
    }
    /// Server: whether an id of which nothing is remembered was skipped, and not closed long ago.
    pub(in crate::h2) fn was_skipped(&self, id: u32) -> bool {
        self.last_peer - id < REMEMBERED_IDS
    }
}
