//! The route to an origin: overrides and resolver, Unix sockets, local address, proxies. Checks its
//! settings when the client is built, and applies them to each attempt.

use super::addresses::Override;
use super::connector::Connector;
use super::proxy::socks;
use super::proxy::{Proxies, Proxy, ProxyKind, connect, env};
use super::race::{self, SocketOptions};
use super::resolve::{Resolver, wrong_family};
use super::socket::{ProxyTls, Socket};
use crate::error::{Error, ErrorKind, Fault, ProxyRefusal, Retry};
use crate::tls::{ClientTls, retry_after};
use bytes::Bytes;
use rustls::pki_types::ServerName;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::h1;
use trunkline_core::pool::{
    ATTEMPT_DELAY, ATTEMPT_DELAY_MAX, ATTEMPT_DELAY_MIN, Origin, Protocols, Scheme,
};
use trunkline_core::proxy::{Destination, ProxyHeaderVersion};

/// The settings of the way.
#[derive(Debug)]
pub(in crate::client) struct Route {
    /// Addresses by host, instead of the resolver's.
    pub(in crate::client) overrides: BTreeMap<Box<str>, Override>,
    pub(in crate::client) resolver: Arc<dyn Resolver>,
    /// Makes the connections, in place of all the rest.
    pub(in crate::client) connector: Option<Arc<dyn Connector>>,
    pub(in crate::client) local_address: Option<IpAddr>,
    pub(in crate::client) unix_socket: Option<PathBuf>,
    pub(in crate::client) unix_sockets: BTreeMap<Box<str>, PathBuf>,
    pub(in crate::client) keepalive: Option<Duration>,
    /// Connections begin with a header of the PROXY protocol.
    pub(in crate::client) header: Option<ProxyHeaderVersion>,
    pub(in crate::client) attempt_delay: Duration,
    /// The connect timeout, which every attempt at an address is within.
    pub(in crate::client) attempts_limit: Option<Duration>,
    pub(in crate::client) proxies: Proxies,
    /// The one given by `proxy`, not by the environment.
    pub(in crate::client) proxy_given: bool,
    /// The environment's proxies are read where nothing else is set.
    pub(in crate::client) environment: bool,
    pub(in crate::client) proxy_tls: ClientTls,
    /// The first setting that could not be used.
    refused: Option<Error>,
}

impl Default for Route {
    fn default() -> Self {
        Self {
            overrides: BTreeMap::new(),
            #[cfg(feature = "dns")]
            resolver: Arc::new(super::resolve::dns::DnsResolver::new()),
            #[cfg(not(feature = "dns"))]
            resolver: Arc::new(super::resolve::SystemResolver),
            connector: None,
            local_address: None,
            unix_socket: None,
            unix_sockets: BTreeMap::new(),
            keepalive: None,
            header: None,
            attempt_delay: ATTEMPT_DELAY,
            attempts_limit: None,
            proxies: Proxies::default(),
            proxy_given: false,
            environment: true,
            proxy_tls: ClientTls::new(),
            refused: None,
        }
    }
}

/// How the bytes of an origin's connection begin.
pub(in crate::client) struct Reached {
    pub(in crate::client) socket: Socket,
    /// Bytes of the origin that came with a proxy's answer.
    pub(in crate::client) early: Bytes,
    /// The other end is a proxy that forwards requests.
    pub(in crate::client) forwards: Option<h1::Proxy>,
    /// How long the origin's network took to connect, where no proxy stands before it.
    pub(in crate::client) round_trip: Option<Duration>,
}

impl Reached {
    fn directly(socket: Socket) -> Self {
        Self {
            socket,
            early: Bytes::new(),
            forwards: None,
            round_trip: None,
        }
    }
}

impl Route {
    /// Completes an origin by what of the way two requests must share.
    pub(in crate::client) fn complete(&self, origin: &mut Origin) {
        origin.custom = self.connector.is_some();
        origin.local_address = self.local_address;
        origin.proxy = self
            .chosen_proxy(origin)
            .map(|proxy| proxy.displayed.clone());
    }

    /// Opens the way to `origin`, up to the first byte of its own. `addresses`: where it is known to be.
    pub(in crate::client) async fn reach(
        &self,
        origin: &Origin,
        addresses: Option<Vec<SocketAddr>>,
    ) -> Result<Reached, Error> {
        if let Some(path) = self.unix_socket_for(&origin.host) {
            let mut socket = connect_unix(path).await?;
            socket.announce(self.header).await?;
            return Ok(Reached::directly(socket));
        }
        let Some(proxy) = self.proxy_for(origin) else {
            let addresses = match addresses {
                Some(addresses) => addresses,
                None => self.addresses(&origin.host, origin.port).await?,
            };
            let target = displayed(origin);
            let (socket, took) = race::connect(&target, &addresses, self.options()).await?;
            let mut socket = Socket::Tcp(socket);
            socket.announce(self.header).await?;
            return Ok(Reached {
                round_trip: Some(took),
                ..Reached::directly(socket)
            });
        };
        match proxy.kind {
            ProxyKind::Http | ProxyKind::Https => self.through_http(proxy, origin).await,
            ProxyKind::Socks5h => {
                let destination = match origin.host.parse::<IpAddr>() {
                    Ok(ip) => Destination::Address(SocketAddr::new(ip, origin.port)),
                    Err(_) => Destination::Name(&origin.host, origin.port),
                };
                self.through_socks(proxy, destination).await
            }
            ProxyKind::Socks5 => {
                let addresses = self.addresses(&origin.host, origin.port).await?;
                self.through_socks_to_any(proxy, &addresses).await
            }
        }
    }

    /// The addresses of an origin that only QUIC reaches, with this port: what carries bytes in order cannot.
    pub(in crate::client) async fn addresses_for_quic(
        &self,
        origin: &Origin,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Error> {
        let refuse = |option: &str| {
            Error::config(format!(
                "only HTTP/3 is allowed and {option} is set for {}; this option is for \
                 TCP, and HTTP/3 goes over UDP",
                displayed(origin)
            ))
        };
        if self.unix_socket_for(&origin.host).is_some() {
            return Err(refuse("unix_socket"));
        }
        if self.proxy_for(origin).is_some() {
            return Err(refuse("proxy"));
        }
        if self.local_address.is_some() {
            return Err(refuse("local_address"));
        }
        let mut addresses = self.addresses(&origin.host, origin.port).await?;
        if port != origin.port {
            addresses
                .iter_mut()
                .for_each(|address| address.set_port(port));
        }
        Ok(addresses)
    }

    /// Whether a proxy forwards the requests to `origin` one by one.
    pub(in crate::client) fn forwards(&self, origin: &Origin) -> bool {
        let proxy = self.proxy_for(origin);
        proxy.is_some_and(|proxy| self.proxies.forwards(proxy, origin))
    }

    async fn through_http(&self, proxy: &Proxy, origin: &Origin) -> Result<Reached, Error> {
        let mut socket = self.connect_proxy(proxy).await?;
        let authorization = self.proxies.authorization(proxy);
        if self.proxies.forwards(proxy, origin) {
            return Ok(Reached {
                socket,
                early: Bytes::new(),
                forwards: Some(h1::Proxy {
                    authorization,
                    fields: self.proxies.fields.clone().into(),
                }),
                round_trip: None,
            });
        }
        let authority = authority(&origin.host, origin.port);
        let authorization = authorization.as_deref();
        let fields = &self.proxies.fields;
        let tunnel = connect::open_tunnel(&mut socket, proxy, &authority, authorization, fields);
        let early = tunnel.await?;
        if origin.scheme == Scheme::Https && !early.is_empty() {
            // RFC 8446 section 2: the client speaks first, so these are not the origin's.
            let text = format!("sent bytes into the tunnel to {authority} before TLS began");
            return Err(proxy.error(Fault::Network, Retry::Never, &text));
        }
        Ok(Reached {
            early,
            ..Reached::directly(socket)
        })
    }

    async fn through_socks(
        &self,
        proxy: &Proxy,
        destination: Destination<'_>,
    ) -> Result<Reached, Error> {
        let mut socket = self.connect_proxy(proxy).await?;
        socks::open_connection(&mut socket, proxy, destination).await?;
        Ok(Reached::directly(socket))
    }

    /// One address after another: the proxy, not we, finds out which of them answers.
    async fn through_socks_to_any(
        &self,
        proxy: &Proxy,
        addresses: &[SocketAddr],
    ) -> Result<Reached, Error> {
        let mut last = None;
        for &address in addresses {
            let destination = Destination::Address(address);
            match self.through_socks(proxy, destination).await {
                Err(error) if error.kind() == ErrorKind::Proxy && error.retry() == Retry::Safe => {
                    last = Some(error);
                }
                outcome => return outcome,
            }
        }
        // The list has at least one address, so there is a last error.
        Err(last.unwrap_or_else(|| Error::config("no address")))
    }

    /// TCP, or TLS over TCP, to a proxy.
    async fn connect_proxy(&self, proxy: &Proxy) -> Result<Socket, Error> {
        let addresses = self.addresses(&proxy.host, proxy.port).await?;
        let target = format!("the proxy {}", proxy.displayed);
        let (socket, _) = race::connect(&target, &addresses, self.options()).await?;
        if proxy.kind != ProxyKind::Https {
            return Ok(Socket::Tcp(socket));
        }
        let name = self.proxies.server_name.as_ref().unwrap_or(&proxy.host);
        let name = ServerName::try_from(String::from(&**name)).map_err(|error| {
            let text = "has a host that no certificate can have";
            proxy
                .error(Fault::Config, Retry::Never, text)
                .with_source(error)
        })?;
        // The tunnel itself is HTTP/1.1.
        let config = self.proxy_tls.config(Protocols::H1Only)?;
        let stream = tokio_rustls::TlsConnector::from(config).connect(name, socket);
        let stream = stream.await.map_err(|error| {
            let text = format!("the TLS handshake with {target} failed");
            Error::new(ErrorKind::Tls, Fault::Peer, retry_after(&error))
                .with_text(text)
                .with_source(error)
                .with_proxy_refusal(ProxyRefusal::Handshake)
        })?;
        Ok(Socket::Tls(Box::new(ProxyTls::new(stream))))
    }

    pub(in crate::client) fn options(&self) -> SocketOptions {
        SocketOptions {
            delay: self.attempt_delay,
            limit: self.attempts_limit,
            local_address: self.local_address,
            keepalive: self.keepalive,
        }
    }

    pub(super) fn unix_socket_for(&self, host: &str) -> Option<&Path> {
        let of_host = self.unix_sockets.get(host);
        of_host.or(self.unix_socket.as_ref()).map(PathBuf::as_path)
    }

    /// The proxy that the origin names: a caller may have taken it out, to reach the origin directly.
    pub(super) fn proxy_for(&self, origin: &Origin) -> Option<&Arc<Proxy>> {
        origin.proxy.as_ref().and(self.chosen_proxy(origin))
    }

    fn chosen_proxy(&self, origin: &Origin) -> Option<&Arc<Proxy>> {
        if self.connector.is_some() || self.unix_socket_for(&origin.host).is_some() {
            return None;
        }
        self.proxies
            .choose(origin.scheme, &origin.host, origin.port)
    }

    /// Takes the environment's proxies, unless a setting says how origins are reached.
    pub(in crate::client) fn read_environment(
        &mut self,
        variable: impl Fn(&str) -> Option<OsString>,
    ) {
        let is_set = self.proxy_given || self.connector.is_some() || self.unix_socket.is_some();
        if is_set || !mem::take(&mut self.environment) {
            return;
        }
        if let Some(found) = self.accept(env::proxies(variable)) {
            let bypass = match self.proxies.bypass.is_empty() {
                true => found.bypass,
                false => mem::take(&mut self.proxies.bypass),
            };
            self.proxies.bypass = bypass.with_loopback();
            self.proxies.for_http = found.for_http;
            self.proxies.for_https = found.for_https;
        }
    }

    /// Rejects settings that are invalid alone or together.
    pub(in crate::client) fn check(&mut self) -> Result<(), Error> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        if !(ATTEMPT_DELAY_MIN..=ATTEMPT_DELAY_MAX).contains(&self.attempt_delay) {
            return Err(Error::config(format!(
                "attempt_delay is {:?}; it must be from {ATTEMPT_DELAY_MIN:?} to \
                 {ATTEMPT_DELAY_MAX:?}",
                self.attempt_delay
            )));
        }
        if let Some(silence) = self.keepalive
            && !(KEEPALIVE_MIN..=KEEPALIVE_MAX).contains(&silence)
        {
            return Err(Error::config(format!(
                "tcp_keepalive is {silence:?}; it must be from {KEEPALIVE_MIN:?} to \
                 {KEEPALIVE_MAX:?}"
            )));
        }
        for path in self.unix_socket.iter().chain(self.unix_sockets.values()) {
            check_unix_path(path)?;
        }
        let others = self.unix_socket.is_some() || self.proxy_given || self.local_address.is_some();
        if self.connector.is_some() && others {
            return Err(Error::config(
                "connector is set beside unix_socket, proxy or local_address; the connector makes the \
                 connections, and nothing else has a say in them",
            ));
        }
        if self.unix_socket.is_some() && self.proxy_given {
            return Err(Error::config(
                "unix_socket and proxy are both set; a connection goes through one of them",
            ));
        }
        self.check_local_address()
    }

    fn check_local_address(&self) -> Result<(), Error> {
        let Some(local) = self.local_address else {
            return Ok(());
        };
        let broadcast = matches!(local, IpAddr::V4(ip) if ip.is_broadcast());
        if local.is_multicast() || broadcast {
            return Err(Error::config(format!(
                "local_address is {local}; it must be an address of one machine"
            )));
        }
        for proxy in [&self.proxies.for_http, &self.proxies.for_https] {
            if let Some(proxy) = proxy
                && let Ok(ip) = proxy.host.parse::<IpAddr>()
                && ip.is_ipv4() != local.is_ipv4()
            {
                return Err(wrong_family(local, &proxy.displayed));
            }
        }
        for (host, Override { addresses, .. }) in &self.overrides {
            let reachable = |address: &SocketAddr| address.is_ipv4() == local.is_ipv4();
            if !addresses.is_empty() && !addresses.iter().any(reachable) {
                return Err(wrong_family(local, host));
            }
        }
        Ok(())
    }

    /// Keeps the first error for `build`.
    pub(in crate::client) fn accept<T>(&mut self, outcome: Result<T, Error>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                self.refused.get_or_insert(error);
                None
            }
        }
    }
}

#[cfg(unix)]
async fn connect_unix(path: &Path) -> Result<Socket, Error> {
    let socket = tokio::net::UnixStream::connect(path).await;
    socket.map(Socket::Unix).map_err(|error| {
        let text = format!(
            "no connection to the Unix socket {}: {error}",
            path.display()
        );
        Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe)
            .with_text(text)
            .with_source(error)
    })
}

#[cfg(not(unix))]
async fn connect_unix(path: &Path) -> Result<Socket, Error> {
    let text = format!("{}: this system has no Unix sockets", path.display());
    Err(Error::config(text))
}

/// A path where there is nothing yet is fine: its server may start later, and until then connections fail.
#[cfg(unix)]
fn check_unix_path(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::FileTypeExt;
    let is_other = path
        .metadata()
        .is_ok_and(|metadata| !metadata.file_type().is_socket());
    match is_other {
        false => Ok(()),
        true => Err(Error::config(format!(
            "unix_socket: {} is not a socket; it must be the path of a Unix socket that a server listens on",
            path.display()
        ))),
    }
}

#[cfg(not(unix))]
fn check_unix_path(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// `host:port`, an IPv6 address in brackets.
fn authority(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// An origin for people.
pub(in crate::client) fn displayed(origin: &Origin) -> String {
    let authority = authority(&origin.host, origin.port);
    format!("{}://{authority}", origin.scheme.as_str())
}

/// The kernel counts in whole seconds; Linux takes at most 32,767 of them.
const KEEPALIVE_MIN: Duration = Duration::from_secs(1);
const KEEPALIVE_MAX: Duration = Duration::from_secs(32_767);

#[cfg(test)]
#[path = "route_test.rs"]
mod route_test;
