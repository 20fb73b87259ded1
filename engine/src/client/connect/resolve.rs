//! Resolves host names into addresses and HTTPS records.

use crate::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

/// The addresses to come, in the order of preference (RFC 6724).
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// The part of a host's HTTPS record (RFC 9460) that concerns a client. Of the records in service
/// mode whose target is the host itself, the one with the lowest priority counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpsRecord {
    /// The identifiers in its `alpn` parameter, as in `h3`.
    pub alpn: Vec<Vec<u8>>,
    /// Its `port` parameter; `None`: the URL's port.
    pub port: Option<u16>,
    /// How long it may be cached.
    pub ttl: Duration,
}

/// The HTTPS record to come; `None`: there is none.
pub type ResolvingRecord = Pin<Box<dyn Future<Output = io::Result<Option<HttpsRecord>>> + Send>>;

/// Where a client asks for the addresses of a host. The default asks the operating system.
///
/// ```
/// use trunkline::client::{Client, Resolver, Resolving};
///
/// struct Fixed;
/// impl Resolver for Fixed {
///     fn resolve(&self, _host: &str, port: u16) -> Resolving {
///         Box::pin(async move { Ok(vec![([127, 0, 0, 1], port).into()]) })
///     }
/// }
/// let client = Client::builder().resolver(Fixed).build()?;
/// # Ok::<(), trunkline::Error>(())
/// ```
pub trait Resolver: Send + Sync + 'static {
    /// Resolves `host`, a name and never an address. The addresses carry the port to connect to,
    /// usually `port`. They are tried in this order, alternating between the two families (RFC 8305
    /// section 4); an empty list is an error.
    fn resolve(&self, host: &str, port: u16) -> Resolving;
    /// Looks up the HTTPS record of `host` for `port`; called only where HTTP/3 is allowed beside
    /// the others ([`Protocols::All`](crate::client::Protocols::All)) and not known otherwise. An answer
    /// after 50 ms is ignored. Default: none, because the operating systems' resolvers do not
    /// return it.
    fn https_record(&self, host: &str, port: u16) -> ResolvingRecord {
        let _ = (host, port);
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// The operating system's resolver.
pub(in crate::client) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str, port: u16) -> Resolving {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, port)).await;
            Ok(found.map_err(with_kind)?.collect())
        })
    }
}

impl fmt::Debug for dyn Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

impl HttpsRecord {
    /// A record without a `port` parameter.
    pub fn new(alpn: Vec<Vec<u8>>, ttl: Duration) -> Self {
        Self {
            alpn,
            port: None,
            ttl,
        }
    }
    /// The UDP port where it says that HTTP/3 is served; `port`: the URL's.
    pub(in crate::client) fn http3_port(&self, port: u16) -> Option<u16> {
        let names_it = self.alpn.iter().any(|name| name == b"h3");
        let port = self.port.unwrap_or(port);
        (names_it && port != 0).then_some(port)
    }
}

/// Gives an error of the system's resolver the kind `NotFound` where the answer was that there is no such
/// host, or none with an address. The standard library keeps of getaddrinfo(3) the text alone, in the
/// words of the C library, which no locale changes unless a program sets one.
fn with_kind(error: io::Error) -> io::Error {
    /// EAI_NONAME and EAI_NODATA of glibc, of musl, and of macOS and the BSDs.
    const NOT_FOUND: [&str; 6] = [
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
        "Name has no usable address",
        "nodename nor servname provided, or not known",
        "no address associated with name",
    ];
    let text = error.to_string();
    match NOT_FOUND.iter().any(|value| text.contains(value)) {
        true => io::Error::new(io::ErrorKind::NotFound, error),
        false => error,
    }
}

/// The error for a local address from which `host` cannot be reached.
pub(super) fn wrong_family(local: IpAddr, host: &str) -> Error {
    let (own, other) = match local.is_ipv4() {
        true => ("IPv4", "IPv6"),
        false => ("IPv6", "IPv4"),
    };
    Error::config(format!(
        "local_address {local} is {own}, and {host} has only {other} addresses; \
         both must be of one family"
    ))
}

#[cfg(test)]
#[path = "resolve_test.rs"]
mod resolve_test;
