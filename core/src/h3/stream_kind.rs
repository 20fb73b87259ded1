//! Kinds of unidirectional streams (RFC 9114 section 6.2), by the first integer of each.

pub mod trace;

use super::UniKind;
use crate::error::Violation;
use crate::http::Side;

/// Stream types on the wire.
#[allow(missing_docs, reason = "the names are those of the RFCs")]
pub mod wire {
    pub const CONTROL: u64 = 0x0;
    pub const PUSH: u64 = 0x1;
    pub const QPACK_ENCODER: u64 = 0x2;
    pub const QPACK_DECODER: u64 = 0x3;
}

/// The kind of a stream that the peer opened; `None`: unknown, so it is not read (RFC 9114 section
/// 6.2: no error, and STOP_SENDING with H3_STREAM_CREATION_ERROR).
///
/// # Errors
/// [`Violation::StreamTypeForbidden`] for a push stream of a client; [`Violation::PushIdInvalid`]
/// for one of a server.
pub fn admit(wire: u64, side: Side) -> Result<Option<UniKind>, Violation> {
    match (wire, side) {
        (wire::CONTROL, _) => Ok(Some(UniKind::Control)),
        (wire::QPACK_ENCODER, _) => Ok(Some(UniKind::QpackEncoder)),
        (wire::QPACK_DECODER, _) => Ok(Some(UniKind::QpackDecoder)),
        // RFC 9114 section 6.2.2: only servers push, and only with an id that the client has
        // offered; we never offer one (section 4.6).
        (wire::PUSH, Side::Server) => Err(Violation::StreamTypeForbidden),
        (wire::PUSH, Side::Client) => Err(Violation::PushIdInvalid),
        _ => Ok(None),
    }
}

impl UniKind {
    /// Its type on the wire.
    pub fn wire(self) -> u64 {
        match self {
            Self::Control => wire::CONTROL,
            Self::QpackEncoder => wire::QPACK_ENCODER,
            Self::QpackDecoder => wire::QPACK_DECODER,
        }
    }
}

/// The side that opened a QUIC stream and whether it runs both ways: the two low bits of its id
/// (RFC 9000 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum StreamOrigin {
    ClientBidi,
    ServerBidi,
    ClientUni,
    ServerUni,
}

impl StreamOrigin {
    /// The kind of a stream by its id.
    pub fn of(id: u64) -> Self {
        match id & 3 {
            0 => Self::ClientBidi,
            1 => Self::ServerBidi,
            2 => Self::ClientUni,
            _ => Self::ServerUni,
        }
    }
}
