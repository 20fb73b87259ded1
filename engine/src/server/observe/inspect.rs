//! A server's connections, as they are listed.

use std::net::SocketAddr;
use std::time::{Duration, Instant};
use trunkline_core::inspect::ConnectionSnapshot;

/// How far a connection of a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionStage {
    /// The handshake, or the first bytes.
    Opening,
    /// HTTP.
    Serving,
    /// It left HTTP: a WebSocket or another tunnel.
    Tunnel,
    /// HTTP has ended; the last bytes are written, or the client's end is waited for.
    Closing,
}

impl ConnectionStage {
    /// The stage as a label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Serving => "serving",
            Self::Tunnel => "tunnel",
            Self::Closing => "closing",
        }
    }
}

/// One connection of a server, now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConnection {
    /// The client; `None`: of a Unix socket.
    pub peer: Option<SocketAddr>,
    /// Since it was accepted.
    pub age: Duration,
    /// How far it is.
    pub stage: ConnectionStage,
    /// Its exchanges and windows. `None`: it does not speak HTTP now, or its thread did not answer within 250 ms, because
    /// a handler blocks it.
    pub snapshot: Option<ConnectionSnapshot>,
}

/// A server, now.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ServerSnapshot {
    /// Connections, those with exchanges first, then the oldest, as many as the limit lists.
    pub connections: Vec<ServerConnection>,
    /// Connections that are open and not in `connections`.
    pub unlisted: u64,
    /// Workers, and those of them that did not answer within 250 ms: they have ended, or a handler blocks their thread.
    pub workers: usize,
    /// See `workers`.
    pub silent_workers: usize,
    /// A drain has begun.
    pub is_draining: bool,
}

/// The facts that a worker has of a connection without asking it.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Listed {
    pub(in crate::server) number: u64,
    pub(in crate::server) peer: Option<SocketAddr>,
    pub(in crate::server) accepted_at: Instant,
    pub(in crate::server) stage: ConnectionStage,
}

/// A worker's answer.
#[derive(Debug)]
pub(in crate::server) struct WorkerList {
    pub(in crate::server) connections: Vec<Listed>,
    pub(in crate::server) unlisted: u64,
    pub(in crate::server) is_draining: bool,
}
