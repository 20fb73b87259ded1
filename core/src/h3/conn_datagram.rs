//! HTTP datagrams (RFC 9297): each belongs to a request stream, which it names by a quarter of its
//! id. They may be lost, so what nobody can take is dropped.

use super::Action;
use super::conn::Conn;
use super::varint;
use crate::error::{Misuse, Violation};
use crate::http::StreamId;
use crate::limits::DATAGRAMS_MAX;
use bytes::{Buf, Bytes};
use std::time::Instant;

/// RFC 9297 section 2.1: larger, and four times it is no stream id.
const QUARTER_ID_MAX: u64 = varint::MAX / 4;

impl Conn {
    /// A QUIC datagram came.
    pub fn handle_datagram(&mut self, now: Instant, mut bytes: Bytes) {
        if self.closed || !self.config.datagrams {
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
        let stream = StreamId(quarter * 4);
        let is_wanted = self.streams.get(stream).is_some_and(|open| {
            // A server's user knows of it once the head came.
            open.is_request || self.side == crate::http::Side::Client
        });
        if is_wanted && self.datagrams.len() < DATAGRAMS_MAX {
            self.datagrams.push_back((stream, bytes));
        } else {
            self.counts.datagrams_dropped += 1;
        }
    }

    /// The next datagram for an open request stream (RFC 9297).
    pub fn poll_datagram(&mut self) -> Option<(StreamId, Bytes)> {
        self.datagrams.pop_front()
    }

    /// A datagram about an open request (RFC 9297). May be dropped on the way. The peer must have
    /// announced that it takes them, as we must.
    pub fn send_datagram(&mut self, stream: StreamId, data: &[u8]) -> Result<(), Misuse> {
        if self.closed {
            return Err(Misuse::ConnectionClosed);
        }
        if !self.config.datagrams || !self.peer().datagrams {
            return Err(Misuse::WrongSide);
        }
        if self.streams.get(stream).is_none_or(|open| open.is_sent) {
            // RFC 9297 section 2.1: not once our side is closed.
            return Err(Misuse::StreamNotOpen);
        }
        let mut bytes = Vec::with_capacity(8 + data.len());
        varint::put(stream.0 / 4, &mut bytes);
        bytes.extend_from_slice(data);
        let bytes = Bytes::from(bytes);
        self.actions.push_back(Action::Datagram { bytes });
        Ok(())
    }
}
