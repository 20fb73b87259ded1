//! The machine's actions on the QUIC transport. Carry out each before the next is polled.

pub(super) mod queue;

use crate::error::H3Code;
use crate::http::StreamId;
use bytes::Bytes;

/// The purpose of a unidirectional stream of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UniKind {
    /// RFC 9114 section 6.2.1.
    Control,
    /// RFC 9204 section 4.2.
    QpackEncoder,
    /// RFC 9204 section 4.2.
    QpackDecoder,
}

/// The highest [order](TransportAction::SetPriority) of a stream. It is that of our control and QPACK
/// streams; an urgency of RFC 9218 stays below.
pub(super) const ORDER_MAX: i32 = 1 << 30;

/// One command to the transport. A command about a stream that the transport has forgotten (the peer
/// stopped or reset it meanwhile) is carried out by doing nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportAction {
    /// Open the next unidirectional stream. QUIC counts ids, so it must be `stream` that the
    /// transport gets (RFC 9000 section 2.1). The stream type is part of what is written to it.
    /// A peer that grants fewer than three is refused (RFC 9114 section 6.2): answer with
    /// `handle_close`.
    OpenUni {
        /// Its id.
        stream: StreamId,
        /// For metrics; the bytes say it too.
        kind: UniKind,
    },
    /// Client: open the next bidirectional stream; the transport must give it the id `stream`.
    /// Never beyond the limit of `handle_streams_available`.
    OpenBidi {
        /// Its id.
        stream: StreamId,
    },
    /// Write both pieces in order (either may be empty), then finish the sending side if `fin`.
    /// Bytes that the transport does not take go back at once with
    /// [`handle_stream_blocked`](super::Conn::handle_stream_blocked); the machine then asks for
    /// nothing more on this stream before `handle_stream_room`.
    Write {
        /// The stream.
        stream: StreamId,
        /// Frame headers, heads and small bodies in the first, a large body by reference in the
        /// second.
        pieces: [Bytes; 2],
        /// Nothing follows.
        fin: bool,
    },
    /// RESET_STREAM: our sending side ends, what was written may be lost.
    Reset {
        /// The stream.
        stream: StreamId,
        /// The error code.
        code: H3Code,
    },
    /// STOP_SENDING, and forget what was received and not read: the peer's sending side ends.
    StopSending {
        /// The stream.
        stream: StreamId,
        /// The error code.
        code: H3Code,
    },
    /// [`read_room`](super::Conn::read_room) was 0 and is not any more: read what the transport
    /// holds for this stream. A transport that gives flow-control credit for what is read needs
    /// no other sign that bytes were consumed.
    Read {
        /// The stream.
        stream: StreamId,
    },
    /// The order of sending among streams (RFC 9218): higher first, equals take turns. A stream
    /// without it has 0.
    SetPriority {
        /// The stream.
        stream: StreamId,
        /// From -2^30 to 2^30.
        order: i32,
    },
    /// Server: the peer may have opened this many request streams since the start (MAX_STREAMS, RFC
    /// 9000 section 19.11). A transport that counts itself, as quinn-proto does, ignores it: see
    /// `stream_credit`.
    GrantStreams {
        /// Counted from the start; never falls.
        limit: u64,
    },
    /// Lets the peer have this many bytes in flight on all streams together, beyond those read
    /// (MAX_DATA, RFC 9000 section 19.9). A transport that refunds read bytes itself needs only the
    /// size.
    GrantBytes {
        /// Before the first, it is [`first_window`](super::Conn::first_window). May fall: then withhold
        /// what is read until it fits. What rises again before that was never granted twice.
        window: u32,
    },
    /// Lets this many bytes wait for the peer's acknowledgement on all streams together, sent or
    /// not.
    HoldBytes {
        /// May fall: then take nothing until it fits.
        bytes: u64,
    },
    /// Send one datagram (RFC 9297 section 2.1). It may be dropped.
    Datagram {
        /// Quarter stream id and payload.
        bytes: Bytes,
    },
    /// CONNECTION_CLOSE of the application. The last action. When the code is [`H3Code::NO_ERROR`]
    /// all written bytes were acknowledged before, by `handle_finished`.
    Close {
        /// The error code.
        code: H3Code,
        /// The reason as text, for the peer's log.
        reason: &'static str,
    },
}
