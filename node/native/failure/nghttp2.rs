//! Numbers of nghttp2's errors, of which node:http2 makes those of sessions.

use trunkline::core::error::Violation;

/// NGHTTP2_ERR_PROTO.
const PROTO: u32 = 505;
/// NGHTTP2_ERR_FLOW_CONTROL.
const FLOW_CONTROL: u32 = 524;
/// NGHTTP2_ERR_BAD_CLIENT_MAGIC.
const BAD_CLIENT_MAGIC: u32 = 903;
/// NGHTTP2_ERR_FLOODED.
const FLOODED: u32 = 904;
/// NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.
const CONTINUATIONS: u32 = 905;
/// NGHTTP2_ERR_CALLBACK_FAILURE, by which node:http2 ends a session that has refused too many streams.
const CALLBACK_FAILURE: u32 = 902;
/// No number of nghttp2's: node:http2 has a code of its own for a peer that breaks too many streams.
const STREAM_ERRORS: u32 = 1;

/// The number of nghttp2's, without its sign, for a connection that ends by a broken rule.
pub(crate) fn nghttp2_error(violation: Violation) -> u32 {
    match violation {
        Violation::PrefaceInvalid => BAD_CLIENT_MAGIC,
        Violation::ConnectionWindowOverflow
        | Violation::ConnectionCreditExceeded
        | Violation::InitialWindowInvalid => FLOW_CONTROL,
        Violation::ResetsTooMany
        | Violation::GlitchesTooMany
        | Violation::PingsTooMany
        | Violation::WindowUpdatesTooMany
        | Violation::PriorityUpdatesTooMany => FLOODED,
        Violation::ContinuationsTooMany => CONTINUATIONS,
        Violation::StreamErrorsTooMany | Violation::EmptyFramesTooMany => STREAM_ERRORS,
        Violation::RefusedStreamsTooMany => CALLBACK_FAILURE,
        _ => PROTO,
    }
}
