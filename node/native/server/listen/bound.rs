//! The places on which servers listen: a port, a path, or an inherited descriptor.

use crate::calls::address;
use crate::server::callbacks::Server as Callbacks;
use serde_json::{Value, json};
use std::pin::Pin;
use trunkline::Error;
use trunkline::server::{BoundServer, Detached, Inspector, SecondWorker, ServerHandle};

/// The future of a server, until its end.
pub(crate) type ServeFuture = Pin<Box<dyn Future<Output = Result<(), Error>>>>;

/// Sockets that are open, of either kind, or none.
pub(crate) enum BoundSockets {
    Port(Box<BoundServer>),
    Detached(Box<BoundServer<Detached>>),
    #[cfg(unix)]
    Unix(Box<BoundServer<std::os::unix::net::SocketAddr>>),
}

impl BoundSockets {
    /// As JavaScript has it; nothing where there is no port.
    pub(crate) fn address(&self) -> Value {
        match self {
            Self::Port(listening) => address(listening.local_addr()),
            Self::Detached(_) => json!({}),
            #[cfg(unix)]
            Self::Unix(_) => json!({}),
        }
    }
    /// A second worker of the server.
    pub(crate) fn second_worker(&mut self) -> SecondWorker {
        match self {
            Self::Port(listening) => listening.second_worker(),
            Self::Detached(listening) => listening.second_worker(),
            #[cfg(unix)]
            Self::Unix(listening) => listening.second_worker(),
        }
    }
    pub(crate) fn inspector(&self) -> Inspector {
        match self {
            Self::Port(listening) => listening.inspector(),
            Self::Detached(listening) => listening.inspector(),
            #[cfg(unix)]
            Self::Unix(listening) => listening.inspector(),
        }
    }
    pub(crate) fn serve_callbacks(
        self,
        callbacks: Callbacks,
    ) -> Result<(ServerHandle, ServeFuture), Error> {
        Ok(match self {
            Self::Port(listening) => {
                let (server_handles, serving) = listening.serve_callbacks(callbacks)?;
                (server_handles, Box::pin(serving))
            }
            Self::Detached(listening) => {
                let (server_handles, serving) = listening.serve_callbacks(callbacks)?;
                (server_handles, Box::pin(serving))
            }
            #[cfg(unix)]
            Self::Unix(listening) => {
                let (server_handles, serving) = listening.serve_callbacks(callbacks)?;
                (server_handles, Box::pin(serving))
            }
        })
    }
}

/// Descriptors that the process was given.
#[cfg(unix)]
pub(crate) mod inherited {
    use crate::failure;
    use serde_json::Value;
    use socket2::{Domain, SockRef, Socket, Type};
    use std::io;
    use std::os::fd::{BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
    use trunkline::server::ServerHandle;

    /// The error for JavaScript of a descriptor that cannot be listened on.
    pub(crate) fn refused(fd: RawFd, error: &io::Error) -> Value {
        of_descriptor(
            format!("the descriptor {fd} is no socket that can be listened on"),
            error,
        )
    }

    /// The UDP socket of `fd`, which is closed with it.
    ///
    /// # Errors
    /// Where it is none, or of another port: it stays open then.
    pub(crate) fn udp(fd: RawFd, port: u16) -> Result<std::net::UdpSocket, Value> {
        let unusable = |error: &io::Error| {
            of_descriptor(format!("the descriptor {fd} is no UDP socket"), error)
        };
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        if fd < 0 {
            return Err(unusable(&invalid()));
        }
        // SAFETY: as in `InheritedSocket::listen`.
        let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
        let socket = SockRef::from(&borrowed);
        let address = match socket.r#type() {
            Ok(Type::DGRAM) => socket.local_addr().map(|address| address.as_socket()),
            Ok(_) => Err(invalid()),
            Err(error) => Err(error),
        };
        let address = address.map_err(|error| unusable(&error))?;
        let address = address.ok_or_else(|| unusable(&invalid()))?;
        if address.port() != port {
            let text = format!(
                "the descriptor {fd} is at {address}, and the server's port is {port}: both have one port"
            );
            return Err(failure::refusal("config", &text));
        }
        // SAFETY: JavaScript gives it away, as that of the port.
        Ok(Socket::from(unsafe { OwnedFd::from_raw_fd(fd) }).into())
    }

    /// The error for JavaScript of a descriptor that cannot be served.
    pub(crate) fn unserved(fd: RawFd, error: &io::Error) -> Value {
        of_descriptor(
            format!("the descriptor {fd} is no socket that can be served"),
            error,
        )
    }

    fn of_descriptor(text: String, error: &io::Error) -> Value {
        let mut reported = failure::refusal("config", &text);
        reported["system"] = failure::code_of(error.kind()).unwrap_or("EINVAL").into();
        reported
    }

    /// The socket of `fd` and its domain: TCP over IPv4 or IPv6, or a Unix socket of a stream. Only for a call that
    /// JavaScript's thread waits for.
    ///
    /// # Errors
    /// `EINVAL` where it is no such socket, or the system's error.
    fn stream_socket<'a>(fd: RawFd) -> io::Result<(BorrowedFd<'a>, Domain)> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        if fd < 0 {
            return Err(invalid());
        }
        // SAFETY: it is used in one call alone, and before anything else of this process could close it:
        // JavaScript's thread, which says what is open, is in that call. One that is not open is an error of
        // the first use.
        let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
        let socket = SockRef::from(&borrowed);
        let domain = match socket.r#type() {
            Ok(Type::STREAM) => socket.local_addr()?.domain(),
            _ => return Err(invalid()),
        };
        match domain {
            Domain::IPV4 | Domain::IPV6 | Domain::UNIX => Ok((borrowed, domain)),
            _ => Err(invalid()),
        }
    }

    /// A socket that was accepted by JavaScript's process, or by another that has sent it.
    pub(crate) enum AcceptedSocket {
        Tcp(std::net::TcpStream),
        Unix(std::os::unix::net::UnixStream),
    }

    impl AcceptedSocket {
        /// A copy of `fd`, whose owner closes it.
        ///
        /// # Errors
        /// `EINVAL` where it is no socket of a stream, or the system's error.
        pub(crate) fn copy(fd: RawFd) -> io::Result<Self> {
            let (borrowed, domain) = stream_socket(fd)?;
            let copy = Socket::from(borrowed.try_clone_to_owned()?);
            Ok(match domain {
                Domain::UNIX => Self::Unix(copy.into()),
                _ => Self::Tcp(copy.into()),
            })
        }
        /// Serves it.
        pub(crate) fn serve(self, server_handle: &ServerHandle) {
            match self {
                Self::Tcp(socket) => server_handle.serve_tcp(socket),
                Self::Unix(socket) => server_handle.serve_unix(socket),
            }
        }
    }

    /// A socket on which it is listened.
    pub(crate) enum InheritedSocket {
        Tcp(std::net::TcpListener),
        Unix(std::os::unix::net::UnixListener),
    }

    impl InheritedSocket {
        /// Listens on the socket of `fd`. `reserved`: its owner closes it, and a copy is taken;
        /// otherwise it is closed with what comes back, and stays as it is on an error.
        ///
        /// # Errors
        /// As libuv has them: `EINVAL` where it is no socket that can be listened on.
        pub(crate) fn listen(fd: RawFd, reserved: bool, backlog: u32) -> io::Result<Self> {
            let (borrowed, domain) = stream_socket(fd)?;
            SockRef::from(&borrowed).listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
            let socket = match reserved {
                true => Socket::from(borrowed.try_clone_to_owned()?),
                // SAFETY: JavaScript gives it away, as it does to node's own servers.
                false => Socket::from(unsafe { OwnedFd::from_raw_fd(fd) }),
            };
            Ok(match domain {
                Domain::UNIX => Self::Unix(socket.into()),
                _ => Self::Tcp(socket.into()),
            })
        }
    }
}
