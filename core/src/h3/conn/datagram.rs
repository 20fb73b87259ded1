//! HTTP datagrams (RFC 9297), each for the request stream whose id is four times its prefix. They
//! are unreliable, so a datagram without a receiver is dropped.

use super::Conn;
use crate::error::{Misuse, Violation};
use crate::exchange::MethodKind;
use crate::h3::TransportAction;
use crate::http::{Side, StreamId};
use crate::limits::DATAGRAMS_PER_TURN_MAX;
use crate::wire::varint;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::time::Instant;

/// RFC 9297 section 2.1: larger, and four times it is no stream id.
const QUARTER_ID_MAX: u64 = varint::MAX / 4;

/// Received datagrams that wait for their reader.
#[derive(Debug, Default)]
pub(in crate::h3) struct DatagramQueue {
    waiting: VecDeque<(StreamId, Bytes)>,
    dropped: u64,
}

impl DatagramQueue {
    /// Keeps one; of too many the oldest is dropped, because a late reader wants the latest.
    fn push(&mut self, stream: StreamId, bytes: Bytes) {
        if self.waiting.len() == DATAGRAMS_PER_TURN_MAX {
            self.waiting.pop_front();
            self.dropped += 1;
        }
        self.waiting.push_back((stream, bytes));
    }
    /// Goes on with the counts of a connection whose streams were all forgotten.
    pub(super) fn resume(&mut self, before: &Self) {
        self.dropped = before.dropped;
    }
    /// Datagrams without a reader so far.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Conn {
    /// A QUIC datagram came.
    pub fn handle_datagram(&mut self, now: Instant, mut bytes: Bytes) {
        if self.closed || !self.session.config().datagrams {
            return;
        }
        let quarter = match varint::take(&bytes) {
            Some((quarter, len)) if quarter <= QUARTER_ID_MAX => {
                bytes.advance(len);
                quarter
            }
            // RFC 9297 section 2.1.
            _ => return self.fail(now, Violation::DatagramInvalid),
        };
        let id = StreamId(quarter * 4);
        let Some(open) = self.streams.get(id).filter(|open| {
            // A server's user knows of it once the head came; and RFC 9297 section 2.1: nothing is
            // expected behind the peer's end.
            (open.received.has_request() || self.session.side() == Side::Client)
                && !open.received.is_ended()
        }) else {
            self.datagrams.dropped += 1;
            return;
        };
        if open.received.method() != MethodKind::ExtendedConnect {
            // RFC 9297 section 2: no other request of ours gives datagrams a meaning.
            if let Err(violation) = self.break_stream(now, id, Violation::DatagramUnexpected) {
                self.fail(now, violation);
            }
            return;
        }
        self.datagrams.push(id, bytes);
    }

    /// Whether both sides have said that they take datagrams.
    pub fn has_datagrams(&self) -> bool {
        self.session.config().datagrams && self.peer.get().datagrams && !self.closed
    }

    /// The next datagram for an open request stream (RFC 9297).
    pub fn poll_datagram(&mut self) -> Option<(StreamId, Bytes)> {
        self.datagrams.waiting.pop_front()
    }

    /// A datagram about an open extended CONNECT (RFC 9297). May be dropped on the way. The peer
    /// must have announced that it takes them, as we must.
    ///
    /// # Errors
    /// `ConnectionClosed` when it is; `WrongSide` unless both sides have announced datagrams;
    /// `StreamNotOpen` when `stream` is not an extended CONNECT whose sending side is open.
    pub fn send_datagram(&mut self, stream: StreamId, data: &[u8]) -> Result<(), Misuse> {
        if self.closed {
            return Err(Misuse::ConnectionClosed);
        }
        if !self.has_datagrams() {
            return Err(Misuse::WrongSide);
        }
        let open = self.streams.get(stream);
        if open.is_none_or(|open| {
            open.is_sent || open.received.method() != MethodKind::ExtendedConnect
        }) {
            // RFC 9297 section 2.1: not once our side is closed; section 2: not about others.
            return Err(Misuse::StreamNotOpen);
        }
        let mut bytes = Vec::with_capacity(8 + data.len());
        varint::put(stream.0 / 4, &mut bytes);
        bytes.extend_from_slice(data);
        let bytes = Bytes::from(bytes);
        self.actions.push(TransportAction::Datagram { bytes });
        Ok(())
    }
}
