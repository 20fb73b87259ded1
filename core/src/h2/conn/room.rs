//! Room for outgoing bodies: the peer's window bounds the waiting bytes per stream, the
//! [`SendAccount`](crate::send_account::SendAccount) per connection.
//!
//! Invariant: the owner of a stream that found no room gets `SendReady` when there is some.

use super::Conn;
use crate::credit::Quota;
use crate::exchange::Framing;
use crate::http::{Event, Side, StreamId};
use crate::limits::SEND_SHUT_BYTES;

impl Conn {
    /// Follows what waits for the client; where there is room again, bodies go on.
    pub(super) fn account_for_waiting(&mut self) {
        if self.session.account_for_waiting(self.outbox.len()) {
            self.report_room_again();
        }
    }

    /// The connection has room for bodies again, which may have been asked for none. The streams
    /// behind the one that had a turn last are first.
    #[cold]
    fn report_room_again(&mut self) {
        let last = self.session.send_account().last_turn();
        let mut ids = self.streams.ids();
        ids.sort_by_key(|&id| (u64::from(id) <= last, id));
        for id in ids {
            let stream = StreamId(u64::from(id));
            let open = self.streams.get(id);
            if open.is_some_and(|open| open.sent.takes_content()) && self.send_room(stream) > 0 {
                self.session.push_event(Event::SendReady { stream });
            }
        }
    }

    /// Bytes that may wait on a stream before its body is paused. On a server the client's window
    /// bounds it: bytes beyond it could not be sent.
    pub(super) fn queue_max(&self, quota: Quota) -> usize {
        let max = self.session.config().limits.send_buffer_bytes_max;
        match self.session.side() {
            Side::Server => {
                let max = max.min(quota.available() as usize + SEND_SHUT_BYTES);
                self.session.send_account().queue_max(max)
            }
            Side::Client => max,
        }
    }

    /// Bytes of a body that were given and are in no frame yet.
    pub fn send_queued(&self, stream: StreamId) -> usize {
        let live = self.live_key(stream).ok();
        let open = live.and_then(|key| self.streams.by_key(key));
        open.map_or(0, |(_, open)| open.queued())
    }

    /// A stream whose queue was full has room: its queue is half empty, or its window grew.
    pub(super) fn note_room(&mut self, key: u32) {
        let Some((id, stream)) = self.streams.by_key(key) else {
            return;
        };
        let quota = stream.quota;
        let is_ready = stream.sent.takes_content()
            && stream
                .queue
                .as_ref()
                .is_some_and(|queue| queue.is_full && queue.len() <= self.queue_max(quota) / 2);
        if !is_ready {
            return;
        }
        if let Some((_, stream)) = self.streams.by_key_mut(key)
            && let Some(queue) = &mut stream.queue
        {
            queue.is_full = false;
        }
        if !self.session.send_account().is_exhausted() {
            let stream = StreamId(u64::from(id));
            self.session.push_event(Event::SendReady { stream });
        }
    }
}
