//! Servers on a TCP port, and on the UDP port of the same number for HTTP/3.

use crate::config::Congestion;
use crate::driver::quic::config::QuicSettings;
use crate::driver::quic::config::secret::Secret;
use crate::error::Error;
use crate::net::listen::{listeners, udp_sockets};
use crate::net::listener::Listener;
use crate::server::tower::Tower;
use crate::server::worker::quic::Quic;
use crate::server::{BoundServer, HttpService, IntoListener, Running, Server, no_worker};
use std::fmt;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

/// Where a server listens that has a port.
#[derive(Debug)]
pub struct Port {
    target: BindTarget,
    http3: bool,
    shares: bool,
    quic_secret: Result<Option<Secret>, Error>,
    quic: QuicSettings,
}

#[derive(Debug)]
enum BindTarget {
    Address(Result<SocketAddr, Error>),
    /// A socket that another process has opened.
    Open(TcpListener),
}

impl Port {
    fn new(target: BindTarget) -> Self {
        Self {
            target,
            http3: false,
            shares: false,
            quic_secret: Ok(None),
            quic: QuicSettings::default(),
        }
    }
    /// A listener for each of `count` workers, where they are bound, and HTTP/3.
    fn open(self, count: usize, backlog: u32) -> Result<Opened, Error> {
        let udp = |address| match self.http3 {
            true => udp_sockets(address, count, self.shares),
            false => Ok(Vec::new()),
        };
        let (listeners, address, sockets) = match self.target {
            BindTarget::Open(listener) => {
                let address = local_addr(&listener)?;
                let listeners = Listener::Tcp(listener).for_workers(count)?;
                (listeners, address, udp(address)?)
            }
            BindTarget::Address(address) => {
                let (asked, mut tries) = (address?, PORT_TRIES_MAX);
                loop {
                    let tcp = listeners(asked, count, backlog, self.shares)?;
                    let address = local_addr(tcp.first().ok_or_else(no_worker)?)?;
                    tries -= 1;
                    match udp(address) {
                        Ok(udp) => {
                            let tcp = tcp.into_iter().map(Listener::Tcp).collect();
                            break (tcp, address, udp);
                        }
                        // A port that is free for TCP may be taken for UDP; port 0 lets us try
                        // another.
                        Err(_) if asked.port() == 0 && tries > 0 => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        };
        let quic = match self.http3 {
            false => None,
            true => Some(Quic {
                address,
                sockets,
                secret: self.quic_secret?,
                settings: self.quic,
            }),
        };
        Ok((listeners, address, quic))
    }
}

type Opened = (Vec<Listener>, SocketAddr, Option<Quic>);

/// Servers that have a port.
impl Server<Port> {
    /// A server for `address`; port 0 takes a free one. Cleartext, a worker per processor, default settings.
    /// An address that cannot be resolved is the error of [`serve`](Self::serve).
    pub fn bind(address: impl ToSocketAddrs + fmt::Debug) -> Self {
        let info_policy = format!("{address:?}");
        let address = match address.to_socket_addrs().map(|mut found| found.next()) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(Error::config(format!("{info_policy} has no address"))),
            Err(error) => Err(Error::config(format!(
                "{info_policy} is not an address; write host:port, for example 127.0.0.1:8080"
            ))
            .with_source(error)),
        };
        Self::at(Port::new(BindTarget::Address(address)))
    }
    /// A server on a socket that listens already, the standard library's or tokio's, which its workers
    /// share: one that the process has inherited, for example. Otherwise as [`bind`](Self::bind).
    pub fn on(listener: impl IntoListener) -> Self {
        let target = match listener.into_listener() {
            Ok(listener) => BindTarget::Open(listener),
            Err(error) => BindTarget::Address(Err(Error::config(
                "the listener cannot be taken from its runtime",
            )
            .with_source(error))),
        };
        Self::at(Port::new(target))
    }
    /// Whether HTTP/3 is served too, over UDP on the same port; HTTP/1.1 and HTTP/2 then say so
    /// (`alt-svc`, RFC 7838), unless the handler says something else. Needs [`tls`](Self::tls).
    /// Default: false.
    #[must_use]
    pub fn http3(mut self, http3: bool) -> Self {
        self.target.http3 = http3;
        self
    }
    /// The secret from which the keys of HTTP/3's stateless resets, tokens and connection ids
    /// derive: at least 32 bytes. A server that starts again with the same secret and as many
    /// workers resets its predecessor's connections at once (RFC 9000 section 10.3); otherwise
    /// clients wait for their timeout. Default: derived from the private key of the certificate
    /// (HKDF), so that a restart with the same key keeps it; for a configuration of rustls
    /// ([`Tls::from_rustls`](crate::Tls::from_rustls)), which does not give its key out, random for
    /// each start.
    ///
    /// Servers that share a secret must not get each other's packets (RFC 9000 section 21.11): the
    /// reset that one of them sends ends a connection that lives on the other. Where packets of one
    /// client may reach several processes or machines with the same certificate, give each a secret
    /// of its own.
    #[must_use]
    pub fn quic_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.target.quic_secret = Secret::new(secret.as_ref()).map(Some);
        self
    }
    /// The congestion controller of HTTP/3 connections. Default: [`Congestion::Cubic`].
    #[must_use]
    pub fn quic_congestion(mut self, congestion: Congestion) -> Self {
        self.target.quic.congestion = congestion;
        self
    }
    /// Whether HTTP/3 accepts requests sent with the handshake of a resumed session (0-RTT, RFC
    /// 8446 section 2.3), a round trip earlier. An attacker may replay such a request, bounded by
    /// this server's session memory: a session is resumed once. So GET, HEAD and OPTIONS alone
    /// reach their handlers, with [`EarlyData`](crate::EarlyData) among their extensions (the
    /// callback API has [`is_early`](crate::server::StreamHandle::is_early)); everything else is answered
    /// with 425 (RFC 8470 section 5.2), upon which clients send it again after the handshake.
    /// Default: false.
    #[must_use]
    pub fn early_data(mut self, early_data: bool) -> Self {
        self.target.quic.early_data = early_data;
        self
    }
    /// Writes what becomes of HTTP/3's packets to this file (qlog), which is emptied first. Each
    /// packet costs some microseconds more: for debugging.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    #[cfg(feature = "qlog")]
    pub fn qlog(mut self, path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        self.target.quic.qlog = Some(crate::driver::quic::config::qlog::Qlog::create(
            path.as_ref(),
        )?);
        Ok(self)
    }
    /// Whether other processes and other servers of this one may listen on the same port, each with
    /// a share of the connections (SO_REUSEPORT; on Unix). HTTP/3 then finds only the connections
    /// that the kernel gives to each. Default: false, and a port that is in use is an error.
    #[must_use]
    pub fn shares_port(mut self, shares_port: bool) -> Self {
        self.target.shares = shares_port;
        self
    }
    /// Starts the workers. Each gets a clone of `service`.
    ///
    /// # Errors
    /// When the address cannot be listened on or a setting is out of its range.
    pub fn serve<S: HttpService>(self, service: S) -> Result<Running, Error> {
        let workers = self.workers;
        self.open(workers)?.serve(Tower(service))
    }
    /// Opens the sockets without accepting connections, for [`BoundServer::serve_callbacks`].
    ///
    /// # Errors
    /// When the address cannot be listened on or a setting is out of its range.
    pub fn listen(self) -> Result<BoundServer, Error> {
        self.open(1)
    }
    fn open(self, workers: usize) -> Result<BoundServer, Error> {
        let (port, server) = self.parted();
        let (listeners, address, quic) = port.open(workers, server.config.backlog)?;
        server.ready(address, listeners, quic)
    }
}

fn local_addr(listener: &TcpListener) -> Result<SocketAddr, Error> {
    listener
        .local_addr()
        .map_err(|error| Error::config("the socket has no address").with_source(error))
}

/// Ports tried for port 0 until one is free for TCP and UDP.
const PORT_TRIES_MAX: u32 = 16;
