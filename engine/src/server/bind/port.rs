//! Servers on a TCP port, and on the UDP port of the same number for HTTP/3.

#[cfg(feature = "http3")]
mod http3;
#[cfg(not(feature = "http3"))]
mod without_http3;

#[cfg(not(feature = "http3"))]
use without_http3 as http3;

use super::target::{IntoListener, ListenTarget, not_bound, not_taken};
use crate::error::Error;
use crate::net::listen::{PortOptions, listeners};
use crate::net::listener::{Listener, Owner};
#[cfg(unix)]
use crate::server::bind::hand_over::{SharedQuic, Sockets};
use crate::server::worker::quic::Quic;
use crate::server::{BoundServer, Server, no_worker};
use http3::Http3Settings;
use std::fmt;
use std::io;
#[cfg(unix)]
use std::net::UdpSocket;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

/// Where a server listens that has a port.
#[derive(Debug)]
pub struct Port {
    target: BindTarget,
    http3: Http3Settings,
    tcp: bool,
    options: PortOptions,
}

#[derive(Debug)]
enum BindTarget {
    Address(Result<SocketAddr, Error>),
    /// A socket that another process has opened.
    Open(TcpListener),
    /// Sockets that another process has opened, for HTTP/3 too.
    #[cfg(unix)]
    Given(Sockets),
}

impl Port {
    /// On a socket that listens already.
    fn of(listener: Result<TcpListener, Error>) -> Self {
        Self::new(match listener {
            Ok(listener) => BindTarget::Open(listener),
            Err(error) => BindTarget::Address(Err(error)),
        })
    }
    fn new(target: BindTarget) -> Self {
        Self {
            target,
            http3: Http3Settings::default(),
            tcp: true,
            options: PortOptions::default(),
        }
    }
    /// A listener for each of `count` workers, where they are bound, and HTTP/3.
    fn sockets(self, count: usize, backlog: u32) -> Result<Opened, Error> {
        let udp = |address, count| self.http3.sockets(address, count, self.options);
        let mut inherited = None;
        let (listeners, address, sockets) = match self.target {
            #[cfg(unix)]
            BindTarget::Given(given) => {
                let (listeners, address) = given_listeners(given.listeners, &given.udp, count)?;
                let sockets = match given.udp.is_empty() || !self.http3.is_on() {
                    true => udp(address, listeners.len())?,
                    false => {
                        inherited = given.quic.map(SharedQuic::inherit).transpose()?;
                        Sockets::udp_for(given.udp, listeners.len())?
                    }
                };
                (listeners, address, sockets)
            }
            BindTarget::Open(listener) => {
                let address = local_addr(&listener)?;
                let listeners = Listener::Tcp(listener, Owner::Elsewhere).for_workers(count)?;
                (listeners, address, udp(address, count)?)
            }
            BindTarget::Address(address) if !self.tcp => {
                let sockets = udp(address?, count)?;
                let first = sockets.first().ok_or_else(no_port)?;
                let address = first.local_addr().map_err(unnamed)?;
                let none = (0..count).map(|_| Listener::None);
                (none.collect(), address, sockets)
            }
            BindTarget::Address(address) => {
                let (asked, mut tries) = (address?, PORT_TRIES_MAX);
                loop {
                    let tcp = listeners(asked, count, backlog, self.options)?;
                    let address = local_addr(tcp.first().ok_or_else(no_worker)?)?;
                    tries -= 1;
                    match udp(address, count) {
                        Ok(udp) => {
                            let owner = match self.options.shares {
                                true => Owner::Beside,
                                false => Owner::Here,
                            };
                            let own = |listener| Listener::Tcp(listener, owner);
                            let tcp = tcp.into_iter().map(own).collect();
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
        let quic = self.http3.served_at(address, sockets, inherited.take())?;
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
    pub fn on(listener: impl IntoListener<Target = Port>) -> Self {
        Self::at(listener.into_target())
    }
    /// A server on sockets that listen already: of a process whose place it takes
    /// ([`Running::hand_over`](crate::Running::hand_over)), or of a service manager. One is shared by the workers; of several each has a worker, as
    /// many as there are, because nothing else would accept from its queue. HTTP/3 uses the UDP sockets among
    /// them, each on a worker of its own, and opens its own where there are none; without HTTP/3 they are closed.
    /// Otherwise as [`bind`](Self::bind).
    #[cfg(unix)]
    pub fn on_sockets(sockets: Sockets) -> Self {
        Self::at(Port::new(BindTarget::Given(sockets)))
    }
    /// Whether TCP connections are accepted on the port. Without, HTTP/3 alone listens, beside the connections
    /// that [`ServerHandle::serve_tcp`](crate::server::ServerHandle::serve_tcp) gives; the port must be a
    /// number then, where there are several workers. Nothing for a socket that listens already. Default: true.
    pub fn tcp(mut self, tcp: bool) -> Self {
        self.target.tcp = tcp;
        self
    }
    /// Whether other processes and other servers of this one may listen on the same port, each with
    /// a share of the connections (SO_REUSEPORT; on Unix). HTTP/3 then finds only the connections
    /// that the kernel gives to each. Default: false, and a port that is in use is an error.
    pub fn shares_port(mut self, shares_port: bool) -> Self {
        self.target.options.shares = shares_port;
        self
    }
    /// Whether a server on an address of IPv6 takes clients of IPv6 alone (IPV6_V6ONLY): one on `[::]` may
    /// leave the port of IPv4 to another. Nothing for a socket that listens already. Default: false, and the
    /// system decides; most take both.
    pub fn only_ipv6(mut self, only_ipv6: bool) -> Self {
        self.target.options.only_ipv6 = only_ipv6;
        self
    }
}

impl IntoListener for TcpListener {
    type Target = Port;

    fn into_target(self) -> Port {
        Port::of(Ok(self))
    }
}

impl IntoListener for tokio::net::TcpListener {
    type Target = Port;

    fn into_target(self) -> Port {
        Port::of(self.into_std().map_err(not_taken))
    }
}

impl ListenTarget for Port {
    type Address = SocketAddr;
    type Peer = SocketAddr;

    fn open(server: Server<Self>, workers: usize) -> Result<BoundServer, Error> {
        let (port, server) = server.parted();
        let (listeners, address, quic) = port.sockets(workers, server.config.backlog)?;
        server.ready(address, listeners, quic)
    }
    fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.target {
            BindTarget::Open(listener) => listener.local_addr(),
            _ => Err(not_bound()),
        }
    }
}

/// The listeners of workers on sockets that were given: without TCP sockets a worker for each UDP socket.
#[cfg(unix)]
fn given_listeners(
    mut given: Vec<Listener>,
    udp: &[UdpSocket],
    count: usize,
) -> Result<(Vec<Listener>, SocketAddr), Error> {
    let address = match (given.first(), udp.first()) {
        (Some(Listener::Tcp(first, _)), _) => local_addr(first)?,
        (None, Some(first)) => first.local_addr().map_err(unnamed)?,
        _ => {
            return Err(Error::config(
                "there is no socket of a port among those that were given; Server::on_unix_sockets takes \
                 Unix sockets",
            ));
        }
    };
    let listeners = match given.len() {
        0 => udp.iter().map(|_| Listener::None).collect(),
        1 => given.remove(0).for_workers(count)?,
        _ => {
            let each = given.into_iter().map(|listener| listener.for_workers(1));
            each.collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .flatten()
                .collect()
        }
    };
    Ok((listeners, address))
}

fn local_addr(listener: &TcpListener) -> Result<SocketAddr, Error> {
    listener.local_addr().map_err(unnamed)
}

fn unnamed(error: io::Error) -> Error {
    Error::config("the socket has no address").with_source(error)
}

fn no_port() -> Error {
    Error::config("tcp is off and http3 is off: nothing is left to listen on; turn one of them on")
}

/// Ports tried for port 0 until one is free for TCP and UDP.
const PORT_TRIES_MAX: u32 = 16;
