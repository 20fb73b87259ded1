//! Sockets that a service manager has opened for this process (sd_listen_fds(3)): `LISTEN_FDS` descriptors from 3
//! on, and their names in `LISTEN_FDNAMES`. Those named `admin` are of the admin address, those named `redirect` of redirects to
//! https, all others of the site.

use super::sockets::SocketsByUse;
use crate::failure::Failure;
use crate::system::Sockets;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::sockopt::{socket_acceptconn, socket_type};
use rustix::net::{AddressFamily, SocketType, getsockname};
use std::env;
use std::fmt;
use std::fs;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixListener;

/// The first descriptor.
const FIRST: RawFd = 3;
/// More than any unit has.
const DESCRIPTORS_MAX: RawFd = 4096;
/// The name of the admin address's socket.
const ADMIN: &str = "admin";
/// The name of the sockets of redirects to https.
const REDIRECT: &str = "redirect";

/// The sockets that the manager has opened for this process.
pub(super) fn sockets() -> Result<SocketsByUse, Failure> {
    let variable = |name: &str| env::var(name).ok();
    if variable("LISTEN_PID") != Some(std::process::id().to_string()) {
        return Ok(SocketsByUse::default());
    }
    let count = variable("LISTEN_FDS").unwrap_or_default();
    let names = variable("LISTEN_FDNAMES");
    let (mut site, mut admin, mut redirect) = Default::default();
    for place in places(&count, names.as_deref())? {
        let activated: &mut Activated = match place.name.as_str() {
            ADMIN => &mut admin,
            REDIRECT => &mut redirect,
            _ => &mut site,
        };
        activated.add(place)?;
    }
    Ok(SocketsByUse {
        site: site.into_sockets(),
        admin: admin.into_sockets(),
        redirect: redirect.into_sockets(),
        others: Vec::new(),
    })
}

/// A descriptor, as errors name it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct GivenDescriptor {
    number: RawFd,
    name: String,
}

impl fmt::Display for GivenDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "descriptor {} of LISTEN_FDS", self.number)?;
        match self.name.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", self.name.escape_debug()),
        }
    }
}

/// The descriptors and their names, which are in one order.
fn places(count: &str, names: Option<&str>) -> Result<Vec<GivenDescriptor>, Failure> {
    let parsed = count.parse().ok();
    let Some(count) = parsed.filter(|count| (0..=DESCRIPTORS_MAX).contains(count)) else {
        return Err(Failure::usage(format_args!(
            "LISTEN_FDS is {count:?}; it must be a number from 0 to {DESCRIPTORS_MAX}"
        )));
    };
    let mut names = names.into_iter().flat_map(|names| names.split(':'));
    let numbers = FIRST..FIRST + count;
    let place = |number| GivenDescriptor {
        number,
        name: names.next().unwrap_or_default().to_owned(),
    };
    Ok(numbers.map(place).collect())
}

/// Listening sockets of one server.
#[derive(Debug, Default)]
struct Activated {
    tcp: Vec<TcpListener>,
    udp: Vec<UdpSocket>,
    unix: Option<UnixListener>,
    /// The first one of a port.
    first: Option<(GivenDescriptor, SocketAddr)>,
}

/// The kinds of sockets that a server listens on.
enum SocketKind {
    Tcp,
    Udp,
    Unix,
}

impl Activated {
    fn add(&mut self, place: GivenDescriptor) -> Result<(), Failure> {
        let descriptor = take(&place)?;
        match kind_of(&place, &descriptor)? {
            SocketKind::Tcp => {
                let listener = TcpListener::from(descriptor);
                self.check_port(place, listener.local_addr().ok())?;
                self.tcp.push(listener);
            }
            SocketKind::Udp => {
                let socket = UdpSocket::from(descriptor);
                self.check_port(place, socket.local_addr().ok())?;
                self.udp.push(socket);
            }
            SocketKind::Unix if self.unix.is_some() || self.first.is_some() => {
                return Err(Failure::usage(format_args!(
                    "{place} is a Unix socket beside another one; a server has one Unix socket, or those of one port"
                )));
            }
            SocketKind::Unix => self.unix = Some(descriptor.into()),
        }
        Ok(())
    }
    /// All sockets are of one port.
    fn check_port(
        &mut self,
        place: GivenDescriptor,
        address: Option<SocketAddr>,
    ) -> Result<(), Failure> {
        let refused = |text: String| Err(Failure::usage(text));
        let Some(address) = address else {
            return refused(format!("{place} has no address"));
        };
        match &self.first {
            _ if self.unix.is_some() => refused(format!(
                "{place} is at {address}, beside a Unix socket; a server has one of them"
            )),
            Some((first, has)) if has.port() != address.port() => refused(format!(
                "{place} is at {address} and {first} at {has}; the sockets of a server have one port"
            )),
            Some(_) => Ok(()),
            None => {
                self.first = Some((place, address));
                Ok(())
            }
        }
    }
    fn into_sockets(self) -> Option<Sockets> {
        match self.unix {
            Some(unix) => Some(Sockets::of_unix(unix)),
            None => self.first.map(|_| Sockets::of_port(self.tcp, self.udp)),
        }
    }
}

/// Takes a descriptor of the manager's, which is not inherited further.
fn take(place: &GivenDescriptor) -> Result<OwnedFd, Failure> {
    let file = fs::metadata(format!("/dev/fd/{}", place.number));
    let file =
        file.map_err(|error| Failure::usage(format_args!("{place} is not open: {error}")))?;
    if !file.file_type().is_socket() {
        return Err(Failure::usage(format_args!("{place} is not a socket")));
    }
    // SAFETY: the descriptor is open; the manager has opened it for this process (LISTEN_PID), and each is
    // taken once, at the start.
    let descriptor = unsafe { OwnedFd::from_raw_fd(place.number) };
    fcntl_setfd(&descriptor, FdFlags::CLOEXEC)
        .map_err(|error| Failure::usage(format_args!("{place} cannot be used: {error}")))?;
    Ok(descriptor)
}

fn kind_of(place: &GivenDescriptor, descriptor: &OwnedFd) -> Result<SocketKind, Failure> {
    let unknown = |error| Failure::usage(format_args!("{place} cannot be used: {error}"));
    let family = getsockname(descriptor).map_err(unknown)?.address_family();
    let is_ip = family == AddressFamily::INET || family == AddressFamily::INET6;
    let kind = match socket_type(descriptor).map_err(unknown)? {
        SocketType::STREAM if is_ip => SocketKind::Tcp,
        SocketType::STREAM if family == AddressFamily::UNIX => SocketKind::Unix,
        SocketType::DGRAM if is_ip => return Ok(SocketKind::Udp),
        _ => {
            return Err(Failure::usage(format_args!(
                "{place} is a socket of another kind; a server takes TCP, UDP (HTTP/3) and Unix stream sockets"
            )));
        }
    };
    match socket_acceptconn(descriptor).map_err(unknown)? {
        true => Ok(kind),
        false => Err(Failure::usage(format_args!(
            "{place} does not listen: it is a connection, as systemd passes it with Accept=yes; set Accept=no"
        ))),
    }
}

#[cfg(test)]
#[path = "activation_test.rs"]
mod activation_test;
