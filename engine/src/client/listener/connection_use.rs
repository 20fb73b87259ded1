//! The extension of a response that says which connection carried it.

use crate::connection_info::ConnectionInfo;
use std::time::Instant;

/// The connection that a request went out on and what it had done before: among the extensions of
/// a response if
/// [`ClientBuilder::connection_info`](crate::client::ClientBuilder::connection_info) is set.
#[derive(Clone, Debug)]
pub struct ConnectionUse {
    info: Option<ConnectionInfo>,
    number: u64,
    reached: Instant,
    opened: Instant,
    earlier: u64,
}

impl ConnectionUse {
    /// `reached`: when the socket led to its origin; `None`: only now.
    pub(in crate::client) fn new(
        info: Option<ConnectionInfo>,
        number: u64,
        reached: Option<Instant>,
    ) -> Self {
        let opened = Instant::now();
        Self {
            info,
            number,
            reached: reached.unwrap_or(opened),
            opened,
            earlier: 0,
        }
    }
    /// A copy for a request that was sent behind `earlier` others.
    pub(in crate::client) fn after(&self, earlier: u64) -> Self {
        Self {
            earlier,
            ..self.clone()
        }
    }
    /// Addresses and TLS; `None`: the socket was gone before it could be asked.
    pub fn info(&self) -> Option<&ConnectionInfo> {
        self.info.as_ref()
    }
    /// The connection's number; no other connection of the client ever has it.
    pub fn number(&self) -> u64 {
        self.number
    }
    /// When its socket led to the origin, through a proxy too, and TLS could begin. Over QUIC, and for a stream of a
    /// [`Connector`](crate::client::Connector): as [`opened`](Self::opened).
    pub fn reached(&self) -> Instant {
        self.reached
    }
    /// When its handshake was done.
    pub fn opened(&self) -> Instant {
        self.opened
    }
    /// Requests that were on it before this one; 0: it is new.
    pub fn earlier_requests(&self) -> u64 {
        self.earlier
    }
}
