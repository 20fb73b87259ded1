//! Names resolved by a JavaScript function: a question goes out as a completion, and its answer
//! comes back as a cold call.

use crate::channel::calls::questions::Question;
use crate::channel::codes::completion;
use crate::environment::Shared;
use crate::failure::OwnFailure;
use serde::Deserialize;
use serde_json::json;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Weak;
use trunkline::client::{Resolver, Resolving};

/// JavaScript's result; `None`: its function failed, and JavaScript keeps the error.
pub(crate) type Found = Option<Vec<IpAddr>>;

/// The answer to a question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LookedUp {
    pub(crate) ticket: u32,
    pub(crate) addresses: Found,
}

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
        let question = Question::new(&shared, |shared| &shared.lookups);
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
