//! A snapshot of the connection, with the windows of both sides.

use super::Conn;
use crate::exchange::Framing;
use crate::h2::stream::Stream;
use crate::http::{StreamId, Version};
use crate::inspect::{ConnectionSnapshot, Sends, StreamSnapshot, receive_wait};
use std::time::Instant;

impl Conn {
    /// The connection and its `streams_max` oldest exchanges, now.
    pub fn inspect(&self, now: Instant, streams_max: usize) -> ConnectionSnapshot {
        let totals = self.session.totals();
        let window = self.connection_window();
        let ids = self.streams.ids();
        let live = (ids.into_iter()).filter_map(|id| Some((id, self.streams.get(id)?)));
        let streams: Vec<_> = (live.take(streams_max))
            .map(|(id, stream)| self.inspect_stream(now, id, stream))
            .collect();
        ConnectionSnapshot {
            version: Version::Http2,
            side: self.session.side(),
            unlisted: self.streams.len() - streams.len() as u32,
            streams,
            exchanges: totals.exchanges,
            resets: totals.resets,
            send_quota: Some(u64::from(self.window.sendable())),
            unsent_bytes: self.outbox.len() as u64,
            unread_bytes: window.unread,
            receive_window: window.window,
            receive_credit: window.granted.saturating_sub(window.used),
            is_draining: !self.takes_exchanges(),
            round_trip: self.session.round_trip(),
        }
    }

    fn inspect_stream(&self, now: Instant, id: u32, stream: &Stream) -> StreamSnapshot {
        let sends = Sends {
            awaits_head: stream.sent.awaits_head(),
            takes_content: stream.sent.takes_content(),
            waits: stream.queued() > 0,
            is_stream_shut: stream.quota.available() == 0,
            is_connection_shut: self.window.sendable() == 0,
            is_transport_full: !self.outbox.is_empty(),
        };
        let credit = stream.incoming.as_ref().map(|it| it.credit.readback());
        let unread = stream.unread();
        StreamSnapshot {
            id: StreamId(u64::from(id)),
            method: stream.received.method().name(),
            target: None,
            age: now.saturating_duration_since(stream.opened_at),
            received_bytes: credit.map_or(0, |credit| credit.used),
            unread_bytes: unread,
            receive_window: credit.map_or(0, |credit| credit.window),
            receive_credit: credit.map_or(0, |credit| credit.granted.saturating_sub(credit.used)),
            sent_bytes: stream.quota.used(),
            unsent_bytes: stream.queued() as u64,
            send_quota: Some(u64::from(stream.quota.available())),
            sends: sends.wait(),
            receives: receive_wait(self.session.side(), !stream.state.can_recv(), unread),
        }
    }
}
