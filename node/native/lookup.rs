//! Names looked up by a function of JavaScript's: a question goes out as a completion, and its answer
//! comes back as a cold call.

use crate::environment::Shared;
use crate::exchange::Kind;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Weak;
use std::{error, fmt, io};
use tokio::sync::oneshot;
use trunkline::client::{Resolver, Resolving};

/// What JavaScript found; `None`: its function failed, and JavaScript knows with which error.
type Found = Option<Vec<IpAddr>>;

/// The questions of one environment that have no answer yet.
#[derive(Default)]
pub(crate) struct Lookups {
    tickets: u32,
    waiting: HashMap<u32, oneshot::Sender<Found>>,
}

/// The answer to a question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LookedUp {
    ticket: u32,
    addresses: Found,
}

impl Lookups {
    fn ask(&mut self) -> (u32, oneshot::Receiver<Found>) {
        self.tickets = self.tickets.wrapping_add(1);
        let (answer, answered) = oneshot::channel();
        self.waiting.insert(self.tickets, answer);
        (self.tickets, answered)
    }
    pub(crate) fn answer(&mut self, answer: LookedUp) -> Value {
        if let Some(waiting) = self.waiting.remove(&answer.ticket) {
            // Whoever asked may have given up.
            let _ = waiting.send(answer.addresses);
        }
        Value::Null
    }
}

/// JavaScript's function failed for this question.
#[derive(Debug)]
pub(crate) struct LookupFailed {
    pub(crate) ticket: u32,
}

impl fmt::Display for LookupFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the function connect.lookup failed")
    }
}

impl error::Error for LookupFailed {}

/// Asks one client's function.
pub(crate) struct ScriptResolver {
    /// It holds the client that this belongs to.
    pub(crate) shared: Weak<Shared>,
    /// The client's number.
    pub(crate) client: u32,
}

impl Resolver for ScriptResolver {
    fn resolve(&self, host: &str, port: u16) -> Resolving {
        let Some(shared) = self.shared.upgrade() else {
            return Box::pin(std::future::ready(Err(io::ErrorKind::NotConnected.into())));
        };
        let (ticket, answered) = shared.lookups().ask();
        let question = Question {
            ticket,
            shared: Weak::clone(&self.shared),
        };
        let entry = [Kind::Lookup as u32, ticket, self.client, 0, 0, 0, 0, 0];
        let text = json!({ "host": host }).to_string();
        shared.complete(entry, text.as_bytes(), &[]);
        drop(shared);
        Box::pin(async move {
            // Whole: it must live as long as somebody waits here.
            let question = question;
            match answered.await {
                Ok(Some(addresses)) => Ok(addresses
                    .into_iter()
                    .map(|address| SocketAddr::new(address, port))
                    .collect()),
                Ok(None) => Err(io::Error::other(LookupFailed {
                    ticket: question.ticket,
                })),
                Err(_) => Err(io::ErrorKind::NotConnected.into()),
            }
        })
    }
}

/// A question whose asker may give up.
struct Question {
    ticket: u32,
    shared: Weak<Shared>,
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.lookups().waiting.remove(&self.ticket);
        }
    }
}
