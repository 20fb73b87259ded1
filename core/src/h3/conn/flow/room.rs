//! Room for outgoing bodies: the [`SendAccount`](crate::send_account::SendAccount) bounds the
//! waiting bytes per stream and per connection, the transport those behind it.
//!
//! Invariant: the owner of a stream that found no room gets `SendReady` when there is some.

use crate::h3::conn::Conn;
use crate::http::{Event, Side, StreamId};

impl Conn {
    /// Bytes that may wait on a stream before its body is paused.
    pub(in crate::h3) fn queue_max(&self) -> usize {
        let max = self.session.config().limits.send_buffer_bytes_max;
        match self.session.side() {
            Side::Server => self.session.send_account().queue_max(max),
            Side::Client => max,
        }
    }

    /// Follows what waits for the client; where there is room again, bodies go on.
    pub(in crate::h3) fn account_for_waiting(&mut self) {
        if self
            .session
            .account_for_waiting(self.actions.queued_bytes())
        {
            self.report_room_again();
        }
    }

    /// The connection has room for bodies again, which may have been asked for none. The streams
    /// behind the one that had a turn last are first.
    #[cold]
    fn report_room_again(&mut self) {
        let last = self.session.send_account().last_turn();
        let mut ids = self.streams.ids();
        ids.sort_by_key(|id| (id.0 <= last, id.0));
        for stream in ids {
            let open = self.streams.get(stream);
            if open.is_some_and(|open| open.sent.takes_content()) && self.send_room(stream) > 0 {
                self.session.push_event(Event::SendReady { stream });
            }
        }
    }

    /// The transport took a write: nothing may wait any more, and there may be room for the user
    /// again.
    pub(in crate::h3) fn note_send_room(&mut self, id: StreamId) {
        let half = self.queue_max() / 2;
        let Some(open) = self.streams.get_mut(id) else {
            return;
        };
        let Some(queue) = &mut open.queue else {
            return;
        };
        if queue.is_empty() && queue.clock.stop() {
            let had_turn = std::mem::take(&mut queue.has_turn);
            self.session.send_account_mut().end_turn(had_turn);
        }
        if queue.is_full && queue.len() <= half {
            queue.is_full = false;
            if open.sent.takes_content() && !self.session.send_account().is_exhausted() {
                self.session.push_event(Event::SendReady { stream: id });
            }
        }
    }
}
