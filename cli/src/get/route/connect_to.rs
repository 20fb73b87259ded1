//! --connect-to: another host or port to connect to, while the URL stays as it is.

use super::resolve::{Pin, pinned};
use crate::failure::Failure;
use std::net::{IpAddr, SocketAddr};
use trunkline::client::{ClientBuilder, DnsResolver, Resolver, Resolving, ResolvingRecord};

/// `HOST1:PORT1:HOST2:PORT2`; an empty part stands for any host or port, or for that of the URL.
#[derive(Clone, Debug)]
struct Rule {
    host: Option<String>,
    port: Option<u16>,
    to_host: Option<String>,
    to_port: Option<u16>,
}

impl Rule {
    fn parse(line: &str) -> Result<Self, Failure> {
        let refuse = |why: &str| {
            Failure::usage(format_args!(
                "--connect-to {line:?}: {why}; write it as host:port:host to connect to:port to connect to"
            ))
        };
        let mut rest = line;
        let mut part = |is_last: bool| {
            let end = match rest.starts_with('[') {
                true => rest.find(']').map(|at| at + 1)?,
                false => rest.find(':').unwrap_or(rest.len()),
            };
            let part = &rest[..end];
            rest = match (rest[end..].strip_prefix(':'), is_last) {
                (Some(behind), false) => behind,
                (None, true) if end == rest.len() => "",
                _ => return None,
            };
            Some(part.trim_matches(['[', ']']))
        };
        let parts = (part(false), part(false), part(false), part(true));
        let (Some(host), Some(port), Some(to_host), Some(to_port)) = parts else {
            return Err(refuse("it has not four parts"));
        };
        let port_of = |text: &str| match text {
            "" => Ok(None),
            text => match text.parse() {
                Ok(port) if port != 0 => Ok(Some(port)),
                _ => Err(refuse("a port must be 1 to 65535")),
            },
        };
        let given = |text: &str| (!text.is_empty()).then(|| text.to_ascii_lowercase());
        Ok(Self {
            host: given(host),
            port: port_of(port)?,
            to_host: given(to_host),
            to_port: port_of(to_port)?,
        })
    }
    fn is_for(&self, host: &str, port: u16) -> bool {
        let is_host = |own: &String| own.eq_ignore_ascii_case(host);
        self.host.as_ref().is_none_or(is_host) && self.port.is_none_or(|own| own == port)
    }
}

/// Resolves what the rules say in place of the host that was asked for, by the entries of --resolve first.
struct Rerouted {
    rules: Vec<Rule>,
    pins: Vec<Pin>,
    resolver: DnsResolver,
}

impl Rerouted {
    fn rule(&self, host: &str, port: u16) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.is_for(host, port))
    }
}

impl Resolver for Rerouted {
    fn resolve(&self, host: &str, port: u16) -> Resolving {
        let rule = self.rule(host, port);
        let to_host = rule.and_then(|rule| rule.to_host.as_deref());
        let (host, port) = (
            to_host.unwrap_or(host),
            rule.and_then(|rule| rule.to_port).unwrap_or(port),
        );
        let address = host
            .parse()
            .map(|address| vec![SocketAddr::new(address, port)]);
        match pinned(&self.pins, host, port).or(address.ok()) {
            Some(addresses) => Box::pin(async move { Ok(addresses) }),
            None => self.resolver.resolve(host, port),
        }
    }
    fn https_record(&self, host: &str, port: u16) -> ResolvingRecord {
        if self.rule(host, port).is_some() || pinned(&self.pins, host, port).is_some() {
            return Box::pin(async { Ok(None) });
        }
        self.resolver.https_record(host, port)
    }
}

/// Puts the rules and the entries of --resolve into a client's settings.
///
/// # Errors
/// A rule that cannot be read, or one for an address in place of a name that leads to a name: an address is never
/// resolved.
pub(super) fn apply(
    client: ClientBuilder,
    lines: &[String],
    pins: Vec<Pin>,
) -> Result<ClientBuilder, Failure> {
    if lines.is_empty() && pins.is_empty() {
        return Ok(client);
    }
    let rules = lines.iter().map(|line| Rule::parse(line));
    let rules = rules.collect::<Result<Vec<_>, _>>()?;
    let mut client = client;
    for (rule, line) in rules.iter().zip(lines) {
        let Some(host) = rule
            .host
            .as_deref()
            .filter(|host| host.parse::<IpAddr>().is_ok())
        else {
            continue;
        };
        let to_host = rule.to_host.as_deref().unwrap_or(host);
        let address: IpAddr = to_host.parse().map_err(|_| {
            Failure::usage(format_args!(
                "--connect-to {line:?}: from the address {host} it can lead to an address only"
            ))
        })?;
        let to = SocketAddr::new(address, rule.to_port.unwrap_or(0));
        client = client.connect_to(host, [to]);
    }
    for (host, to) in pins.iter().filter_map(Pin::of_address) {
        client = client.connect_to(host, [to]);
    }
    Ok(client.resolver(Rerouted {
        rules,
        pins,
        resolver: DnsResolver::new(),
    }))
}

#[cfg(test)]
#[path = "connect_to_test.rs"]
mod connect_to_test;
