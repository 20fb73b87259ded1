//! A listening socket of any kind, or none, before and after a worker's runtime has registered it.

#[cfg(unix)]
use super::unix::UnixListener;
use crate::error::Error;
use crate::net::byte_stream::ByteStream;
use std::io;
use std::net::SocketAddr;
use std::net::TcpListener as StdTcpListener;
use std::task::{Context, Poll, ready};
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::net::{TcpListener, TcpStream};

/// A listener of one worker, which does not block.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(StdTcpListener),
    #[cfg(unix)]
    Unix(UnixListener<std::os::unix::net::UnixListener>),
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
            Self::Tcp(listener) => listener.set_nonblocking(true),
            #[cfg(unix)]
            Self::Unix(unix) => unix.listener.set_nonblocking(true),
            Self::None => Ok(()),
        }
    }
    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(listener) => Self::Tcp(listener.try_clone()?),
            #[cfg(unix)]
            Self::Unix(unix) => Self::Unix(unix.with(unix.listener.try_clone()?)),
            Self::None => Self::None,
        })
    }
}

impl Accepted {
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
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener<tokio::net::UnixListener>),
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
            Listener::Tcp(listener) => Self::Tcp(TcpListener::from_std(listener)?),
            #[cfg(unix)]
            Listener::Unix(unix) => {
                let (listener, bound) = (unix.listener, unix.bound);
                let listener = tokio::net::UnixListener::from_std(listener)?;
                Self::Unix(UnixListener { bound, listener })
            }
            Listener::None => Self::None,
        })
    }
    pub(crate) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Accepted>> {
        Poll::Ready(match self {
            Self::Tcp(listener) => {
                let (socket, peer) = ready!(listener.poll_accept(cx))?;
                Ok(Accepted::Tcp(socket, peer))
            }
            #[cfg(unix)]
            Self::Unix(unix) => {
                let (socket, _) = ready!(unix.listener.poll_accept(cx))?;
                Ok(Accepted::Unix(socket))
            }
            Self::None => return Poll::Pending,
        })
    }
}
