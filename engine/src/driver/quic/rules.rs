//! Names of the QUIC transport errors (RFC 9000 section 20.1), for metrics.

use quinn_proto::TransportErrorCode;

/// In the order of their codes; the last is for TLS alerts, extensions and unknown codes.
pub(crate) const NAMES: [&str; 18] = [
    "NO_ERROR",
    "INTERNAL_ERROR",
    "CONNECTION_REFUSED",
    "FLOW_CONTROL_ERROR",
    "STREAM_LIMIT_ERROR",
    "STREAM_STATE_ERROR",
    "FINAL_SIZE_ERROR",
    "FRAME_ENCODING_ERROR",
    "TRANSPORT_PARAMETER_ERROR",
    "CONNECTION_ID_LIMIT_ERROR",
    "PROTOCOL_VIOLATION",
    "INVALID_TOKEN",
    "APPLICATION_ERROR",
    "CRYPTO_BUFFER_EXCEEDED",
    "KEY_UPDATE_ERROR",
    "AEAD_LIMIT_REACHED",
    "NO_VIABLE_PATH",
    "CRYPTO_ERROR",
];

/// Which of [`NAMES`] a code has.
pub(crate) fn index_of(code: TransportErrorCode) -> usize {
    let last = NAMES.len() - 1;
    usize::try_from(u64::from(code)).map_or(last, |code| code.min(last))
}

#[cfg(test)]
#[path = "rules_test.rs"]
mod rules_test;
