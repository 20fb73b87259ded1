//! The frames of a control stream (RFC 9114 sections 6.2.1 and 7.2): which are allowed, and their
//! effect.

use super::frame::Kind;
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
pub fn admit(kind: Kind, side: Side, settled: bool) -> Result<(), Violation> {
    match (kind, settled) {
        // RFC 9114 section 6.2.1.
        (Kind::Settings, false) => Ok(()),
        (_, false) => Err(Violation::SettingsMissing),
        // RFC 9114 section 7.2.4: once.
        (Kind::Settings, true) => Err(Violation::FrameUnexpected),
        // RFC 9114 sections 7.2.1, 7.2.2, 7.2.5 and 7.2.8.
        (Kind::Data | Kind::Headers | Kind::PushPromise | Kind::ReservedHttp2, true) => {
            Err(Violation::FrameUnexpected)
        }
        // RFC 9114 section 7.2.7 and RFC 9218 section 7.2: a client sends them.
        (Kind::MaxPushId | Kind::PriorityUpdateRequest | Kind::PriorityUpdatePush, true) => {
            match side {
                Side::Server => Ok(()),
                Side::Client => Err(Violation::FrameUnexpected),
            }
        }
        (Kind::CancelPush | Kind::Goaway | Kind::Unknown, true) => Ok(()),
    }
}

impl<'a> ControlFrame<'a> {
    /// Reads a payload of a kind that was admitted.
    ///
    /// # Errors
    /// [`Violation::FrameMalformed`] for a payload of the wrong form; [`Violation::PushIdInvalid`]
    /// for any push; the errors of [`Settings::parse`].
    pub fn parse(kind: Kind, payload: &'a [u8]) -> Result<Self, Violation> {
        match kind {
            Kind::Settings => Settings::parse(payload).map(Self::Settings),
            Kind::Goaway => only(payload).map(Self::Goaway),
            Kind::MaxPushId => only(payload).map(Self::MaxPushId),
            // RFC 9114 section 7.2.3: a server that never promised a push has none to cancel, and
            // a client that never offered an id has none either.
            Kind::CancelPush => only(payload).and(Err(Violation::PushIdInvalid)),
            Kind::PriorityUpdateRequest => {
                let (stream, at) = varint::take(payload).ok_or(Violation::FrameMalformed)?;
                let value = &payload[at..];
                Ok(Self::PriorityUpdate { stream, value })
            }
            // RFC 9218 section 7.2: a push that was never promised.
            Kind::PriorityUpdatePush => Err(Violation::PushIdInvalid),
            Kind::Data | Kind::Headers | Kind::PushPromise | Kind::ReservedHttp2 => {
                Err(Violation::FrameUnexpected)
            }
            Kind::Unknown => Ok(Self::Unknown),
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
