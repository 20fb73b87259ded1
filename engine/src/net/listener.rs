//! A listening socket of any kind, or none, before and after a worker's runtime has registered it.

#[cfg(unix)]
use super::unix::UnixListener;
use crate::error::Error;
use crate::net::byte_stream::ByteStream;
use crate::net::stream_source::StreamSource;
use std::io;
use std::net::SocketAddr;
use std::net::TcpListener as StdTcpListener;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll, ready};
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::net::{TcpListener, TcpStream};

/// The owner of a listening TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Bound by this server, for itself.
    Here,
    /// Bound by this server, beside sockets of others at its port (SO_REUSEPORT).
    Beside,
    /// Given to the server; other processes may accept connections from it.
    Elsewhere,
}

/// A listener of one worker, which does not block.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(StdTcpListener, Owner),
    #[cfg(unix)]
    Unix(UnixListener<std::os::unix::net::UnixListener>),
    /// The streams of a program, for one worker.
    Streams(StreamSource),
    /// Streams are given to the server, and nothing else comes.
    None,
}

impl Listener {
    /// One for each of `count` workers, all on the same socket: the kernel gives a connection to
    /// whichever asks first.
    ///
    /// # Errors
    /// When the socket cannot be used.
    pub(crate) fn for_workers(self, count: usize) -> Result<Vec<Self>, Error> {
        let copies = || -> io::Result<Vec<Self>> {
            self.set_nonblocking()?;
            let mut all = (1..count)
                .map(|_| self.try_clone())
                .collect::<io::Result<Vec<_>>>()?;
            if count > 0 {
                all.push(self);
            }
            Ok(all)
        };
        copies().map_err(|error| {
            Error::config("the listening socket cannot be used").with_source(error)
        })
    }
    fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Tcp(listener, _) => listener.set_nonblocking(true),
            #[cfg(unix)]
            Self::Unix(unix) => unix.listener.set_nonblocking(true),
            Self::Streams(_) | Self::None => Ok(()),
        }
    }
    /// Another one on the same socket.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(listener, owner) => Self::Tcp(listener.try_clone()?, *owner),
            #[cfg(unix)]
            Self::Unix(unix) => Self::Unix(unix.with(unix.listener.try_clone()?)),
            Self::Streams(_) | Self::None => Self::None,
        })
    }
    /// `None`: there is no socket.
    #[cfg(unix)]
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Tcp(listener, _) => Some(listener.as_fd()),
            Self::Unix(unix) => Some(unix.listener.as_fd()),
            Self::Streams(_) | Self::None => None,
        }
    }
}

impl Accepted {
    /// Takes it out of the runtime, for another. `None`: it is no socket, or the runtime does not give it up; it is closed.
    pub(crate) fn unregistered(self) -> Option<AcceptedSocket> {
        match self {
            Self::Tcp(socket, peer) => {
                let socket = socket.into_std().ok()?;
                Some(AcceptedSocket::Tcp(socket, peer))
            }
            #[cfg(unix)]
            Self::Unix(socket) => socket.into_std().ok().map(AcceptedSocket::Unix),
            Self::Given(_) => None,
        }
    }
    /// The peer's address; `None` on a Unix socket, and of a stream without.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(_, peer) => Some(*peer),
            Self::Given(stream) => stream.addresses().map(|(peer, _)| peer),
            #[cfg(unix)]
            Self::Unix(_) => None,
        }
    }
}

/// A listener within the runtime that serves.
#[derive(Debug)]
pub(crate) enum Acceptor {
    Tcp(TcpListener, Owner),
    #[cfg(unix)]
    Unix(UnixListener<tokio::net::UnixListener>),
    Streams(StreamSource),
    None,
}

/// An accepted socket; over TCP with the peer's address.
#[derive(Debug)]
pub(crate) enum Accepted {
    Tcp(TcpStream, SocketAddr),
    #[cfg(unix)]
    Unix(UnixStream),
    /// Made by the embedder.
    Given(ByteStream),
}

impl Acceptor {
    /// # Errors
    /// When the runtime cannot use the socket.
    pub(crate) fn new(listener: Listener) -> io::Result<Self> {
        Ok(match listener {
            Listener::Tcp(listener, owner) => Self::Tcp(TcpListener::from_std(listener)?, owner),
            #[cfg(unix)]
            Listener::Unix(unix) => {
                let (listener, bound) = (unix.listener, unix.bound);
                let listener = tokio::net::UnixListener::from_std(listener)?;
                Self::Unix(UnixListener { bound, listener })
            }
            Listener::Streams(source) => Self::Streams(source),
            Listener::None => Self::None,
        })
    }
    /// Another listener on the same socket, for another process: this one owns the socket no more.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    #[cfg(unix)]
    pub(crate) fn duplicate(&mut self) -> io::Result<Listener> {
        Ok(match self {
            Self::Tcp(listener, owner) => {
                *owner = Owner::Elsewhere;
                Listener::Tcp(listener.as_fd().try_clone_to_owned()?.into(), *owner)
            }
            Self::Unix(unix) => {
                let listener = unix.listener.as_fd().try_clone_to_owned()?;
                Listener::Unix(unix.with(listener.into()))
            }
            Self::Streams(_) | Self::None => Listener::None,
        })
    }
    pub(crate) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Accepted>> {
        Poll::Ready(match self {
            Self::Tcp(listener, _) => {
                let (socket, peer) = ready!(listener.poll_accept(cx))?;
                Ok(Accepted::Tcp(socket, peer))
            }
            #[cfg(unix)]
            Self::Unix(unix) => {
                let (socket, _) = ready!(unix.listener.poll_accept(cx))?;
                Ok(Accepted::Unix(socket))
            }
            Self::Streams(source) => ready!(source.poll_next(cx)).map(Accepted::Given),
            Self::None => return Poll::Pending,
        })
    }
    /// Ends listening except for the connections that the kernel has accepted. The file of a Unix socket is
    /// removed with its last listener, before they are taken.
    ///
    /// # Errors
    /// When the runtime cannot give the socket up.
    pub(crate) fn into_queue(self) -> io::Result<AcceptQueue> {
        Ok(match self {
            Self::Tcp(listener, owner) => {
                let listener = listener.into_std()?;
                let is_shut = owner != Owner::Elsewhere && refuse_handshakes(&listener);
                AcceptQueue::Tcp(listener, is_shut.then_some(owner))
            }
            #[cfg(unix)]
            Self::Unix(unix) => {
                drop(unix.bound);
                AcceptQueue::Unix(unix.listener.into_std()?)
            }
            Self::Streams(_) | Self::None => AcceptQueue::None,
        })
    }
}

/// The connections that the kernel has accepted on a socket that closes: their clients hold them for open.
#[derive(Debug)]
pub(crate) enum AcceptQueue {
    /// With its owner, where clients that begin a handshake are ignored.
    Tcp(StdTcpListener, Option<Owner>),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixListener),
    None,
}

impl AcceptQueue {
    /// Whether handshakes that have begun are to be awaited: nothing follows them, and they last where a client is
    /// distant, or near one while the processor is taken. That is worth a wait where others serve at the port.
    pub(crate) fn awaits_handshakes(&self, has_distant_clients: bool) -> bool {
        match self {
            Self::Tcp(_, Some(owner)) => has_distant_clients || *owner == Owner::Beside,
            _ => false,
        }
    }
    /// The next one; `None`: there are no more.
    ///
    /// # Errors
    /// The system's, of one connection or of the process.
    pub(crate) fn accept(&self) -> io::Result<Option<Accepted>> {
        let accepted = match self {
            Self::Tcp(listener, _) => listener
                .accept()
                .map(|(socket, peer)| AcceptedSocket::Tcp(socket, peer)),
            #[cfg(unix)]
            Self::Unix(listener) => listener
                .accept()
                .map(|(socket, _)| AcceptedSocket::Unix(socket)),
            Self::None => return Ok(None),
        };
        match accepted {
            Ok(socket) => socket.registered().map(Some),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A socket that was accepted outside of a worker's runtime.
#[derive(Debug)]
pub(crate) enum AcceptedSocket {
    /// With the peer's address: the system forgets it when the peer resets the connection, whose bytes are still to be read.
    Tcp(std::net::TcpStream, SocketAddr),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl AcceptedSocket {
    /// Within the runtime that is to serve it.
    ///
    /// # Errors
    /// When the runtime cannot use the socket.
    pub(crate) fn registered(self) -> io::Result<Accepted> {
        Ok(match self {
            Self::Tcp(socket, peer) => {
                socket.set_nonblocking(true)?;
                Accepted::Tcp(TcpStream::from_std(socket)?, peer)
            }
            #[cfg(unix)]
            Self::Unix(socket) => {
                socket.set_nonblocking(true)?;
                Accepted::Unix(UnixStream::from_std(socket)?)
            }
        })
    }
}

/// Drops the SYN of clients that begin a handshake while the socket closes, so that none of them gets into
/// the queue behind the last one that was taken. They send it again after a second (RFC 6298 section 2.1)
/// and reach another socket of the port, or are refused. False: they are not dropped.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn refuse_handshakes(listener: &StdTcpListener) -> bool {
    use socket2::{SockFilter, SockRef};
    /// The byte of a TCP header that has the flags (RFC 9293 section 3.1).
    const FLAGS: u32 = 13;
    const SYN: u32 = 0x02;
    const SYN_AND_ACK: u32 = 0x12;
    // Classic BPF: load a byte, mask it, compare it, return the bytes to keep.
    let [load, mask, compare, ret] = [0x30, 0x54, 0x15, 0x06];
    let filter = [
        SockFilter::new(load, 0, 0, FLAGS),
        SockFilter::new(mask, 0, 0, SYN_AND_ACK),
        SockFilter::new(compare, 0, 1, SYN),
        SockFilter::new(ret, 0, 0, 0),
        SockFilter::new(ret, 0, 0, u32::MAX),
    ];
    SockRef::from(listener).attach_filter(&filter).is_ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn refuse_handshakes(_: &StdTcpListener) -> bool {
    false
}

#[cfg(test)]
#[path = "listener_test.rs"]
mod listener_test;
