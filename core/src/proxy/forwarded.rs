//! The client of a request that came through proxies, as they state it: `Forwarded` (RFC 7239), or `X-Forwarded-For`, `-Proto`
//! and `-Host`, which most proxies send.

use crate::http::field::syntax;
use crate::limits::{FORWARDED_ELEMENTS_MAX, FORWARDED_PARAMETERS_MAX};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The client as a proxy has stated it. Each part is as the outermost listed proxy has it, and may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForwardedClient {
    /// The client's address; `None`: the proxy keeps it to itself (`unknown`, `_name`), or states none.
    pub address: Option<IpAddr>,
    /// The client's port.
    pub port: Option<u16>,
    /// Whether the client sent its request under TLS (`https`), or in cleartext (`http`).
    pub is_secure: Option<bool>,
    /// The host, with its port, that the client's request was for: `host [":" port]` (RFC 9110 section 7.2).
    pub host: Option<String>,
}

/// The client by the values of `Forwarded`, in their order; `None`: there is none, or the last value is malformed. `is_listed`: a proxy
/// with this address is trusted to tell the truth.
///
/// Each proxy appends what connected to it (RFC 7239 section 4), so that the last element is of the peer, and one before it is
/// trusted if the element behind it names a listed proxy. What a client has put in front of them is never reached.
pub fn forwarded_client<'a>(
    values: impl DoubleEndedIterator<Item = &'a [u8]>,
    is_listed: impl Fn(IpAddr) -> bool,
) -> Option<ForwardedClient> {
    let mut walk = Walk::new(is_listed);
    for value in values.rev() {
        // A quoted text does not go on in the next value: a malformed one is the fault of what was sent to the last proxy that
        // is trusted.
        let Some(elements) = elements(value) else {
            break;
        };
        if elements
            .into_iter()
            .rev()
            .any(|element| walk.ends_at(element))
        {
            break;
        }
    }
    walk.found
}

/// As [`forwarded_client`], by the values of `X-Forwarded-For`. Those of `X-Forwarded-Proto` and `X-Forwarded-Host` stand for the
/// client if there are as many as addresses each, and the last one otherwise, which the peer has set.
pub fn x_forwarded_client<'a>(
    addresses: impl Iterator<Item = &'a [u8]>,
    protos: impl Iterator<Item = &'a [u8]>,
    hosts: impl Iterator<Item = &'a [u8]>,
    is_listed: impl Fn(IpAddr) -> bool,
) -> Option<ForwardedClient> {
    let (addresses, protos, hosts) = (listed(addresses), listed(protos), listed(hosts));
    let mut walk = Walk::new(is_listed);
    for (at, node) in addresses.iter().enumerate().rev() {
        let of = |list: &[&'a [u8]]| match list.len() == addresses.len() {
            true => list.get(at).copied(),
            false => list.last().copied(),
        };
        let Some((address, port)) = node_of(node) else {
            break;
        };
        let client = ForwardedClient {
            address,
            port,
            is_secure: of(&protos).and_then(scheme_of),
            host: of(&hosts).and_then(host_of),
        };
        if walk.ends_at(client) {
            break;
        }
    }
    walk.found
}

/// From the peer outwards, as far as proxies are listed.
struct Walk<L> {
    is_listed: L,
    found: Option<ForwardedClient>,
    elements: usize,
}

impl<L: Fn(IpAddr) -> bool> Walk<L> {
    fn new(is_listed: L) -> Self {
        Self {
            is_listed,
            found: None,
            elements: 0,
        }
    }
    /// Takes the next element; whether those before it are not to be trusted.
    fn ends_at(&mut self, element: ForwardedClient) -> bool {
        let is_proxy = element.address.is_some_and(&self.is_listed);
        self.found = Some(element);
        self.elements += 1;
        !is_proxy || self.elements == FORWARDED_ELEMENTS_MAX
    }
}

/// The members of comma-separated lists (RFC 9110 section 5.6.1), without empty ones.
fn listed<'a>(values: impl Iterator<Item = &'a [u8]>) -> Vec<&'a [u8]> {
    let members = values.flat_map(|value| value.split(|byte| *byte == b','));
    let members = members.map(<[u8]>::trim_ascii);
    members.filter(|member| !member.is_empty()).collect()
}

/// The elements of one value of `Forwarded`; `None`: it is malformed.
fn elements(value: &[u8]) -> Option<Vec<ForwardedClient>> {
    let mut elements = Vec::new();
    let mut rest = value.trim_ascii();
    while !rest.is_empty() {
        let (element, behind) = element(rest)?;
        elements.extend(element);
        rest = behind;
    }
    Some(elements)
}

/// The first element, `None` where it is empty, and what is behind its comma.
fn element(mut rest: &[u8]) -> Option<(Option<ForwardedClient>, &[u8])> {
    let mut client = ForwardedClient::default();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        match rest.first() {
            None | Some(b',') => break,
            Some(b';') => {
                rest = &rest[1..];
                continue;
            }
            Some(_) => {}
        }
        let equals = rest.iter().position(|byte| *byte == b'=')?;
        let name = rest[..equals].to_ascii_lowercase();
        // No parameter may occur more than once in an element (RFC 7239 section 4).
        let is_new = !seen.contains(&name) && seen.len() < FORWARDED_PARAMETERS_MAX;
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) || !is_new {
            return None;
        }
        let (value, behind) = value(&rest[equals + 1..])?;
        match name.as_slice() {
            b"for" => (client.address, client.port) = node_of(&value)?,
            b"proto" => client.is_secure = scheme_of(&value),
            b"host" => client.host = host_of(&value),
            _ => {}
        }
        seen.push(name);
        rest = behind.trim_ascii_start();
        if !matches!(rest.first(), None | Some(b',' | b';')) {
            return None;
        }
    }
    let behind = rest.get(1..).unwrap_or_default();
    Some(((!seen.is_empty()).then_some(client), behind))
}

/// A token, or a quoted text without its escapes, and what is behind it. An address that should be quoted, as `[::1]:80`, is taken
/// without quotes too.
fn value(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    if text.first() != Some(&b'"') {
        let is_end = |byte: &u8| matches!(*byte, b',' | b';' | b'"' | b' ' | b'\t');
        let end = text.iter().position(is_end).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_vec(), &text[end..]));
    }
    let mut value = Vec::new();
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some((value, &text[at + 1..])),
            b'\\' => {
                at += 1;
                value.push(*text.get(at)?);
            }
            byte => value.push(*byte),
        }
        at += 1;
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The address and the port of a node (RFC 7239 section 6); neither of `unknown` and of names that begin with `_`. `None`: it is no node.
fn node_of(text: &[u8]) -> Option<(Option<IpAddr>, Option<u16>)> {
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Some((Some(address.to_canonical()), None));
    }
    let (name, port) = match text.strip_prefix('[') {
        Some(bracketed) => {
            let (name, behind) = bracketed.split_once(']')?;
            match behind {
                "" => (name, None),
                _ => (name, Some(behind.strip_prefix(':')?)),
            }
        }
        None => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    // An obfuscated port says nothing.
    let port = match port {
        Some(port) if !port.starts_with('_') => Some(port.parse().ok()?),
        _ => None,
    };
    if text.starts_with('[') {
        return Some((Some(name.parse::<Ipv6Addr>().ok()?.to_canonical()), port));
    }
    if name.eq_ignore_ascii_case("unknown") || name.len() > 1 && name.starts_with('_') {
        return Some((None, port));
    }
    Some((Some(IpAddr::V4(name.parse::<Ipv4Addr>().ok()?)), port))
}

fn host_of(text: &[u8]) -> Option<String> {
    syntax::authority(text).filter(|_| !text.is_empty())?;
    String::from_utf8(text.to_vec()).ok()
}

fn scheme_of(text: &[u8]) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case(b"https") => Some(true),
        _ if text.eq_ignore_ascii_case(b"http") => Some(false),
        _ => None,
    }
}

#[cfg(test)]
#[path = "forwarded_test.rs"]
mod forwarded_test;
