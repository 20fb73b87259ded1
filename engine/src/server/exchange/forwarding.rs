//! Proxies that state the clients of their requests in fields.

use crate::net::address_list::TrustedPeers;
use http::{HeaderMap, HeaderName};
use std::net::SocketAddr;
use trunkline_core::proxy::{ForwardedClient, forwarded_client, x_forwarded_client};

const FORWARDED: HeaderName = HeaderName::from_static("forwarded");
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// The proxies that are trusted about the clients of their requests, and the fields by which they state them. One kind of field
/// alone: proxies pass on what they do not know, so that the other kind may be the client's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarding {
    from: TrustedPeers,
    is_standard: bool,
}

impl Forwarding {
    /// By `Forwarded` (RFC 7239), to which each proxy appends an element.
    pub fn standard(from: TrustedPeers) -> Self {
        let is_standard = true;
        Self { from, is_standard }
    }
    /// By `X-Forwarded-For`, to which each proxy appends an address, with `X-Forwarded-Proto` and `X-Forwarded-Host`, which the last proxy
    /// must set or remove.
    pub fn x_forwarded(from: TrustedPeers) -> Self {
        let is_standard = false;
        Self { from, is_standard }
    }
    /// Whether the peer of a connection is listed; on a Unix socket, whose peers have no address, each is.
    pub(in crate::server) fn trusts(&self, peer: Option<SocketAddr>) -> bool {
        peer.is_none_or(|peer| self.from.contains(peer.ip()))
    }
    /// The client of a request with these fields, which a listed peer has sent.
    pub(in crate::server) fn client(&self, headers: &HeaderMap) -> Option<ForwardedClient> {
        let values = |name| {
            headers
                .get_all(name)
                .iter()
                .map(http::HeaderValue::as_bytes)
        };
        let is_listed = |address| self.from.contains(address);
        match self.is_standard {
            true => forwarded_client(values(&FORWARDED), is_listed),
            false => x_forwarded_client(
                values(&X_FORWARDED_FOR),
                values(&X_FORWARDED_PROTO),
                values(&X_FORWARDED_HOST),
                is_listed,
            ),
        }
    }
}
