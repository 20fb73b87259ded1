//! Counts failed handshakes by kind and passes them to the user's log.

use super::counters::{Counters, add};
use super::handshake_failure::HandshakeFailure;
use crate::connection_info::Addresses;
use std::fmt;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A TLS or QUIC handshake that failed: what a log says about it.
#[derive(Debug)]
pub struct FailedHandshake<'a> {
    addresses: Option<Addresses>,
    quic: bool,
    failure: &'a HandshakeFailure,
}

impl FailedHandshake<'_> {
    /// The peer's address; a Unix socket has none.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.addresses.map(|(peer, _)| peer)
    }
    /// Our own address; a Unix socket has none.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.addresses.map(|(_, local)| local)
    }
    /// Whether it was over QUIC.
    pub fn is_quic(&self) -> bool {
        self.quic
    }
    /// Why it failed.
    pub fn failure(&self) -> &HandshakeFailure {
        self.failure
    }
}

/// The user's log of handshakes.
#[derive(Clone)]
pub(in crate::server) struct HandshakeLog(Arc<dyn Fn(&FailedHandshake<'_>) + Send + Sync>);

impl HandshakeLog {
    pub(in crate::server) fn new(
        log: impl Fn(&FailedHandshake<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(log))
    }
}

impl fmt::Debug for HandshakeLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandshakeLog").finish_non_exhaustive()
    }
}

/// Counts a handshake that failed and calls the log.
pub(in crate::server) fn note(
    counters: &Counters,
    log: Option<&HandshakeLog>,
    addresses: Option<Addresses>,
    quic: bool,
    failure: &HandshakeFailure,
) {
    add(&counters.handshakes_failed, 1);
    counters.handshake_failed_by(failure.index());
    if let Some(log) = log {
        let failed = FailedHandshake {
            addresses,
            quic,
            failure,
        };
        // A log that panics has said so; the other connections of the thread go on.
        let _ = catch_unwind(AssertUnwindSafe(|| (log.0)(&failed)));
    }
}
