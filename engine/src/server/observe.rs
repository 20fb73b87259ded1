//! The reports of a server: metrics, the access log and failed handshakes.

pub(super) mod access;
pub(super) mod counters;
pub(super) mod handshake_failure;
pub(super) mod handshake_log;
pub(super) mod inspect;
pub(super) mod metrics;
pub(super) mod openmetrics;
pub(super) mod resident;
pub(super) mod timeline;

pub(super) use access::AccessLog;
pub(super) use counters::Counters;
pub(super) use handshake_failure::HandshakeFailure;
pub(super) use handshake_log::HandshakeLog;
#[cfg(feature = "tracing")]
pub(super) mod trace;
