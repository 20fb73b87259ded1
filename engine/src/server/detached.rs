//! Servers without a listening socket: the embedder passes them their connections.

use super::{Listening, Server};
use crate::error::Error;
use crate::net::listener::Listener;

/// A server that listens nowhere.
#[derive(Clone, Copy, Debug)]
pub struct Detached;

/// Servers that listen nowhere.
impl Server<Detached> {
    /// A server for the streams that [`Attending::serve_stream`](super::Attending::serve_stream) gives it.
    /// Cleartext, default settings.
    pub fn detached() -> Self {
        Self::at(Detached)
    }
    /// Prepares the server for [`Listening::attend`].
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn listen(self) -> Result<Listening<Detached>, Error> {
        let (place, server) = self.parted();
        server.ready(place, vec![Listener::None], None)
    }
}
