//! Servers without a listening socket: the embedder passes them their connections.

use crate::error::Error;
use crate::net::listener::Listener;
use crate::server::{BoundServer, Server};

/// A server that listens nowhere.
#[derive(Clone, Copy, Debug)]
pub struct Detached;

/// Servers that listen nowhere.
impl Server<Detached> {
    /// A server for the streams that [`ServerHandle::serve_stream`](crate::server::ServerHandle::serve_stream) gives it.
    /// Cleartext, default settings.
    pub fn detached() -> Self {
        Self::at(Detached)
    }
    /// Prepares the server for [`BoundServer::serve_callbacks`].
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn listen(self) -> Result<BoundServer<Detached>, Error> {
        let (place, server) = self.parted();
        server.ready(place, vec![Listener::None], None)
    }
}
