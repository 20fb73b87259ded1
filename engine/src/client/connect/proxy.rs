//! Proxies: selects the proxy of an origin and the exchange with it that comes before the origin's
//! own bytes.
//!
//! | proxy's URL | `https` origins | `http` origins |
//! |---|---|---|
//! | `http://`, `https://` | CONNECT (RFC 9110 section 9.3.6) | absolute form (RFC 9112 section 3.2.2); CONNECT for HTTP/2 with prior knowledge |
//! | `socks5://`, `socks5h://` | SOCKS5 (RFC 1928) | SOCKS5 |

pub(in crate::client) mod bypass;
pub(in crate::client) mod connect;
pub(in crate::client) mod env;
pub(super) mod socks;

#[cfg(test)]
mod bypass_test;
#[cfg(test)]
mod env_test;
#[cfg(test)]
mod proxy_test;

use crate::error::{Error, ErrorKind, Fault, Retry};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bypass::Bypass;
use http::header::USER_AGENT;
use percent_encoding::percent_decode_str;
use std::fmt;
use std::sync::Arc;
use trunkline_core::h1::ProxyField;
use trunkline_core::pool::{Origin, Protocols, Scheme};

/// Protocol between client and proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum ProxyKind {
    Http,
    /// HTTP under TLS.
    Https,
    /// The origin's name is resolved here.
    Socks5,
    /// The origin's name is resolved by the proxy.
    Socks5h,
}

/// A proxy by its URL.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::client) struct Proxy {
    pub(in crate::client) kind: ProxyKind,
    /// A name or an address, an IPv6 address without brackets.
    pub(in crate::client) host: Box<str>,
    pub(in crate::client) port: u16,
    pub(in crate::client) credentials: Option<Credentials>,
    /// Its URL without credentials, for people and as the pool's key.
    pub(super) displayed: Box<str>,
}

/// User and password of the URL, percent-decoded.
#[derive(PartialEq, Eq)]
pub(in crate::client) struct Credentials {
    pub(in crate::client) user: Box<[u8]>,
    pub(in crate::client) password: Box<[u8]>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

impl Credentials {
    /// RFC 7617 section 2.
    pub(super) fn basic(&self) -> Box<[u8]> {
        let pair = [&self.user, &b":"[..], &self.password].concat();
        format!("Basic {}", BASE64_STANDARD.encode(pair))
            .into_bytes()
            .into()
    }
}

impl ProxyKind {
    const ALLOWED: &'static str = "http, https, socks5 or socks5h";

    fn parse(scheme: &str) -> Option<Self> {
        Some(match scheme.to_ascii_lowercase().as_str() {
            "http" => Self::Http,
            "https" => Self::Https,
            "socks5" => Self::Socks5,
            "socks5h" => Self::Socks5h,
            _ => return None,
        })
    }
    fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Socks5 => "socks5",
            Self::Socks5h => "socks5h",
        }
    }
    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
            // RFC 1928 section 3.
            Self::Socks5 | Self::Socks5h => 1080,
        }
    }
    pub(super) fn is_socks(self) -> bool {
        matches!(self, Self::Socks5 | Self::Socks5h)
    }
}

impl Proxy {
    /// Parses a proxy's URL; without a scheme it is `http`. `option` names where it comes from.
    pub(in crate::client) fn parse(option: &str, url: &str) -> Result<Self, Error> {
        let refuse = |why: &str| {
            // The credentials are not repeated.
            let displayed = match url.rsplit_once('@') {
                Some((before, host)) => {
                    let scheme = before.find("://").map_or("", |at| &before[..at + 3]);
                    format!("{scheme}***@{host}")
                }
                None => url.to_owned(),
            };
            Error::config(format!(
                "{option}: {displayed:?} is not a proxy's URL: {why}"
            ))
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let kind = ProxyKind::parse(scheme).ok_or_else(|| {
            let allowed = ProxyKind::ALLOWED;
            refuse(&format!("its scheme is {scheme:?}; it must be {allowed}"))
        })?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (userinfo, authority) = match rest.rsplit_once('@') {
            Some((userinfo, authority)) => (Some(userinfo), authority),
            None => (None, rest),
        };
        if authority.contains(['/', '?', '#']) {
            return Err(refuse("it must end after the host and port"));
        }
        let (host, port) = split_port(authority);
        let port = match port {
            None => kind.default_port(),
            Some(text) => parse_port(text)
                .ok_or_else(|| refuse(&format!("its port is {text:?}; it must be 1 to 65535")))?,
        };
        let host = parse_host(host).ok_or_else(|| {
            refuse("its host must be a name of ASCII letters, digits, '-', '.' and '_', an IPv4 address, or an IPv6 address in brackets")
        })?;
        let credentials = userinfo
            .map(|userinfo| parse_credentials(kind, userinfo).map_err(|why| refuse(&why)))
            .transpose()?;
        let displayed = match host.contains(':') {
            true => format!("{}://[{host}]:{port}", kind.as_str()),
            false => format!("{}://{host}:{port}", kind.as_str()),
        };
        Ok(Self {
            kind,
            host: host.into(),
            port,
            credentials,
            displayed: displayed.into(),
        })
    }

    /// A failure that the proxy answers for.
    pub(in crate::client) fn error(&self, fault: Fault, retry: Retry, text: &str) -> Error {
        let text = format!("the proxy {} {text}", self.displayed);
        Error::new(ErrorKind::Proxy, fault, retry).with_text(text)
    }
}

/// Host and port of an authority; the brackets of an IPv6 address stay.
pub(super) fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

/// 1 to 65535, digits only.
pub(super) fn parse_port(text: &str) -> Option<u16> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&port: &u16| digits && port != 0)
}

fn parse_host(text: &str) -> Option<String> {
    if let Some(bracketed) = text.strip_prefix('[') {
        let address = bracketed.strip_suffix(']')?;
        return Some(address.parse::<std::net::Ipv6Addr>().ok()?.to_string());
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_host = !text.is_empty() && text.len() <= HOST_BYTES_MAX && text.bytes().all(allowed);
    is_host.then(|| text.to_ascii_lowercase())
}

fn parse_credentials(kind: ProxyKind, userinfo: &str) -> Result<Credentials, String> {
    let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    let decode = |what: &str, text: &str| {
        let bytes: Vec<u8> = percent_decode_str(text).collect();
        if bytes.iter().any(u8::is_ascii_control) {
            return Err(format!(
                "the {what} before its '@' has a control character; none is allowed"
            ));
        }
        Ok(bytes.into_boxed_slice())
    };
    let credentials = Credentials {
        user: decode("user", user)?,
        password: decode("password", password)?,
    };
    if kind.is_socks() {
        // RFC 1929 section 2.
        for (what, bytes) in [
            ("user", &credentials.user),
            ("password", &credentials.password),
        ] {
            if bytes.is_empty() || bytes.len() > 255 {
                return Err(format!(
                    "the {what} before its '@' has {} bytes; for SOCKS5 it must have 1 to 255",
                    bytes.len()
                ));
            }
        }
    } else if credentials.user.contains(&b':') {
        // RFC 7617 section 2.
        return Err("the user before its '@' has a colon, which Basic does not allow".to_owned());
    }
    Ok(credentials)
}

/// The proxy of each origin.
#[derive(Debug, Default)]
pub(in crate::client) struct Proxies {
    pub(in crate::client) for_http: Option<Arc<Proxy>>,
    pub(in crate::client) for_https: Option<Arc<Proxy>>,
    pub(in crate::client) bypass: Bypass,
    /// Takes the place of the credentials in the URLs of HTTP proxies.
    pub(in crate::client) authorization: Option<Box<[u8]>>,
    /// Further fields for HTTP proxies.
    pub(in crate::client) fields: Vec<ProxyField>,
    /// CONNECT for `http` origins too.
    pub(in crate::client) always_tunnel: bool,
    /// The name that an `https` proxy's certificate must have, when it is not its host.
    pub(in crate::client) server_name: Option<Box<str>>,
}

impl Proxies {
    /// A tunnel is asked for in the name of the client's agent too (RFC 9110 section 10.1.5), unless another is set for proxies.
    pub(in crate::client) fn name_agent(&mut self, agent: &[u8]) {
        let name = USER_AGENT.as_str().as_bytes();
        let is_agent = |(field, _): &ProxyField| field.eq_ignore_ascii_case(name);
        if !self.fields.iter().any(is_agent) {
            self.fields.push((name.into(), agent.into()));
        }
    }
    /// Whether `proxy` forwards the requests to `origin` one by one. HTTP/2 has no absolute form: with prior knowledge it
    /// needs a tunnel.
    pub(in crate::client) fn forwards(&self, proxy: &Proxy, origin: &Origin) -> bool {
        matches!(proxy.kind, ProxyKind::Http | ProxyKind::Https)
            && origin.scheme == Scheme::Http
            && origin.protocols != Protocols::H2Only
            && !origin.tunnels
            && !self.always_tunnel
    }
    pub(in crate::client) fn choose(
        &self,
        scheme: Scheme,
        host: &str,
        port: u16,
    ) -> Option<&Arc<Proxy>> {
        let proxy = match scheme {
            Scheme::Http => &self.for_http,
            Scheme::Https => &self.for_https,
        };
        proxy.as_ref().filter(|_| !self.bypass.matches(host, port))
    }
    /// The `proxy-authorization` for an HTTP proxy.
    pub(in crate::client) fn authorization(&self, proxy: &Proxy) -> Option<Box<[u8]>> {
        let of_url = || proxy.credentials.as_ref().map(Credentials::basic);
        self.authorization.clone().or_else(of_url)
    }
}

/// The longest name (RFC 1035 section 2.3.4), and what SOCKS5 can carry.
const HOST_BYTES_MAX: usize = 255;
