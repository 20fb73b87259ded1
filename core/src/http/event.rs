//! Events of a machine for its owner: past tense, equal for every version.

use super::{Fields, RequestHead, ResponseHead};
use crate::error::{Closed, H2Code, Violation};
use bytes::Bytes;
use std::time::Duration;

/// Which end of the connection a machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sends requests.
    Client,
    /// Answers them.
    Server,
}

/// An exchange on one connection: the HTTP/2 stream id, or on HTTP/1.1 the number of the
/// exchange counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u64);

/// How an exchange ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reset {
    /// The side that ended it, and why.
    pub by: ResetBy,
    /// Provably not processed by the peer: safe to send again, whatever the method
    /// (RFC 9113 section 8.7).
    pub unprocessed: bool,
    /// HTTP/1.1: its response stood behind one that was not complete, so that the peer may have processed the
    /// request, but has most likely not come to it (RFC 9112 section 9.3.2).
    pub behind: bool,
}

/// The side that ended an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetBy {
    /// We did: the peer broke a rule.
    Us(Violation),
    /// The peer did, with this code.
    Peer(H2Code),
    /// The connection ended below it.
    Connection(Closed),
    /// The peer took no early data: nothing of it was processed (RFC 8446 section 4.2.10).
    EarlyDataRejected,
}

/// A request of HTTP/1.1 that broke a rule.
#[derive(Debug)]
pub struct Refused {
    /// The rule.
    pub violation: Violation,
    /// The bytes in which it was broken: those of the last read, behind the part of a message that
    /// had come before.
    pub packet: Bytes,
    /// Bytes at the front of `packet` that are whole messages before it.
    pub parsed: usize,
}

#[allow(
    missing_docs,
    reason = "the fields say what the variant's sentence says"
)]
/// A fact. `end` on a head or a body means that the peer sends nothing more on this exchange.
#[derive(Debug)]
pub enum Event {
    /// Server: a valid request head. Extended CONNECT has `head.protocol()`.
    RequestReceived {
        stream: StreamId,
        head: RequestHead,
        end: bool,
    },
    /// Client: a 1xx other than 101.
    InterimReceived {
        stream: StreamId,
        head: ResponseHead,
    },
    /// Client: the final head (or 101 on HTTP/1.1).
    ResponseReceived {
        stream: StreamId,
        head: ResponseHead,
        end: bool,
    },
    /// Body bytes; `end` may come with an empty `data`. Answer with `consume` when the user has
    /// taken them: that is what gives the peer room again.
    BodyReceived {
        stream: StreamId,
        data: Bytes,
        end: bool,
    },
    /// A trailer section; it always ends the peer's side.
    TrailersReceived { stream: StreamId, trailers: Fields },
    /// The exchange ended early; nothing more comes for it. Sent for every open exchange when
    /// the connection closes, before [`Event::Closed`].
    StreamReset { stream: StreamId, reset: Reset },
    /// HTTP/1.1, server, with [`Config::answers_lost_bodies`](crate::limits::Config): no more of the
    /// request's body comes, for the reason in `reset`. The exchange is open: its owner answers it.
    BodyLost { stream: StreamId, reset: Reset },
    /// `send_room` was 0 and is not any more.
    SendReady { stream: StreamId },
    /// Client of HTTP/3: the peer takes no more of the request (STOP_SENDING); its response may still
    /// come. What is sent on the stream from now on is discarded.
    SendStopped { stream: StreamId },
    /// Client: [`capacity`](crate::h2::Conn::capacity) changed.
    CapacityChanged,
    /// The peer drains: it processes nothing above `last`. A client's exchanges above it were reset
    /// as unprocessed. On a server only with [`Config::frame_events`](crate::limits::Config).
    GoingAway {
        code: H2Code,
        last: StreamId,
        debug: Bytes,
    },
    /// HTTP/1.1, server, with [`Config::hands_over_refusals`](crate::limits::Config): a request broke
    /// a rule. [`Event::Upgraded`] follows: the owner writes what the client gets, as bytes.
    RequestRefused {
        stream: StreamId,
        refused: Box<Refused>,
    },
    /// HTTP/1.1 only: after 101 or a 2xx to CONNECT the bytes belong to another protocol.
    /// `rest` are those that were read already; the machine handles nothing more.
    Upgraded { stream: StreamId, rest: Bytes },
    /// HTTP/2: a PING of ours was answered, with its bytes.
    PongReceived {
        opaque: [u8; 8],
        round_trip: Duration,
    },
    /// HTTP/2, with [`Config::frame_events`](crate::limits::Config): the peer sent a PING,
    /// which was acknowledged.
    PingReceived { opaque: [u8; 8] },
    /// HTTP/2 and HTTP/3, with [`Config::frame_events`](crate::limits::Config): the peer has sent its settings, over HTTP/2 those
    /// of [`reported_settings`](crate::h2::Conn::reported_settings).
    SettingsReceived {
        /// HTTP/2: identifier and value of the settings of this frame that no other part knows, in their order, at most
        /// [`EXTENSION_SETTINGS_MAX`](crate::limits::EXTENSION_SETTINGS_MAX).
        extensions: Vec<(u16, u32)>,
    },
    /// Client of HTTP/2, with [`Config::frame_events`](crate::limits::Config): the server serves
    /// these origins too (RFC 8336). Bytes as they came.
    OriginsReceived { origins: Vec<Bytes> },
    /// Client of HTTP/2, with [`Config::frame_events`](crate::limits::Config): another place of an
    /// origin (RFC 7838 section 4). `stream` 0: of `origin`; else of the origin of its request.
    AltSvcReceived {
        stream: StreamId,
        origin: Bytes,
        value: Bytes,
    },
    /// HTTP/2, with [`Config::frame_events`](crate::limits::Config): the oldest of our SETTINGS
    /// frames that was not acknowledged is.
    SettingsAcknowledged { round_trip: Duration },
    /// HTTP/1.1, server: the client has ended its side and waits for answers, or is gone: the two
    /// look the same. What is open may be answered.
    InputEnded,
    /// The machine is done: write what `poll_write` gives, then close the transport.
    Closed(Closed),
}
