//! Hosts that are reached without a proxy: the entries of `NO_PROXY`.
//!
//! | entry | hosts |
//! |---|---|
//! | `*` | all |
//! | `example.com` | that name and every name below it |
//! | `.example.com`, `*.example.com` | every name below it |
//! | `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]` | that address |
//! | `10.0.0.0/8`, `fd00::/8` | every address in it |
//!
//! A port behind a name or an address (`example.com:8080`, `[::1]:8080`) restricts it to that
//! port. Entries are separated by commas or spaces. Addresses match hosts that are written as
//! addresses: names are not resolved to find out.

use super::{parse_port, split_port};
use crate::error::Error;
use ipnet::IpNet;
use std::net::IpAddr;

/// This machine, which no proxy reaches.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.0/8", "::1"];

/// A parsed list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::client) struct Bypass {
    entries: Vec<BypassEntry>,
}

#[derive(Debug, PartialEq, Eq)]
struct BypassEntry {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Hosts {
    All,
    /// The name itself and those below it.
    Domain(Box<str>),
    /// Only those below it.
    Below(Box<str>),
    Addresses(IpNet),
}

impl Bypass {
    /// Parses a list; `option` names where it comes from.
    pub(in crate::client) fn parse(option: &str, list: &str) -> Result<Self, Error> {
        let entries = list
            .split(|character: char| character == ',' || character.is_ascii_whitespace())
            .filter(|entry| !entry.is_empty())
            .map(|text| {
                BypassEntry::parse(text).ok_or_else(|| {
                    Error::config(format!(
                        "{option}: the entry {text:?} is not *, a host name, an address or a \
                         network like 10.0.0.0/8, with or without a port from 1 to 65535"
                    ))
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }

    /// Whether every host is reached through the proxy.
    pub(in crate::client) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// The list with this machine's own names and addresses.
    pub(in crate::client) fn with_loopback(mut self) -> Self {
        let own = LOOPBACK.iter().filter_map(|text| BypassEntry::parse(text));
        self.entries.extend(own);
        self
    }

    /// Whether this host is reached without a proxy. `host` is lower-case, an IPv6 address
    /// without brackets.
    pub(super) fn matches(&self, host: &str, port: u16) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        let address = host.parse::<IpAddr>().ok();
        self.entries.iter().any(|entry| {
            entry.port.is_none_or(|only| only == port) && entry.hosts.contain(host, address)
        })
    }
}

impl BypassEntry {
    fn parse(text: &str) -> Option<Self> {
        // An IPv6 address has colons of its own and takes a port only behind brackets.
        let any_port = |hosts| Self { hosts, port: None };
        if let Some(network) = network(text) {
            return Some(any_port(Hosts::Addresses(network)));
        }
        let (host, port) = match split_port(text) {
            (host, None) => (host, None),
            (host, Some(port)) => (host, Some(parse_port(port)?)),
        };
        let hosts = Hosts::parse(host)?;
        Some(Self { hosts, port })
    }
}

impl Hosts {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        let unbracketed = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'));
        if let Some(network) = network(unbracketed.unwrap_or(text)) {
            return Some(Self::Addresses(network));
        }
        let (name, below) = match text.strip_prefix("*.").or_else(|| text.strip_prefix('.')) {
            Some(name) => (name, true),
            None => (text, false),
        };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if name.is_empty() || !name.bytes().all(allowed) {
            return None;
        }
        Some(match below {
            true => Self::Below(name.into()),
            false => Self::Domain(name.into()),
        })
    }

    fn contain(&self, host: &str, address: Option<IpAddr>) -> bool {
        match (self, address) {
            (Self::All, _) => true,
            (Self::Addresses(network), Some(address)) => network.contains(&address),
            (Self::Addresses(_), None) | (_, Some(_)) => false,
            (Self::Domain(name), None) => host == &**name || is_below(host, name),
            (Self::Below(name), None) => is_below(host, name),
        }
    }
}

fn is_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name)
        .is_some_and(|labels| labels.len() > 1 && labels.ends_with('.'))
}

/// A network, or an address as the network of itself.
fn network(text: &str) -> Option<IpNet> {
    text.parse()
        .ok()
        .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}
