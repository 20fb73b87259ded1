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

use super::frame::Kind;
use crate::error::Violation;
use crate::http::Side;

#[cfg(test)]
#[path = "request_stream_test.rs"]
mod request_stream_test;

/// How much of the peer's message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
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
pub enum Input {
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
pub fn step(state: State, input: Input, side: Side) -> Result<Takes, Violation> {
    match (state, input) {
        (State::Head, Input::Headers) => Ok(Takes::Head),
        (State::Body, Input::Headers) => Ok(Takes::Trailers),
        (State::Body | State::Tunnel, Input::Data) => Ok(Takes::Body),
        (State::Body | State::Tunnel | State::Trailers, Input::Fin) => Ok(Takes::End),
        (State::Head, Input::Fin) => Err(match side {
            Side::Server => Violation::RequestIncomplete,
            Side::Client => Violation::ResponseIncomplete,
        }),
        (State::Head | State::Trailers | State::Ended, Input::Data)
        | (State::Tunnel | State::Trailers | State::Ended, Input::Headers)
        | (State::Ended, Input::Fin) => Err(Violation::FrameUnexpected),
    }
}

/// The input that a frame is; `None`: skip it. RFC 9114 section 7.2: the frames of control
/// streams, and pushes that were never offered.
///
/// # Errors
/// [`Violation::PushIdInvalid`] for PUSH_PROMISE on a client, [`Violation::FrameUnexpected`] for
/// the others.
pub fn input_of(kind: Kind, side: Side) -> Result<Option<Input>, Violation> {
    match kind {
        Kind::Data => Ok(Some(Input::Data)),
        Kind::Headers => Ok(Some(Input::Headers)),
        Kind::PushPromise if side == Side::Client => Err(Violation::PushIdInvalid),
        Kind::PushPromise
        | Kind::CancelPush
        | Kind::Settings
        | Kind::Goaway
        | Kind::MaxPushId
        | Kind::PriorityUpdateRequest
        | Kind::PriorityUpdatePush
        | Kind::ReservedHttp2 => Err(Violation::FrameUnexpected),
        Kind::Unknown => Ok(None),
    }
}
