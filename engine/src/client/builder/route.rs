//! Settings of the route to an origin: proxies, resolver, overrides, Unix sockets, local address.

use super::ClientBuilder;
use crate::client::IntoAddresses;
use crate::client::connect::addresses::Override;
use crate::client::connect::connector::Connector;
use crate::client::connect::proxy::bypass::Bypass;
use crate::client::connect::proxy::{Proxies, Proxy, env};
use crate::client::connect::resolve::Resolver;
use crate::error::Error;
use crate::tls::ClientTls;
use http::{HeaderName, HeaderValue};
use std::ffi::OsString;
use std::mem;
use std::net::IpAddr;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::h1::ProxyField;
use trunkline_core::pool::Scheme;
use trunkline_core::proxy::ProxyHeaderVersion;

/// The way to an origin. What cannot be used is an error of [`build`](Self::build).
impl<C> ClientBuilder<C> {
    /// Connects to `addresses`, one or several, for `host` instead of asking the resolver. A port that the URL
    /// names, other than its scheme's, goes before theirs; a port of 0 stands for the URL's.
    #[doc(alias = "resolve_to_addrs")]
    pub fn resolve(self, host: &str, addresses: impl IntoAddresses) -> Self {
        self.overriding(host, addresses, false)
    }
    /// As [`resolve`](Self::resolve), but the ports of `addresses` go before the one that the URL names; a port of
    /// 0 stands for the URL's.
    pub fn connect_to(self, host: &str, addresses: impl IntoAddresses) -> Self {
        self.overriding(host, addresses, true)
    }
    fn overriding(mut self, host: &str, to: impl IntoAddresses, keeps_port: bool) -> Self {
        let to = Override {
            addresses: to.into_addresses(),
            keeps_port,
        };
        self.settings
            .route
            .overrides
            .insert(host.to_ascii_lowercase().into(), to);
        self
    }
    /// Resolves names with this resolver, those of proxies too. Default: the operating system's for addresses, and with
    /// the feature `dns` its name servers for HTTPS records ([`DnsResolver`](crate::client::DnsResolver));
    /// [`SystemResolver`](crate::client::SystemResolver) asks for no records.
    pub fn resolver(mut self, resolver: impl Resolver) -> Self {
        self.settings.route.resolver = Arc::new(resolver);
        self
    }
    /// Makes the connections in place of the engine. Resolver, addresses, certificates and HTTP/3 are not
    /// used then; a Unix socket, a proxy or a local address beside it is an error of `build`, and so is
    /// [`Protocols::H3Only`](crate::client::Protocols::H3Only) of the first request.
    pub fn connector(mut self, connector: impl Connector) -> Self {
        self.settings.route.connector = Some(Arc::new(connector));
        self
    }
    /// The head start that one address has over the next (RFC 8305 section 5). From 10 ms to 2 s,
    /// default 250 ms; less where the connect timeout, divided by the number of addresses, is shorter.
    pub fn attempt_delay(mut self, delay: Duration) -> Self {
        self.settings.route.attempt_delay = delay;
        self
    }
    /// Connects every origin through the Unix socket at this path. Where there is none when a connection
    /// is opened, that fails; a path of something else is an error of `build`. The environment's proxies
    /// do not apply.
    #[cfg(unix)]
    pub fn unix_socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.route.unix_socket = Some(path.into());
        self
    }
    /// Connects the origins of one host through the Unix socket at this path, as
    /// [`unix_socket`](Self::unix_socket) does for all.
    #[cfg(unix)]
    pub fn unix_socket_for(mut self, host: &str, path: impl Into<PathBuf>) -> Self {
        let host = host.to_ascii_lowercase().into();
        self.settings.route.unix_sockets.insert(host, path.into());
        self
    }
    /// The address to connect from. Only peers of its family are reached; `0.0.0.0` and `::` choose
    /// the family and nothing else.
    pub fn local_address(mut self, address: IpAddr) -> Self {
        self.settings.route.local_address = Some(address);
        self
    }
    /// Begins each connection to an origin with a header of the PROXY protocol that names the connection's own addresses, as
    /// `curl --haproxy-protocol` does: for origins that expect one. Not through proxies, and not over HTTP/3, which has
    /// none. Default: none.
    pub fn proxy_protocol(mut self, version: ProxyHeaderVersion) -> Self {
        self.settings.route.header = Some(version);
        self
    }
    /// Lets the kernel ask a peer that is silent for this long whether it is there, and as often
    /// again. From 1 s to 32,767 s (what Linux takes). Default: it does not ask.
    pub fn tcp_keepalive(mut self, silence: impl Into<Option<Duration>>) -> Self {
        self.settings.route.keepalive = silence.into();
        self
    }
    /// Reaches every origin through this proxy: `scheme://[user:password@]host[:port]`, the scheme
    /// `http` (default port 80), `https` (443), `socks5` or `socks5h` (1080); with `socks5h` the
    /// proxy resolves names. User and password are percent-encoded and go to the proxy alone.
    ///
    /// `http` requests go to an HTTP proxy in absolute form, everything else through a tunnel.
    pub fn proxy(mut self, url: &str) -> Self {
        let route = &mut self.settings.route;
        let proxy = route.accept(Proxy::parse("proxy", url)).map(Arc::new);
        route.proxies.for_http.clone_from(&proxy);
        route.proxies.for_https = proxy;
        route.proxy_given = true;
        self
    }
    /// Reaches the origins of one scheme through this proxy, which is written as for
    /// [`proxy`](Self::proxy).
    pub fn proxy_for(mut self, scheme: Scheme, url: &str) -> Self {
        let route = &mut self.settings.route;
        let proxy = route.accept(Proxy::parse("proxy", url)).map(Arc::new);
        match scheme {
            Scheme::Http => route.proxies.for_http = proxy,
            Scheme::Https => route.proxies.for_https = proxy,
        }
        route.proxy_given = true;
        self
    }
    /// Reaches origins through the proxies that the environment names: `http_proxy`,
    /// `https_proxy`, `all_proxy`, `no_proxy` or the same in capitals, small letters first;
    /// `HTTP_PROXY` is not read where `REQUEST_METHOD` is set, because in a CGI program a client sets it. Read
    /// now, once.
    pub fn proxy_from_env(self) -> Self {
        self.proxy_from_variables(|name| std::env::var_os(name))
    }
    /// Reaches origins through the proxies that these variables name, which are read as
    /// [`proxy_from_env`](Self::proxy_from_env) reads those of the environment.
    ///
    /// curl never reads `HTTP_PROXY`; a client that does as curl:
    ///
    /// ```
    /// use std::env::var_os;
    ///
    /// let client = trunkline::Client::builder()
    ///     .proxy_from_variables(|name| var_os(name).filter(|_| name != "HTTP_PROXY"))
    ///     .build()?;
    /// # drop(client);
    /// # Ok::<(), trunkline::Error>(())
    /// ```
    pub fn proxy_from_variables(mut self, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        if let Some(found) = self.settings.route.accept(env::proxies(variable)) {
            self.settings.route.proxies = Proxies {
                for_http: found.for_http,
                for_https: found.for_https,
                bypass: found.bypass,
                ..mem::take(&mut self.settings.route.proxies)
            };
            self.settings.route.proxy_given = false;
            self.settings.route.environment = false;
        }
        self
    }
    /// Whether [`build`](Self::build) reads the environment's proxies where no proxy, Unix socket or connector
    /// is set, as [`proxy_from_env`](Self::proxy_from_env) does; `localhost` and loopback addresses
    /// are reached without them then. Default: true.
    pub fn environment_proxies(mut self, on: bool) -> Self {
        self.settings.route.environment = on;
        self
    }
    /// The hosts reached without a proxy, separated by commas: names (with every name below them),
    /// `.names` (only those below), addresses, networks like `10.0.0.0/8`, each perhaps with a
    /// `:port`; `*` is every host. Replaces what the environment says.
    pub fn no_proxy(mut self, list: &str) -> Self {
        if let Some(bypass) = self.settings.route.accept(Bypass::parse("no_proxy", list)) {
            self.settings.route.proxies.bypass = bypass;
        }
        self
    }
    /// The `proxy-authorization` for HTTP proxies (`Bearer ..`), in place of the credentials in
    /// their URLs.
    pub fn proxy_authorization(mut self, value: &str) -> Self {
        let valid = HeaderValue::from_str(value).map(|_| value.as_bytes().into());
        // The value is a secret: it is not repeated.
        let valid = valid.map_err(|_| {
            Error::config(
                "proxy_authorization has a character that is not allowed there; \
                 it must be visible ASCII and spaces",
            )
        });
        self.settings.route.proxies.authorization = self.settings.route.accept(valid);
        self
    }
    /// A further field for HTTP proxies, on every request that is forwarded and on every CONNECT. A
    /// field of the same name that a forwarded request brings takes its place.
    pub fn proxy_header(mut self, name: &str, value: &str) -> Self {
        if let Some(field) = self.settings.route.accept(proxy_field(name, value)) {
            self.settings.route.proxies.fields.push(field);
        }
        self
    }
    /// The name that the certificate of an `https` proxy must have. Default: its host.
    pub fn proxy_server_name(mut self, name: &str) -> Self {
        self.settings.route.proxies.server_name = Some(name.into());
        self
    }
    /// Tunnels `http` requests too (CONNECT), so that an HTTP proxy neither reads nor changes
    /// them. Many proxies allow tunnels to port 443 only. Default: no.
    pub fn proxy_always_tunnels(mut self, always: bool) -> Self {
        self.settings.route.proxies.always_tunnel = always;
        self
    }
    /// TLS settings for `https` proxies. Default: the platform's roots, independent of
    /// [`tls`](Self::tls).
    pub fn proxy_tls(mut self, tls: ClientTls) -> Self {
        self.settings.route.proxy_tls = tls;
        self
    }
}

/// Fields that the engine says by itself, or that are about the connection (RFC 9110 section 7.6.1).
const OURS: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn proxy_field(name: &str, value: &str) -> Result<ProxyField, Error> {
    let refuse = |why: &str| Error::config(format!("proxy_header: the field {name:?} {why}"));
    let checked = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| refuse("has a name with a character that is not allowed there"))?;
    if OURS.contains(&checked.as_str()) {
        return Err(refuse("is the engine's own, or about the connection"));
    }
    // The value may be a secret: it is not repeated.
    let value = HeaderValue::from_str(value)
        .map_err(|_| refuse("has a value with a character that is not visible ASCII or a space"))?;
    Ok((name.as_bytes().into(), value.as_bytes().into()))
}
