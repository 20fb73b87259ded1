//! Callbacks for the life of a client's connections: opened, failed, closed.

use super::connection_use::ConnectionUse;
use crate::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::http::Version;
use trunkline_core::pool::Origin;

/// Done when a connection may carry its first exchange.
pub type Hold = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Receives the events of a client's connections: `opening`, then `opened` and later `closed`, or
/// `failed`. Called on the task that opens or runs the connection, under no lock of the client's:
/// it must not block.
pub trait ConnectionListener: Send + Sync + 'static {
    /// An attempt at an origin begins.
    fn opening(&self, origin: &Origin);
    /// The attempt became a connection. No exchange is on it yet, and none starts until the future that this returns
    /// is done; `None`: at once.
    fn opened(&self, origin: &Origin, connection: &ConnectionUse, version: Version)
    -> Option<Hold>;
    /// The attempt failed. Called before the requests that fail with it get their error.
    fn failed(&self, origin: &Origin, error: &Error);
    /// The requests that fail with the attempt have their error.
    fn requests_failed(&self, origin: &Origin) {
        let _ = origin;
    }
    /// Its peer answered a PING of ours after so long (HTTP/2).
    fn answered(&self, origin: &Origin, connection: &ConnectionUse, after: Duration) {
        let _ = (origin, connection, after);
    }
    /// It takes no exchange any more: it is closed, or speaks HTTP no longer. `why`: its kind is
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) where that was our own side's doing.
    fn closed(&self, origin: &Origin, connection: &ConnectionUse, why: &Error);
}

impl fmt::Debug for dyn ConnectionListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnectionListener")
    }
}

/// The listener of an open connection and the description to pass it. Reports the end exactly once.
#[derive(Debug)]
pub(in crate::client) struct EndReport {
    pub(in crate::client) listener: Arc<dyn ConnectionListener>,
    pub(in crate::client) origin: Origin,
    pub(in crate::client) used: ConnectionUse,
}

impl EndReport {
    pub(in crate::client) fn report(self, why: &Error) {
        self.listener.closed(&self.origin, &self.used, why);
    }
}
