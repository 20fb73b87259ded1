//! The frames of a request stream (RFC 9114 sections 4.1 and 7.2). The order of the parts of a
//! message is a rule of [`Received`](crate::exchange::Received).

use super::frame::FrameKind;
use crate::error::Violation;
use crate::exchange::{MessageInput, OutOfOrder};
use crate::http::Side;

#[cfg(test)]
#[path = "request_stream_test.rs"]
mod request_stream_test;

/// RFC 9114 section 4.1: frames out of order are an error of the connection.
pub(super) const OUT_OF_ORDER: OutOfOrder = OutOfOrder {
    data: Violation::FrameUnexpected,
    headers: Violation::FrameUnexpected,
};

/// The input that a frame is; `None`: skip it. RFC 9114 section 7.2: the frames of control
/// streams, and pushes that were never offered.
///
/// # Errors
/// [`Violation::PushIdInvalid`] for PUSH_PROMISE on a client, [`Violation::FrameUnexpected`] for
/// the others.
pub(super) fn input_of(kind: FrameKind, side: Side) -> Result<Option<MessageInput>, Violation> {
    match kind {
        FrameKind::Data => Ok(Some(MessageInput::Data)),
        FrameKind::Headers => Ok(Some(MessageInput::Headers)),
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
