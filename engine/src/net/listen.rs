//! Listening TCP and UDP sockets. Each worker has its own on the same port (SO_REUSEPORT), so that
//! the kernel spreads connections and workers share no accept queue.

use crate::error::Error;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};

/// Options of the sockets of a port.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PortOptions {
    /// Others may have sockets on the port too.
    pub(crate) shares: bool,
    /// A socket of IPv6 takes none of IPv4 (RFC 3493 section 5.3); false: as the system does.
    pub(crate) only_ipv6: bool,
}

/// Opens `count` listeners on `address`. Port 0 is chosen once and shared by all.
///
/// # Errors
/// Names the address and what to do: in use, not allowed, not ours.
pub(crate) fn listeners(
    mut address: SocketAddr,
    count: usize,
    backlog: u32,
    options: PortOptions,
) -> Result<Vec<TcpListener>, Error> {
    let mut listeners = Vec::with_capacity(count);
    if address.port() != 0 && !options.shares {
        // Two programs that share ports by SO_REUSEPORT would split connections unnoticed: one
        // bind without it finds the other.
        bind(address, false, options.only_ipv6).map_err(|error| explain(address, error))?;
    }
    for _ in 0..count {
        let listener =
            listen(address, backlog, options.only_ipv6).map_err(|error| explain(address, error))?;
        if address.port() == 0 {
            address = listener
                .local_addr()
                .map_err(|error| explain(address, error))?;
        }
        listeners.push(listener);
    }
    Ok(listeners)
}

/// Opens `count` UDP sockets on `address`, whose port is already chosen.
///
/// # Errors
/// Names the address and what to do, as [`listeners`] does.
pub(crate) fn udp_sockets(
    address: SocketAddr,
    count: usize,
    options: PortOptions,
) -> Result<Vec<UdpSocket>, Error> {
    let explain = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => Error::config(format!(
            "UDP port {} is in use: HTTP/3 needs it beside TCP; stop the other program, take \
             another port, or serve without HTTP/3",
            address.port()
        ))
        .with_source(error),
        _ => explain(address, error),
    };
    let bind = |share_port| -> io::Result<UdpSocket> {
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        share(&socket, share_port)?;
        restrict(&socket, address, options.only_ipv6)?;
        socket.bind(&address.into())?;
        Ok(socket.into())
    };
    // As for TCP: one bind without sharing finds another program that shares.
    if !options.shares {
        drop(bind(false).map_err(explain)?);
    }
    (0..count).map(|_| bind(true).map_err(explain)).collect()
}

fn listen(address: SocketAddr, backlog: u32, only_ipv6: bool) -> io::Result<TcpListener> {
    let socket = bind(address, true, only_ipv6)?;
    socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn bind(address: SocketAddr, share_port: bool, only_ipv6: bool) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if cfg!(unix) {
        // A restarted server must not wait for old connections in TIME_WAIT. On Windows the
        // option means something else.
        socket.set_reuse_address(true)?;
    }
    share(&socket, share_port)?;
    restrict(&socket, address, only_ipv6)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Keeps clients of IPv4 from a socket of IPv6, where `only_ipv6` says so.
fn restrict(socket: &Socket, address: SocketAddr, only_ipv6: bool) -> io::Result<()> {
    match only_ipv6 && address.is_ipv6() {
        true => socket.set_only_v6(true),
        false => Ok(()),
    }
}

/// Lets several sockets have the port, where `shares` says so.
#[cfg(unix)]
fn share(socket: &Socket, shares: bool) -> io::Result<()> {
    socket.set_reuse_port(shares)
}

/// Windows has no such sharing: the second socket at a port is an error of its `bind`.
#[cfg(not(unix))]
#[allow(
    clippy::unnecessary_wraps,
    reason = "the form of the function for Unix"
)]
fn share(_: &Socket, _: bool) -> io::Result<()> {
    Ok(())
}

fn explain(address: SocketAddr, error: io::Error) -> Error {
    let text = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "{address} is in use: another program listens there; stop it or take another port"
        ),
        io::ErrorKind::PermissionDenied => {
            format!("listening on {address} is not allowed: ports below 1024 need a privilege")
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("{address} is not an address of this machine")
        }
        _ => format!("listening on {address} failed"),
    };
    Error::config(text).with_source(error)
}
