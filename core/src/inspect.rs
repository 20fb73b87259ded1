//! Snapshots of a connection, made when they are asked for: its exchanges with their bytes and windows, and the
//! reason why each of them waits. Nothing is kept for them between two requests but the moment of each exchange's
//! beginning.

use crate::http::{Side, StreamId, Version};
use std::time::Duration;

/// The reason why one direction of an exchange does not move now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamWait {
    /// Server: the handler has not answered.
    Handler,
    /// The message that we send has begun, and its source has no further bytes now.
    Source,
    /// Bytes wait, and the peer lets us send none on this stream.
    StreamWindow,
    /// Bytes wait, and the peer lets us send none on this connection.
    ConnectionWindow,
    /// Bytes wait, and the transport takes none: a socket whose peer does not read, or over QUIC a window of the
    /// peer's or too much that is not acknowledged.
    Transport,
    /// Bytes wait, and those of other exchanges go first.
    Turn,
    /// Bytes came that our user has not read.
    Reader,
    /// Server: the client has not sent the rest of its request.
    RequestRest,
    /// Client: the server has not sent its response, or the rest of it.
    Response,
}

impl StreamWait {
    /// Every reason, for tables and metrics.
    pub const ALL: [Self; 9] = [
        Self::Handler,
        Self::Source,
        Self::StreamWindow,
        Self::ConnectionWindow,
        Self::Transport,
        Self::Turn,
        Self::Reader,
        Self::RequestRest,
        Self::Response,
    ];

    /// The reason as a label: lower case, with `_` between words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handler => "handler",
            Self::Source => "source",
            Self::StreamWindow => "stream_window",
            Self::ConnectionWindow => "connection_window",
            Self::Transport => "transport",
            Self::Turn => "turn",
            Self::Reader => "reader",
            Self::RequestRest => "request_rest",
            Self::Response => "response",
        }
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Handler => "the handler has not answered",
            Self::Source => "the source of the body has no further bytes now",
            Self::StreamWindow => "the peer's window of the stream is used up",
            Self::ConnectionWindow => "the peer's window of the connection is used up",
            Self::Transport => "the transport takes no bytes now",
            Self::Turn => "other exchanges of the connection send first",
            Self::Reader => "received bytes are not read",
            Self::RequestRest => "the client has not sent the rest of its request",
            Self::Response => "the server has not sent its response or the rest of it",
        }
    }

    /// Whether it is for bytes of ours that are there to be sent.
    pub fn is_of_bytes(self) -> bool {
        matches!(
            self,
            Self::StreamWindow | Self::ConnectionWindow | Self::Transport | Self::Turn
        )
    }
}

/// One exchange on a connection, now. Bytes are those of bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamSnapshot {
    /// The stream; on HTTP/1.1 the number of the exchange, from 1.
    pub id: StreamId,
    /// The method of the request, `other` for those that RFC 9110 and RFC 5789 do not name.
    pub method: &'static str,
    /// The target of the request, where the owner of the machine knows it still; a machine does not.
    pub target: Option<Box<str>>,
    /// Since the head of the request came or was sent.
    pub age: Duration,
    /// Bytes that came.
    pub received_bytes: u64,
    /// Received bytes that our user has not taken.
    pub unread_bytes: u64,
    /// The size of our receive window.
    pub receive_window: u32,
    /// Bytes that we let the peer send now.
    pub receive_credit: u64,
    /// Bytes that were framed.
    pub sent_bytes: u64,
    /// Bytes that wait to be sent.
    pub unsent_bytes: u64,
    /// Bytes that the peer lets us send now on this stream; `None`: HTTP/1.1 has no such window, and QUIC keeps its own.
    pub send_quota: Option<u64>,
    /// Why what we send does not move; `None`: all of it is sent.
    pub sends: Option<StreamWait>,
    /// Why what we receive does not move; `None`: all of it came and was read.
    pub receives: Option<StreamWait>,
}

impl StreamSnapshot {
    /// The state as RFC 9113 section 5.1 names it, by our message and the peer's.
    pub fn state(&self) -> &'static str {
        match (self.sends, self.receives) {
            (Some(_), None | Some(StreamWait::Reader)) => "half_closed_remote",
            (None, Some(_)) => "half_closed_local",
            (Some(_), Some(_)) => "open",
            (None, None) => "closed",
        }
    }

    /// The reason that holds the exchange up: bytes that cannot leave, then bytes that are not read, then what is still to
    /// come. A handler is not blamed while its request is incomplete.
    pub fn wait(&self) -> Option<StreamWait> {
        match (self.sends, self.receives) {
            (Some(sends), _) if sends.is_of_bytes() => Some(sends),
            (_, Some(StreamWait::Reader)) => self.receives,
            (Some(StreamWait::Handler), Some(StreamWait::RequestRest)) => self.receives,
            (sends, receives) => sends.or(receives),
        }
    }
}

/// One connection, now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionSnapshot {
    /// The version that it speaks.
    pub version: Version,
    /// Which end of it we are.
    pub side: Side,
    /// Exchanges, the oldest first, as many as were asked for.
    pub streams: Vec<StreamSnapshot>,
    /// Exchanges that are open and not in `streams`.
    pub unlisted: u32,
    /// Exchanges since it began.
    pub exchanges: u64,
    /// Exchanges that ended early; 0 on HTTP/1.1, where they end with the connection.
    pub resets: u64,
    /// Bytes that the peer lets us send now on the connection; `None`: HTTP/1.1 has no such window, and QUIC keeps its own.
    pub send_quota: Option<u64>,
    /// Framed bytes that the transport has not taken; 0 over QUIC, which keeps them itself.
    pub unsent_bytes: u64,
    /// Received bytes of all bodies that our users have not taken.
    pub unread_bytes: u64,
    /// The size of our receive window.
    pub receive_window: u32,
    /// Bytes that we let the peer send now on the connection.
    pub receive_credit: u64,
    /// It takes no new exchange and ends behind those that are open.
    pub is_draining: bool,
    /// The round trip, where the version measures it.
    pub round_trip: Option<Duration>,
}

impl ConnectionSnapshot {
    /// Why the whole connection does not move: framed bytes that the transport does not take. They may be of exchanges that
    /// are over for us, which `streams` has no more.
    pub fn wait(&self) -> Option<StreamWait> {
        (self.unsent_bytes > 0).then_some(StreamWait::Transport)
    }
}

/// The facts by which what we send is judged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sends {
    /// Server: the final head is due.
    pub(crate) awaits_head: bool,
    /// The user may give more.
    pub(crate) takes_content: bool,
    /// Bytes or the end wait.
    pub(crate) waits: bool,
    /// The stream's window is used up.
    pub(crate) is_stream_shut: bool,
    /// The connection's window is used up.
    pub(crate) is_connection_shut: bool,
    /// The transport takes nothing.
    pub(crate) is_transport_full: bool,
}

impl Sends {
    pub(crate) fn wait(self) -> Option<StreamWait> {
        match self {
            Self { waits: false, .. } if self.awaits_head => Some(StreamWait::Handler),
            Self { waits: false, .. } => self.takes_content.then_some(StreamWait::Source),
            _ if self.is_stream_shut => Some(StreamWait::StreamWindow),
            _ if self.is_connection_shut => Some(StreamWait::ConnectionWindow),
            _ if self.is_transport_full => Some(StreamWait::Transport),
            _ => Some(StreamWait::Turn),
        }
    }
}

/// Why what we receive does not move; `has_ended`: all of it came.
pub(crate) fn receive_wait(side: Side, has_ended: bool, unread: u64) -> Option<StreamWait> {
    match (unread, has_ended, side) {
        (1.., ..) => Some(StreamWait::Reader),
        (0, true, _) => None,
        (0, false, Side::Server) => Some(StreamWait::RequestRest),
        (0, false, Side::Client) => Some(StreamWait::Response),
    }
}

#[cfg(test)]
#[path = "inspect_test.rs"]
mod inspect_test;
