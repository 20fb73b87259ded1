//! Names resolved by a JavaScript function: a question goes out as a completion, and its answer
//! comes back as a cold call.

use crate::calls::questions::{Question, Questions};
use crate::calls::read;
use crate::channel::codes::completion;
use crate::channel::shared::Shared;
use crate::failure::OwnFailure;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
use trunkline::client::{Resolver, Resolving};

/// JavaScript's result; `None`: its function failed, and JavaScript keeps the error.
pub(crate) type Found = Option<Vec<IpAddr>>;

/// The answer to a question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LookedUp {
    ticket: u32,
    addresses: Found,
}

/// Takes an answer.
pub(crate) fn answer(lookups: &Questions<Found>, text: &str) -> Result<Value, Value> {
    let LookedUp { ticket, addresses } = read(text)?;
    lookups.answer(ticket, addresses);
    Ok(Value::Null)
}

/// Asks one client's function.
pub(crate) struct ScriptResolver {
    /// It holds the client that this belongs to.
    pub(crate) shared: Weak<Shared>,
    pub(crate) lookups: Arc<Questions<Found>>,
    /// The client's number.
    pub(crate) client: u32,
}

impl Resolver for ScriptResolver {
    fn resolve(&self, host: &str, port: u16) -> Resolving {
        let Some(shared) = self.shared.upgrade() else {
            return Box::pin(std::future::ready(Err(io::ErrorKind::NotConnected.into())));
        };
        let question = Question::new(&self.lookups);
        let ticket = question.ticket;
        let entry = completion::lookup(ticket, self.client);
        let text = json!({ "host": host }).to_string();
        shared.complete(entry, text.as_bytes(), &[]);
        drop(shared);
        Box::pin(async move {
            match question.answer().await {
                Some(Some(addresses)) => Ok(addresses
                    .into_iter()
                    .map(|address| SocketAddr::new(address, port))
                    .collect()),
                Some(None) => Err(io::Error::other(OwnFailure::Lookup(ticket))),
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        })
    }
}
