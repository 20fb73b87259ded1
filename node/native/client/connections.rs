//! Reports the events of a client's connections as completions, which JavaScript emits.

use super::ClientQuestions;
use crate::calls::address;
use crate::channel::codes::completion;
use crate::channel::lock;
use crate::channel::shared::Shared;
use crate::failure;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, Weak};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::oneshot;
use trunkline::client::{ConnectionListener, ConnectionUse, Hold};
use trunkline::core::http::Version;
use trunkline::core::pool::Origin;
use trunkline::{ConnectionInfo, Error};

/// Reports one client's connections to JavaScript.
pub(crate) struct ConnectionEvents {
    /// It holds the client that this belongs to.
    pub(crate) shared: Weak<Shared>,
    /// The client's number.
    pub(crate) client: u32,
    pub(crate) holds: Arc<Holds>,
}

/// Connections that carry nothing until JavaScript's listeners have had the event of their beginning, by the number of the
/// client, which is here while it has such listeners, and by their own.
#[derive(Default)]
pub(crate) struct Holds(Mutex<HashMap<u32, HashMap<u64, oneshot::Sender<()>>>>);

impl Holds {
    /// Holds the client's connections from now on.
    pub(crate) fn begin(&self, client: u32) {
        lock(&self.0).entry(client).or_default();
    }
    /// The client's connections are held no more.
    pub(crate) fn end(&self, client: u32) {
        lock(&self.0).remove(&client);
    }
    /// The listeners of a connection have had its event.
    pub(crate) fn release(&self, client: u32, connection: u64) {
        if let Some(held) = lock(&self.0).get_mut(&client) {
            held.remove(&connection);
        }
    }
    fn hold(&self, client: u32, connection: u64) -> Option<Hold> {
        let (held, released) = oneshot::channel();
        lock(&self.0).get_mut(&client)?.insert(connection, held);
        Some(Box::pin(async {
            // A sender that is dropped has released it. The task that reads submissions runs first, once more: what was
            // cancelled in front is not sent.
            drop(released.await);
            behind_others().await;
        }))
    }
}

/// Lets the tasks run that are ready now. Not by tokio's own, which waits for the turn of its driver.
async fn behind_others() {
    let mut has_waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl ConnectionEvents {
    pub(crate) fn new(shared: Weak<Shared>, client: u32, questions: &ClientQuestions) -> Arc<Self> {
        let holds = Arc::clone(&questions.holds);
        Arc::new(Self {
            shared,
            client,
            holds,
        })
    }
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
    fn opened(
        &self,
        origin: &Origin,
        connection: &ConnectionUse,
        version: Version,
    ) -> Option<Hold> {
        // In front of the event, which JavaScript may answer on another thread at once.
        let hold = self.holds.hold(self.client, connection.number());
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
        hold
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
