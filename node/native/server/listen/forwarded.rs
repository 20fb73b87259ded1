//! The client of a request as listed proxies state it in its fields, for servers of JavaScript.

use crate::calls::read;
use crate::failure;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::IpAddr;
use trunkline::TrustedPeers;
use trunkline::core::proxy::{forwarded_client, x_forwarded_client};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ForwardedAsk {
    from: Vec<String>,
    /// The peer of the connection; `None`: it is of a Unix socket, whose peers are all listed.
    peer: Option<IpAddr>,
    fields: StatedFields,
}

/// The values of the fields of one kind.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum StatedFields {
    Forwarded(Vec<String>),
    XForwarded {
        client: Vec<String>,
        proto: Vec<String>,
        host: Vec<String>,
    },
}

/// The client; null: no listed proxy states one.
pub(crate) fn answer(question: &str) -> Result<Value, Value> {
    let ask: ForwardedAsk = read(question)?;
    let from = TrustedPeers::parse(&ask.from)
        .map_err(|error| failure::refusal("config", &format!("forwarding.from: {error}")))?;
    if ask.peer.is_some_and(|peer| !from.contains(peer)) {
        return Ok(Value::Null);
    }
    let is_listed = |address| from.contains(address);
    let client = match &ask.fields {
        StatedFields::Forwarded(values) => forwarded_client(bytes(values), is_listed),
        StatedFields::XForwarded {
            client,
            proto,
            host,
        } => x_forwarded_client(bytes(client), bytes(proto), bytes(host), is_listed),
    };
    Ok(client.map_or(Value::Null, |client| {
        json!({
            "address": client.address,
            "port": client.port,
            "secure": client.is_secure,
            "host": client.host,
        })
    }))
}

fn bytes(values: &[String]) -> impl DoubleEndedIterator<Item = &[u8]> {
    values.iter().map(String::as_bytes)
}
