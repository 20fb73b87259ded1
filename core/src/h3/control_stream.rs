//! The frames of a control stream (RFC 9114 sections 6.2.1 and 7.2): which are allowed, and their
//! effect.

use super::frame::FrameKind;
use super::settings::Settings;
use crate::error::Violation;
use crate::http::Side;
use crate::wire::varint;

#[cfg(test)]
#[path = "control_stream_test.rs"]
mod control_stream_test;

/// A frame on the peer's control stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlFrame<'a> {
    /// RFC 9114 section 7.2.4.
    Settings(Settings),
    /// From a server the first request stream it does not take, from a client the first push.
    Goaway(u64),
    /// Server: pushes up to this id would be welcome.
    MaxPushId(u64),
    /// Server: the priority of a request (RFC 9218 section 7.2).
    PriorityUpdate {
        /// The request stream.
        stream: u64,
        /// As the priority field.
        value: &'a [u8],
    },
    /// Skipped.
    Unknown,
}

/// Whether a frame of this kind may come now; `settled`: SETTINGS came.
///
/// # Errors
/// [`Violation::SettingsMissing`] for any frame before SETTINGS; [`Violation::FrameUnexpected`] for
/// a second SETTINGS and for a type that does not belong there.
pub fn admit(kind: FrameKind, side: Side, settled: bool) -> Result<(), Violation> {
    match (kind, settled) {
        // RFC 9114 section 6.2.1.
        (FrameKind::Settings, false) => Ok(()),
        (_, false) => Err(Violation::SettingsMissing),
        // RFC 9114 section 7.2.4: once.
        (FrameKind::Settings, true) => Err(Violation::FrameUnexpected),
        // RFC 9114 sections 7.2.1, 7.2.2, 7.2.5 and 7.2.8.
        (
            FrameKind::Data
            | FrameKind::Headers
            | FrameKind::PushPromise
            | FrameKind::ReservedHttp2,
            true,
        ) => Err(Violation::FrameUnexpected),
        // RFC 9114 section 7.2.7 and RFC 9218 section 7.2: a client sends them.
        (
            FrameKind::MaxPushId | FrameKind::PriorityUpdateRequest | FrameKind::PriorityUpdatePush,
            true,
        ) => match side {
            Side::Server => Ok(()),
            Side::Client => Err(Violation::FrameUnexpected),
        },
        (FrameKind::CancelPush | FrameKind::Goaway | FrameKind::Unknown, true) => Ok(()),
    }
}

impl<'a> ControlFrame<'a> {
    /// Reads a payload of a kind that was admitted.
    ///
    /// # Errors
    /// [`Violation::FrameMalformed`] for a payload of the wrong form; [`Violation::PushIdInvalid`]
    /// for any push; the errors of [`Settings::parse`].
    pub fn parse(kind: FrameKind, payload: &'a [u8]) -> Result<Self, Violation> {
        match kind {
            FrameKind::Settings => Settings::parse(payload).map(Self::Settings),
            FrameKind::Goaway => only(payload).map(Self::Goaway),
            FrameKind::MaxPushId => only(payload).map(Self::MaxPushId),
            // RFC 9114 section 7.2.3: a server that never promised a push has none to cancel, and
            // a client that never offered an id has none either.
            FrameKind::CancelPush => only(payload).and(Err(Violation::PushIdInvalid)),
            FrameKind::PriorityUpdateRequest => {
                let (stream, at) = varint::take(payload).ok_or(Violation::FrameMalformed)?;
                let value = &payload[at..];
                Ok(Self::PriorityUpdate { stream, value })
            }
            // RFC 9218 section 7.2: a push that was never promised.
            FrameKind::PriorityUpdatePush => Err(Violation::PushIdInvalid),
            FrameKind::Data
            | FrameKind::Headers
            | FrameKind::PushPromise
            | FrameKind::ReservedHttp2 => Err(Violation::FrameUnexpected),
            FrameKind::Unknown => Ok(Self::Unknown),
        }
    }
}

/// The payload is one integer and nothing else (RFC 9114 section 7.1).
fn only(payload: &[u8]) -> Result<u64, Violation> {
    match varint::take(payload) {
        Some((value, len)) if len == payload.len() => Ok(value),
        _ => Err(Violation::FrameMalformed),
    }
}
