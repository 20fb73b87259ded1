//! A snapshot of the connection. Exchanges are in the order of their requests.

use super::Conn;
use crate::h1::exchange::{Exchange, SendLength, Sending};
use crate::http::{Side, Version};
use crate::inspect::{ConnectionSnapshot, Sends, StreamSnapshot, receive_wait};
use std::time::{Duration, Instant};

impl Conn {
    /// The connection and its `streams_max` oldest exchanges, now.
    pub fn inspect(&self, now: Instant, streams_max: usize) -> ConnectionSnapshot {
        let open = self.exchanges.iter().enumerate();
        let mut open = open.filter(|(_, open)| !open.silent);
        let streams: Vec<_> = (open.by_ref().take(streams_max))
            .map(|(index, open)| self.inspect_exchange(now, index, open))
            .collect();
        let unread = self.unread as u64;
        ConnectionSnapshot {
            version: Version::Http11,
            side: self.side,
            unlisted: open.count() as u32,
            streams,
            exchanges: self.next_id - 1,
            resets: 0,
            send_quota: None,
            unsent_bytes: self.waiting() as u64,
            unread_bytes: unread,
            receive_window: self.read_ahead,
            receive_credit: u64::from(self.read_ahead).saturating_sub(unread),
            is_draining: self.draining || self.last.is_some(),
            round_trip: None,
        }
    }

    fn inspect_exchange(&self, now: Instant, index: usize, open: &Exchange) -> StreamSnapshot {
        // The first exchange of a server writes, and the last of a client.
        let writes = match self.side {
            Side::Server => index == 0,
            Side::Client => index + 1 == self.exchanges.len(),
        };
        let unsent = match writes {
            true => self.outbox.len(),
            false => open.queued.len(),
        };
        let sends = Sends {
            awaits_head: open.sending == Sending::Head,
            takes_content: matches!(open.sending, Sending::Body(_)),
            waits: unsent > 0 && !matches!(open.sending, Sending::Body(SendLength::Discard)),
            is_transport_full: writes,
            ..Sends::default()
        };
        let unread = open.unread as u64;
        StreamSnapshot {
            id: open.id,
            method: open.method.name(),
            target: None,
            age: open
                .opened_at
                .map_or(Duration::ZERO, |at| now.saturating_duration_since(at)),
            received_bytes: open.body_bytes,
            unread_bytes: unread,
            receive_window: self.read_ahead,
            receive_credit: u64::from(self.read_ahead).saturating_sub(self.unread as u64),
            sent_bytes: open.sent_bytes,
            unsent_bytes: unsent as u64,
            send_quota: None,
            sends: sends.wait(),
            receives: receive_wait(self.side, open.received, unread),
        }
    }
}
