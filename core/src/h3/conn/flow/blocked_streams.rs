//! Streams for which the transport took no more: its window for bytes without an acknowledgement is full, or the peer's window is.
//!
//! Invariant: a stream is here once at most, and not in the scheduler; those that got no room go before the one that got the last of
//! it, so that each has its turn however little room there is at once, and in whatever order the transport reports it.

use crate::h3::conn::Conn;
use crate::http::StreamId;

/// Blocked streams, in the order in which they go on.
#[derive(Debug, Default)]
pub(in crate::h3) struct BlockedStreams {
    waiting: Vec<StreamId>,
    /// It got what room there was: it goes on last.
    served: Option<StreamId>,
    /// The transport takes more of some.
    has_room: bool,
}

impl BlockedStreams {
    /// `was_served`: the transport took a part of its last write.
    pub(in crate::h3) fn push(&mut self, id: StreamId, was_served: bool) {
        let last = match was_served {
            true => self.served.replace(id),
            false => Some(id),
        };
        self.waiting.extend(last);
    }
    pub(in crate::h3) fn note_room(&mut self) {
        self.has_room = true;
    }
    /// A stream is gone.
    pub(in crate::h3) fn remove(&mut self, id: StreamId) {
        self.waiting.retain(|waiting| *waiting != id);
        self.served.take_if(|served| *served == id);
    }
    /// Gives memory back while none waits.
    pub(in crate::h3) fn release(&mut self) {
        if self.waiting.is_empty() {
            self.waiting = Vec::new();
        }
    }
}

impl Conn {
    /// Streams that have room again go on, in their order.
    pub(in crate::h3) fn resume_unblocked(&mut self) {
        if !std::mem::take(&mut self.blocked_streams.has_room) {
            return;
        }
        let mut blocked = std::mem::take(&mut self.blocked_streams);
        blocked.waiting.extend(blocked.served.take());
        blocked.waiting.retain(|id| {
            let is_blocked = self.streams.get(*id).is_some_and(|open| open.blocked);
            if !is_blocked {
                self.schedule_stream(*id);
            }
            is_blocked
        });
        self.blocked_streams = blocked;
    }
}
