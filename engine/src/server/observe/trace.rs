//! Events of `tracing` for finished exchanges and failed handshakes.

use super::access::Access;
use super::handshake_log::FailedHandshake;
use tracing::{Level, event};

/// An event of level INFO, and WARN where the exchange ended before its response did.
pub(in crate::server) fn access(access: &Access<'_>) {
    let method = access.method.map(http::Method::as_str);
    let path = access.target.map(http::Uri::path);
    let peer = access.connection.peer_addr().map(tracing::field::display);
    let status = access.status.map(|status| status.as_u16());
    let micros = access.time.as_micros() as u64;
    match access.error {
        None => event!(
            target: "trunkline::server",
            Level::INFO,
            network.peer = peer,
            network.protocol.version = ?access.version,
            http.request.method = method,
            url.path = path,
            http.response.status_code = status,
            http.response.body.size = access.body_bytes,
            duration_us = micros,
            "exchange"
        ),
        Some(error) => event!(
            target: "trunkline::server",
            Level::WARN,
            network.peer = peer,
            network.protocol.version = ?access.version,
            http.request.method = method,
            url.path = path,
            http.response.status_code = status,
            http.response.body.size = access.body_bytes,
            duration_us = micros,
            error.type = ?error.kind(),
            error = %error,
            "exchange broken off"
        ),
    }
}

/// An event of level INFO: the client is at fault, mostly a scanner.
pub(in crate::server) fn failed_handshake(failed: &FailedHandshake<'_>) {
    event!(
        target: "trunkline::server",
        Level::INFO,
        network.peer = failed.peer_addr().map(tracing::field::display),
        quic = failed.is_quic(),
        failure = ?failed.failure(),
        "handshake failed"
    );
}
