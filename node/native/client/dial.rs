//! Connections of a client opened by a JavaScript function: a question goes out as a completion,
//! and its answer comes back as a cold call.

use crate::calls::questions::{Question, Questions};
use crate::calls::read;
use crate::channel::codes::completion;
use crate::channel::shared::Shared;
use crate::failure::OwnFailure;
use crate::streams::StreamAsk;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Weak};
use trunkline::ByteStream;
use trunkline::client::{Connecting, Connector};
use trunkline::core::pool::{FailureScope, Origin, Protocols};

/// The stream that JavaScript made, or the requests that fail: its function did, and JavaScript has the error.
pub(crate) type Dialed = Result<ByteStream, FailureScope>;

/// The answer to a question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DialedAsk {
    ticket: u32,
    stream: Option<StreamAsk>,
    /// Without a stream, the requests that fail. Default: all that wait.
    #[serde(default)]
    fails: Fails,
}

/// The requests that fail with a function.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Fails {
    #[default]
    All,
    Next,
    None,
}

impl From<Fails> for FailureScope {
    fn from(fails: Fails) -> Self {
        match fails {
            Fails::All => Self::All,
            Fails::Next => Self::Next,
            Fails::None => Self::None,
        }
    }
}

/// Takes an answer; false: nothing waits for it any more, and no stream was attached.
pub(crate) fn answer(
    shared: &Arc<Shared>,
    dials: &Questions<Dialed>,
    text: &str,
) -> Result<Value, Value> {
    let ask: DialedAsk = read(text)?;
    if !dials.waits(ask.ticket) {
        return Ok(json!(false));
    }
    let stream = ask.stream.map(|stream| stream.attach(shared));
    // One that is dropped here all the same is closed as any other that the engine lets go of.
    dials.answer(ask.ticket, stream.ok_or(ask.fails.into()));
    Ok(json!(true))
}

/// Asks one client's function.
pub(crate) struct ScriptConnector {
    /// It holds the client that this belongs to.
    pub(crate) shared: Weak<Shared>,
    pub(crate) dials: Arc<Questions<Dialed>>,
    /// The client's number.
    pub(crate) client: u32,
}

impl Connector for ScriptConnector {
    fn connect(&self, origin: &Origin) -> Connecting {
        let Some(shared) = self.shared.upgrade() else {
            return Box::pin(std::future::ready(Err(io::ErrorKind::NotConnected.into())));
        };
        let question = Question::new(&self.dials);
        let ticket = question.ticket;
        let entry = completion::dial(ticket, self.client);
        let text = json!({
            "origin": super::connections::displayed(origin),
            "serverName": origin.server_name,
            "isHttp1": origin.protocols == Protocols::H1Only,
        });
        shared.complete(entry, text.to_string().as_bytes(), &[]);
        drop(shared);
        Box::pin(async move {
            match question.answer().await {
                Some(Ok(stream)) => Ok(stream),
                Some(Err(scope)) => Err(io::Error::other(OwnFailure::Dial(ticket, scope))),
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        })
    }
    fn failure_scope(&self, error: &io::Error) -> FailureScope {
        match error.get_ref().and_then(|own| own.downcast_ref()) {
            Some(OwnFailure::Dial(_, scope)) => *scope,
            _ => FailureScope::All,
        }
    }
}
