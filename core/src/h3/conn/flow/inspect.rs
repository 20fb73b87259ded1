//! A snapshot of the connection. The windows of what we send are QUIC's.

use super::Conn;
use crate::exchange::Framing;
use crate::h3::stream::Stream;
use crate::http::{StreamId, Version};
use crate::inspect::{ConnectionSnapshot, Sends, StreamSnapshot, receive_wait};
use std::time::Instant;

impl Conn {
    /// The connection and its `streams_max` oldest exchanges, now.
    pub fn inspect(&self, now: Instant, streams_max: usize) -> ConnectionSnapshot {
        let totals = self.session.totals();
        let credit = self.credit.readback();
        let ids = self.streams.ids();
        let live = (ids.into_iter()).filter_map(|id| Some((id, self.streams.get(id)?)));
        let streams: Vec<_> = (live.take(streams_max))
            .map(|(id, stream)| self.inspect_stream(now, id, stream))
            .collect();
        let unread = self.streams.iter().map(|(_, stream)| stream.unread);
        ConnectionSnapshot {
            version: Version::Http3,
            side: self.session.side(),
            unlisted: self.streams.len() - streams.len() as u32,
            streams,
            exchanges: totals.exchanges,
            resets: totals.resets,
            send_quota: None,
            unsent_bytes: 0,
            unread_bytes: unread.sum(),
            receive_window: credit.window,
            receive_credit: credit.granted.saturating_sub(credit.used),
            is_draining: !self.takes_exchanges(),
            round_trip: self.session.round_trip(),
        }
    }

    fn inspect_stream(&self, now: Instant, id: StreamId, stream: &Stream) -> StreamSnapshot {
        let sends = Sends {
            awaits_head: stream.sent.awaits_head(),
            takes_content: stream.sent.takes_content(),
            waits: stream.wants_to_send(),
            is_transport_full: stream.blocked,
            ..Sends::default()
        };
        let window = self.stream_window.saturating_add(stream.read_ahead);
        StreamSnapshot {
            id,
            method: stream.received.method().name(),
            target: None,
            age: now.saturating_duration_since(stream.opened_at),
            received_bytes: stream.body_bytes,
            unread_bytes: stream.unread,
            receive_window: window,
            receive_credit: u64::from(window).saturating_sub(stream.unread),
            sent_bytes: stream.sent_bytes,
            unsent_bytes: stream.queued() as u64,
            send_quota: None,
            sends: sends.wait(),
            receives: receive_wait(
                self.session.side(),
                stream.received.is_ended(),
                stream.unread,
            ),
        }
    }
}
