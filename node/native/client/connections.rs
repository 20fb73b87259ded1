//! Reports the events of a client's connections as completions, which JavaScript emits.

use crate::calls::address;
use crate::channel::codes::completion;
use crate::channel::shared::Shared;
use crate::failure;
use serde_json::{Value, json};
use std::sync::Weak;
use std::time::Duration;
use trunkline::client::{ConnectionListener, ConnectionUse};
use trunkline::core::http::Version;
use trunkline::core::pool::Origin;
use trunkline::{ConnectionInfo, Error};

/// Reports one client's connections to JavaScript.
pub(crate) struct ConnectionEvents {
    /// It holds the client that this belongs to.
    pub(crate) shared: Weak<Shared>,
    /// The client's number.
    pub(crate) client: u32,
}

impl ConnectionEvents {
    fn report(&self, event: &str, origin: &Origin, mut facts: Value) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        facts["event"] = json!(event);
        facts["origin"] = json!(displayed(origin));
        facts["serverName"] = json!(origin.server_name);
        let entry = completion::connection_event(self.client);
        shared.complete(entry, facts.to_string().as_bytes(), &[]);
    }
}

impl ConnectionListener for ConnectionEvents {
    fn opening(&self, origin: &Origin) {
        self.report("opening", origin, json!({}));
    }
    fn opened(&self, origin: &Origin, connection: &ConnectionUse, version: Version) {
        let info = connection.info();
        let tls = info.and_then(|info| info.tls());
        let facts = json!({
            "number": connection.number(),
            "version": word(version),
            "remote": info.and_then(|info| info.peer_addr()).map(address),
            "local": info.and_then(|info| info.local_addr()).map(address),
            "stream": info.map_or(0, ConnectionInfo::tag),
            "proxied": origin.proxy.is_some(),
            "alpn": tls.and_then(|tls| tls.alpn()).map(String::from_utf8_lossy),
        });
        self.report("opened", origin, facts);
    }
    fn failed(&self, origin: &Origin, error: &Error) {
        self.report(
            "failed",
            origin,
            json!({ "error": failure::describe(error) }),
        );
    }
    fn requests_failed(&self, origin: &Origin) {
        self.report("requestsFailed", origin, json!({}));
    }
    fn answered(&self, origin: &Origin, connection: &ConnectionUse, after: Duration) {
        let ms = after.as_secs_f64() * 1e3;
        let facts = json!({ "number": connection.number(), "ms": ms });
        self.report("answered", origin, facts);
    }
    fn closed(&self, origin: &Origin, connection: &ConnectionUse, why: &Error) {
        let facts = json!({ "number": connection.number(), "error": failure::describe(why) });
        self.report("closed", origin, facts);
    }
}

fn word(version: Version) -> &'static str {
    match version {
        Version::Http10 | Version::Http11 => "h1",
        Version::Http2 => "h2",
        Version::Http3 => "h3",
    }
}

/// An origin as a URL has it.
pub(crate) fn displayed(origin: &Origin) -> String {
    let scheme = origin.scheme.as_str();
    match origin.host.contains(':') {
        true => format!("{scheme}://[{}]:{}", origin.host, origin.port),
        false => format!("{scheme}://{}:{}", origin.host, origin.port),
    }
}
