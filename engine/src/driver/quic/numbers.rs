//! Stream ids and codes as quinn-proto has them.

use quinn_proto::VarInt;
use trunkline_core::http::StreamId;

/// The id of its stream before an HTTP datagram (RFC 9297 section 2.1), a varint.
pub(super) const QUARTER_ID_BYTES_MAX: usize = 8;

pub(super) fn quinn_id(stream: StreamId) -> quinn_proto::StreamId {
    quinn_proto::StreamId::from(varint(stream.0))
}

/// Ids and codes come from the machine, which takes them from varints (RFC 9000 section 16).
pub(super) fn varint(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}
