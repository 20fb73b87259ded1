//! Servers on a Unix socket: HTTP/1.1 and HTTP/2, in cleartext and under TLS. HTTP/3 needs UDP, so
//! it is neither served nor advertised.

use super::target::{IntoListener, ListenTarget, not_bound, not_taken};
use crate::connection_info::unix::UnixPeer;
use crate::error::Error;
use crate::net::listener::Listener;
use crate::net::unix::UnixListener;
use crate::server::bind::hand_over::Sockets;
use crate::server::{BoundServer, Server};
use std::io;
use std::os::unix::net::{SocketAddr, UnixListener as StdUnixListener};
use std::path::{Path, PathBuf};

/// Where a server listens that has a Unix socket.
#[derive(Debug)]
pub struct UnixSocket(BindTarget);

#[derive(Debug)]
enum BindTarget {
    Path {
        path: PathBuf,
        mode: Option<u32>,
    },
    /// The sockets of a process whose place this one takes.
    Given(Sockets),
    /// A socket that listens already, or why it cannot be taken.
    Open(Result<StdUnixListener, Error>),
}

impl UnixSocket {
    /// On a socket that listens already.
    fn of(listener: Result<StdUnixListener, Error>) -> Self {
        Self(BindTarget::Open(listener))
    }
}

/// Servers that have a Unix socket.
impl Server<UnixSocket> {
    /// A server for a Unix socket at `path`, which must not exist yet and is removed when the server
    /// accepts no more. On Linux a path that begins with a zero byte is a name without a file.
    /// Cleartext, one worker, default settings. What is wrong with the path is the error of
    /// [`serve`](Self::serve).
    pub fn bind_unix(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_owned();
        Self::at(UnixSocket(BindTarget::Path { path, mode: None }))
    }
    /// A server on a socket that listens already, the standard library's or tokio's: one inherited from
    /// the parent process, for example. Its workers share it and its path stays. Otherwise as
    /// [`bind_unix`](Self::bind_unix).
    pub fn on_unix(listener: impl IntoListener<Target = UnixSocket>) -> Self {
        Self::at(listener.into_target())
    }
    /// A server on the socket of a process whose place it takes ([`Running::hand_over`](crate::Running::hand_over)); its file is removed when this
    /// server accepts no more. Otherwise as [`bind_unix`](Self::bind_unix).
    pub fn on_unix_sockets(sockets: Sockets) -> Self {
        Self::at(UnixSocket(BindTarget::Given(sockets)))
    }
    /// The permissions of the socket's file, for example `0o660`; a user that may write to it may connect.
    /// Default: what the process's umask leaves. Nothing for a socket that listens already.
    pub fn mode(mut self, mode: u32) -> Self {
        if let BindTarget::Path { mode: asked, .. } = &mut self.target.0 {
            *asked = Some(mode);
        }
        self
    }
}

impl IntoListener for StdUnixListener {
    type Target = UnixSocket;

    fn into_target(self) -> UnixSocket {
        UnixSocket::of(Ok(self))
    }
}

impl IntoListener for tokio::net::UnixListener {
    type Target = UnixSocket;

    fn into_target(self) -> UnixSocket {
        UnixSocket::of(self.into_std().map_err(not_taken))
    }
}

impl ListenTarget for UnixSocket {
    type Address = SocketAddr;
    type Peer = UnixPeer;

    fn open(server: Server<Self>, workers: usize) -> Result<BoundServer<SocketAddr>, Error> {
        let (UnixSocket(target), server) = server.parted();
        let unix = match target {
            BindTarget::Path { path, mode } => {
                UnixListener::bind(&path, mode, server.config.backlog)?
            }
            BindTarget::Open(listener) => UnixListener::of(listener?),
            BindTarget::Given(sockets) => match sockets.listeners.into_iter().next() {
                Some(Listener::Unix(unix)) => unix,
                _ => {
                    return Err(Error::config(
                        "there is no Unix socket among those that were given; Server::on_sockets takes TCP \
                         sockets",
                    ));
                }
            },
        };
        let address = unix
            .address()
            .map_err(|error| Error::config("the socket has no address").with_source(error))?;
        let listeners = Listener::Unix(unix).for_workers(workers)?;
        server.ready(address, listeners, None)
    }
    fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            BindTarget::Open(Ok(listener)) => listener.local_addr(),
            _ => Err(not_bound()),
        }
    }
}
