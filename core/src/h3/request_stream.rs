//! The allowed order of frames on a request stream (RFC 9114 section 4.1).
//!
//! ```text
//! Head --HEADERS (1xx)--> Head
//! Head --HEADERS--------> Body | Tunnel (CONNECT)
//! Body --DATA-----------> Body
//! Body --HEADERS--------> Trailers
//! Body | Tunnel | Trailers --FIN--> Ended
//! ```
//!
//! Frames of unknown types may stand anywhere and are not passed in.

use super::frame::FrameKind;
use crate::error::Violation;
use crate::http::Side;

#[cfg(test)]
#[path = "request_stream_test.rs"]
mod request_stream_test;

/// How much of the peer's message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestState {
    /// The final head is due.
    Head,
    /// Body, trailers or the end.
    Body,
    /// DATA or the end: CONNECT has no trailers (RFC 9114 section 4.4).
    Tunnel,
    /// The end.
    Trailers,
    /// The peer's side is over.
    Ended,
}

/// A frame or the end of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum RequestInput {
    Headers,
    Data,
    Fin,
}

/// The meaning of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Takes {
    /// A head, interim or final.
    Head,
    /// Body bytes.
    Body,
    /// The trailer section.
    Trailers,
    /// The end of the message.
    End,
}

/// The meaning of `input` in this state. `side` is ours.
///
/// # Errors
/// [`Violation::FrameUnexpected`] for a frame out of order; [`Violation::RequestIncomplete`] and
/// [`Violation::ResponseIncomplete`] for an end before the head.
pub fn step(state: RequestState, input: RequestInput, side: Side) -> Result<Takes, Violation> {
    match (state, input) {
        (RequestState::Head, RequestInput::Headers) => Ok(Takes::Head),
        (RequestState::Body, RequestInput::Headers) => Ok(Takes::Trailers),
        (RequestState::Body | RequestState::Tunnel, RequestInput::Data) => Ok(Takes::Body),
        (RequestState::Body | RequestState::Tunnel | RequestState::Trailers, RequestInput::Fin) => {
            Ok(Takes::End)
        }
        (RequestState::Head, RequestInput::Fin) => Err(match side {
            Side::Server => Violation::RequestIncomplete,
            Side::Client => Violation::ResponseIncomplete,
        }),
        (RequestState::Head | RequestState::Trailers | RequestState::Ended, RequestInput::Data)
        | (
            RequestState::Tunnel | RequestState::Trailers | RequestState::Ended,
            RequestInput::Headers,
        )
        | (RequestState::Ended, RequestInput::Fin) => Err(Violation::FrameUnexpected),
    }
}

/// The input that a frame is; `None`: skip it. RFC 9114 section 7.2: the frames of control
/// streams, and pushes that were never offered.
///
/// # Errors
/// [`Violation::PushIdInvalid`] for PUSH_PROMISE on a client, [`Violation::FrameUnexpected`] for
/// the others.
pub fn input_of(kind: FrameKind, side: Side) -> Result<Option<RequestInput>, Violation> {
    match kind {
        FrameKind::Data => Ok(Some(RequestInput::Data)),
        FrameKind::Headers => Ok(Some(RequestInput::Headers)),
        FrameKind::PushPromise if side == Side::Client => Err(Violation::PushIdInvalid),
        FrameKind::PushPromise
        | FrameKind::CancelPush
        | FrameKind::Settings
        | FrameKind::Goaway
        | FrameKind::MaxPushId
        | FrameKind::PriorityUpdateRequest
        | FrameKind::PriorityUpdatePush
        | FrameKind::ReservedHttp2 => Err(Violation::FrameUnexpected),
        FrameKind::Unknown => Ok(None),
    }
}
