//! Cold calls across the channel: their arguments and answers as JSON, and the answers that come later,
//! by ticket.

pub(crate) mod questions;
pub(crate) mod reply;
mod wrong_option;

use crate::failure;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Parses the argument of a cold call. A value that cannot be used is refused with its option's name.
pub(crate) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Value> {
    let mut parser = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut parser).map_err(|error| {
        let (option, why) = (error.path().to_string(), error.inner().to_string());
        failure::refusal("config", &wrong_option::sentence(&option, &why))
    })
}

/// An address and its port.
pub(crate) fn address(address: SocketAddr) -> Value {
    let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    // In Node.js's order: with the feature `preserve_order` of serde_json it is the order in the text.
    json!({ "address": address.ip().to_string(), "family": family, "port": address.port() })
}
