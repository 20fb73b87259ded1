//! The place where a server listens: a port or a Unix socket, opened here or elsewhere.

use crate::error::Error;
use crate::server::tower::Tower;
use crate::server::tower::runtime_tower::RuntimeTower;
use crate::server::{BoundServer, HttpService, Peer, Running, Server, TaskService};
use std::io;
use tokio::runtime::Handle;

/// A socket that listens, of the standard library or of tokio: a TCP socket, or a Unix socket. A type of
/// yours that has one inside is made one by passing [`into_target`](Self::into_target) on. Connections of another kind are
/// [`Streams`](crate::server::Streams).
pub trait IntoListener {
    /// Where its server listens.
    type Target: ListenTarget;

    /// The socket as a server has it. One that cannot be taken from its runtime is the error of the server
    /// when it starts.
    fn into_target(self) -> Self::Target;
}

/// The error of an address that is not bound.
pub(super) fn not_bound() -> io::Error {
    io::Error::new(
        io::ErrorKind::NotConnected,
        "the server's socket is opened when it starts",
    )
}

pub(super) fn not_taken(error: io::Error) -> Error {
    Error::config("the listener cannot be taken from its runtime").with_source(error)
}

/// Where a server listens: a [`Port`](crate::server::Port) or a [`UnixSocket`](crate::server::UnixSocket), or the
/// [`Streams`](crate::server::Streams) that it serves. Not to be implemented by hand.
pub trait ListenTarget: Sized + Send + 'static {
    /// The address of its sockets.
    type Address: Clone + Send + 'static;
    /// The peer of a connection, for services that are made for each connection.
    type Peer: Peer;

    /// Opens the sockets of `server`, for a number of workers.
    ///
    /// # Errors
    /// When they cannot be listened on or a setting is out of its range.
    fn open(server: Server<Self>, workers: usize) -> Result<BoundServer<Self::Address>, Error>;

    /// The address, where its socket listens already.
    ///
    /// # Errors
    /// The system's, and where there is no socket yet.
    fn local_addr(&self) -> io::Result<Self::Address>;
}

/// Servers that listen on a port or a Unix socket.
impl<P: ListenTarget> Server<P> {
    /// Starts the workers. Each gets a clone of `service`.
    ///
    /// # Errors
    /// When the address or the path cannot be listened on, or a setting is out of its range.
    pub fn serve<S: HttpService>(self, service: S) -> Result<Running<P::Address>, Error> {
        let workers = self.workers;
        P::open(self, workers)?.serve(Tower(service))
    }
    /// As [`serve`](Self::serve), where connections over byte streams are tasks of `runtime`.
    pub(in crate::server) fn serve_on<S: TaskService>(
        self,
        runtime: Handle,
        service: S,
    ) -> Result<Running<P::Address>, Error> {
        let workers = self.workers;
        let bound = P::open(self, workers)?;
        for counters in &bound.counters {
            counters.share();
        }
        bound.serve(RuntimeTower::new(service, runtime))
    }
    /// Opens the sockets without accepting connections, for [`BoundServer::serve_callbacks`].
    ///
    /// # Errors
    /// When the address or the path cannot be listened on, or a setting is out of its range.
    pub fn listen(self) -> Result<BoundServer<P::Address>, Error> {
        let bound = P::open(self, 1)?;
        match bound.listeners.len() {
            1 => Ok(bound),
            several => Err(Error::config(format!(
                "there are {several} listening sockets, and one thread is to serve; each needs a worker that accepts from its queue: \
                 Server::serve starts them"
            ))),
        }
    }
}
