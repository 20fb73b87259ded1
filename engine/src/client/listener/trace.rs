//! Events of `tracing` for a client's connections.

use super::connection::{ConnectionListener, Hold};
use super::connection_use::ConnectionUse;
use crate::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tracing::{Level, event};
use trunkline_core::http::Version;
use trunkline_core::pool::Origin;

/// Passes every call on to the user's listener, if there is one.
pub(in crate::client) struct Traced(pub(in crate::client) Option<Arc<dyn ConnectionListener>>);

impl ConnectionListener for Traced {
    fn opening(&self, origin: &Origin) {
        if let Some(next) = &self.0 {
            next.opening(origin);
        }
    }
    fn opened(
        &self,
        origin: &Origin,
        connection: &ConnectionUse,
        version: Version,
    ) -> Option<Hold> {
        event!(
            target: "trunkline::client",
            Level::DEBUG,
            server.address = %origin.host,
            server.port = origin.port,
            version = ?version,
            connection = ?connection,
            "connection opened"
        );
        let next = self.0.as_ref()?;
        next.opened(origin, connection, version)
    }
    fn failed(&self, origin: &Origin, error: &Error) {
        event!(
            target: "trunkline::client",
            Level::DEBUG,
            server.address = %origin.host,
            server.port = origin.port,
            error = %error,
            "connection failed"
        );
        if let Some(next) = &self.0 {
            next.failed(origin, error);
        }
    }
    fn requests_failed(&self, origin: &Origin) {
        if let Some(next) = &self.0 {
            next.requests_failed(origin);
        }
    }
    fn answered(&self, origin: &Origin, connection: &ConnectionUse, after: Duration) {
        if let Some(next) = &self.0 {
            next.answered(origin, connection, after);
        }
    }
    fn closed(&self, origin: &Origin, connection: &ConnectionUse, why: &Error) {
        event!(
            target: "trunkline::client",
            Level::DEBUG,
            server.address = %origin.host,
            server.port = origin.port,
            error = %why,
            connection = ?connection,
            "connection closed"
        );
        if let Some(next) = &self.0 {
            next.closed(origin, connection, why);
        }
    }
}
