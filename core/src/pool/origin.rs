//! The key under which requests may share a connection: all properties that the handshake or the
//! path depends on. Requests that differ in any of them never share a connection.

pub(super) mod alt_svc;
pub(super) mod growth;
mod prewarm;
pub(super) mod race;
pub(super) mod state;

use crate::pool::Pool;
use crate::pool::connection::capacity::Multiplexing;
use state::OriginState;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The key of the pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The host as the connection is made to, lower-case, an IPv6 address without brackets.
    pub host: Box<str>,
    /// The port, never 0.
    pub port: u16,
    /// Plain or TLS.
    pub scheme: Scheme,
    /// The versions that may be offered.
    pub protocols: Protocols,
    /// The name the certificate must have, when it is not `host`.
    pub server_name: Option<Box<str>>,
    /// The proxy in between, as its URL without credentials.
    pub proxy: Option<Box<str>>,
    /// The proxy is asked for a tunnel, also where it could forward the requests.
    pub tunnels: bool,
    /// Which of the client's TLS configurations (roots, client certificate) speaks.
    pub tls_identity: u32,
    /// The address to connect from.
    pub local_address: Option<IpAddr>,
    /// The embedder makes its connections, and says of each which version it speaks.
    pub custom: bool,
}

/// Plain or TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `http`: no TLS; HTTP/2 only by prior knowledge (RFC 9113 section 3.3).
    Http,
    /// `https`: TLS; the version is what ALPN says.
    Https,
}

impl Scheme {
    /// The scheme as it stands in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
    /// The port when the URL has none (RFC 9110 sections 4.2.1 and 4.2.2).
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// The versions that a request allows. Over TLS they become the ALPN list; without TLS, `H2_ONLY`
/// is prior knowledge and everything else is HTTP/1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocols {
    /// HTTP/2 preferred, HTTP/1.1 accepted.
    H2AndH1,
    /// HTTP/1.1 only.
    H1Only,
    /// HTTP/2 only.
    H2Only,
    /// HTTP/3 only, by prior knowledge: no TCP.
    H3Only,
    /// HTTP/3 where the origin has said that it serves it (RFC 7838), with HTTP/2 and HTTP/1.1
    /// behind it; those at first and wherever UDP does not get through.
    All,
}

impl Protocols {
    /// Whether HTTP/1.1 is among them.
    pub(super) fn include_h1(self) -> bool {
        !matches!(self, Self::H2Only | Self::H3Only)
    }
}

impl Origin {
    /// An origin without proxy, identity or address of its own.
    pub fn new(scheme: Scheme, host: &str, port: u16, protocols: Protocols) -> Self {
        Self {
            host: host.to_ascii_lowercase().into(),
            port,
            scheme,
            protocols,
            server_name: None,
            proxy: None,
            tunnels: false,
            tls_identity: 0,
            local_address: None,
            custom: false,
        }
    }

    /// The version expected before the first connection: `None` when ALPN, or the embedder,
    /// decides.
    pub(super) fn expected_multiplexing(&self) -> Option<Multiplexing> {
        match (self.protocols, self.scheme) {
            (Protocols::H1Only, _) => Some(Multiplexing::No),
            (Protocols::H2AndH1 | Protocols::All, Scheme::Http) if !self.custom => {
                Some(Multiplexing::No)
            }
            (Protocols::H2Only | Protocols::H3Only, _) => Some(Multiplexing::Yes),
            (Protocols::H2AndH1 | Protocols::All, _) => None,
        }
    }
}

/// Measurements of the paths to origins, made by their connections.
impl<R> Pool<R> {
    /// The receive window that the path to an origin has shown to need in the last ten minutes, in
    /// bytes; 0: nothing is known.
    pub fn bdp_bytes(&self, now: Instant, origin: &Origin) -> u32 {
        self.state_of(origin)
            .map_or(0, |state| state.bdp_bytes(now))
    }

    /// The round trip to an origin as its connections measured it last, over the network of now.
    pub fn round_trip(&self, now: Instant, origin: &Origin) -> Option<Duration> {
        self.state_of(origin)?.round_trip(now)
    }

    fn state_of(&self, origin: &Origin) -> Option<&OriginState> {
        self.origins.get(*self.by_origin.get(origin)?)
    }
}

#[cfg(test)]
mod prewarm_test;
#[cfg(test)]
mod race_test;
