//! --resolve: the addresses of a host and port.

use crate::failure::Failure;
use std::net::{IpAddr, SocketAddr};

/// `HOST:PORT:ADDRESS`, with further addresses behind commas; `*` stands for any host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    host: String,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl Pin {
    /// `+` in front has no effect: curl forgets such an entry behind a minute.
    fn parse(line: &str) -> Result<Self, Failure> {
        let refuse = |why: &str| {
            Failure::usage(format_args!(
                "--resolve {line:?}: {why}; write it as host:port:address, like \
                 example.org:443:127.0.0.1 or example.org:443:[::1]"
            ))
        };
        let mut parts = line.strip_prefix('+').unwrap_or(line).splitn(3, ':');
        let (Some(host), Some(port), Some(addresses)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(refuse("a part is missing"));
        };
        if host.is_empty() {
            return Err(refuse("the host is empty"));
        }
        let port = port_of(port).ok_or_else(|| refuse("the port must be 1 to 65535"))?;
        let address = |text: &str| {
            let address = text.trim_start_matches('[').trim_end_matches(']').parse();
            address.map_err(|_| refuse("the address is not an IP address"))
        };
        let addresses = addresses.split(',').map(address);
        Ok(Self {
            host: host.to_ascii_lowercase(),
            port,
            addresses: addresses.collect::<Result<_, _>>()?,
        })
    }
    /// A host that is an address, which no resolver is asked for, and the address in its place.
    pub(super) fn of_address(&self) -> Option<(&str, SocketAddr)> {
        self.host.parse::<IpAddr>().ok()?;
        let first = self.addresses.first()?;
        Some((&self.host, SocketAddr::new(*first, 0)))
    }
}

fn port_of(text: &str) -> Option<u16> {
    text.parse().ok().filter(|&port| port != 0)
}

/// The entries of all --resolve: one for a host and port takes the place of an earlier one, and `-HOST:PORT` takes it away.
pub(super) fn pins(lines: &[String]) -> Result<Vec<Pin>, Failure> {
    let mut pins: Vec<Pin> = Vec::new();
    for line in lines {
        let gone = line.strip_prefix('-').and_then(|rest| {
            let (host, port) = rest.split_once(':')?;
            Some((host.to_ascii_lowercase(), port_of(port)?))
        });
        let added = match &gone {
            Some(_) => None,
            None => Some(Pin::parse(line)?),
        };
        let replaced = gone.or_else(|| added.as_ref().map(|pin| (pin.host.clone(), pin.port)));
        pins.retain(|pin| {
            Some((&pin.host, pin.port)) != replaced.as_ref().map(|(host, port)| (host, *port))
        });
        pins.extend(added);
    }
    Ok(pins)
}

/// The addresses of a host and port, if an entry has some.
pub(super) fn pinned(pins: &[Pin], host: &str, port: u16) -> Option<Vec<SocketAddr>> {
    let of_host = |name: &str| {
        let mut pins = pins.iter();
        pins.find(|pin| pin.port == port && pin.host.eq_ignore_ascii_case(name))
    };
    let pin = of_host(host).or_else(|| of_host("*"))?;
    let addresses = pin.addresses.iter();
    Some(
        addresses
            .map(|&address| SocketAddr::new(address, port))
            .collect(),
    )
}

#[cfg(test)]
#[path = "resolve_test.rs"]
mod resolve_test;
