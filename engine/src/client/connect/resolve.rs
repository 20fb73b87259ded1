//! Resolves host names into addresses and HTTPS records.

#[cfg(feature = "dns")]
pub(in crate::client) mod dns;

use crate::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

/// The addresses to come, in the order of preference (RFC 6724).
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// The part of a host's HTTPS record (RFC 9460) that concerns a client: of the records in service mode that it
/// can use, the one with the lowest priority, aliases followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpsRecord {
    /// The protocols of the service (RFC 9460 section 7.1): the identifiers in its `alpn` parameter, as in
    /// `h3`, and `http/1.1` unless it has `no-default-alpn`.
    pub alpn: Vec<Vec<u8>>,
    /// Its `port` parameter; `None`: the URL's port.
    pub port: Option<u16>,
    /// The host whose addresses are those of the service; `None`: the URL's host. Certificates are those of the
    /// URL's host all the same.
    pub target: Option<Box<str>>,
    /// Its address hints, used where the addresses themselves cannot be had (RFC 9460 section 7.3).
    pub addresses: Vec<IpAddr>,
    /// Its `ech` parameter, an ECHConfigList (RFC 9848): used where
    /// [`ClientTls::encrypted_client_hello`](crate::client::ClientTls::encrypted_client_hello) says so.
    pub ech: Option<Vec<u8>>,
    /// How long it may be cached.
    pub ttl: Duration,
}

/// The HTTPS record to come; `None`: there is none.
pub type ResolvingRecord = Pin<Box<dyn Future<Output = io::Result<Option<HttpsRecord>>> + Send>>;

/// Where a client asks for the addresses of a host. The default asks the operating system, and with the feature
/// `dns` its name servers for HTTPS records ([`DnsResolver`](crate::client::DnsResolver)).
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
    /// Looks up the HTTPS record of `host` for `port`, beside the addresses; called only for `https` origins
    /// that are reached without a proxy, where HTTP/3 is allowed beside the others
    /// ([`Protocols::All`](crate::client::Protocols::All)) or the ClientHello is to be encrypted. What comes
    /// later than 50 ms after the addresses is ignored. Default: none, because the operating systems' resolvers
    /// do not return it.
    fn https_record(&self, host: &str, port: u16) -> ResolvingRecord {
        let _ = (host, port);
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// The operating system's resolver (getaddrinfo): its hosts file, search domains and other sources of names. It
/// has no HTTPS records and keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

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
    /// A record with these protocols and no other parameter.
    pub fn new(alpn: Vec<Vec<u8>>, ttl: Duration) -> Self {
        Self {
            alpn,
            ttl,
            ..Self::default()
        }
    }
    /// Whether the service speaks HTTP/3.
    pub(in crate::client) fn serves_http3(&self) -> bool {
        self.alpn.iter().any(|name| name == b"h3")
    }
    /// Whether the service speaks HTTP over TCP.
    pub(in crate::client) fn serves_tcp(&self) -> bool {
        let over_tcp = |name: &Vec<u8>| matches!(&name[..], b"h2" | b"http/1.1");
        self.alpn.iter().any(over_tcp)
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
