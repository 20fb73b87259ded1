//! Serving from inside a tokio runtime, as axum's users write it: handlers and connections run on that
//! runtime.

use super::target::{IntoListener, ListenTarget};
use crate::config::ServerConfig;
use crate::error::Error;
use crate::server::tower::per_connection::{Handlers, IntoHandlers};
use crate::server::{Access, Port, Server};
use crate::tls::Tls;
use std::future::{IntoFuture, pending};
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::runtime::Handle;

/// Serves `service` on `listener` until the process ends, or the signal of
/// [`with_graceful_shutdown`](ServeBuilder::with_graceful_shutdown) comes.
///
/// Connections over TCP and Unix sockets are tasks of the tokio runtime that the future is awaited on, which has its I/O and
/// its time enabled; those of HTTP/3 are one task for each worker. Handlers run there too, over HTTP/1.1 in the task of their
/// connection, else in one of their own: what they
/// spawn lives on when the server has ended, and a handler that blocks delays no other request.
/// The sockets that listen for connections over TCP have threads of the server's.
/// [`Server`] serves without a runtime around it, with handlers on the connections' threads.
///
/// ```no_run
/// use axum::{Router, routing::get};
/// use tokio::net::TcpListener;
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let router = Router::new().route("/", get(async || "hello"));
///     let listener = TcpListener::bind("127.0.0.1:8080").await?;
///     trunkline::serve(listener, router).await?;
///     Ok(())
/// }
/// ```
///
/// A handler that asks for axum's `ConnectInfo` gets it as under `axum::serve`, over HTTP/3 too:
///
/// ```no_run
/// use axum::{Router, extract::ConnectInfo, routing::get};
/// use std::net::SocketAddr;
///
/// # async fn example(listener: tokio::net::TcpListener) -> Result<(), trunkline::Error> {
/// let peer = get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string());
/// let router = Router::new().route("/", peer);
/// let service = router.into_make_service_with_connect_info::<SocketAddr>();
/// trunkline::serve(listener, service).await
/// # }
/// ```
///
/// A Unix socket is served as a port is:
///
/// ```no_run
/// use axum::{Router, routing::get};
/// use tokio::net::UnixListener;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let router = Router::new().route("/", get(async || "hello"));
/// trunkline::serve(UnixListener::bind("/run/app.sock")?, router).await?;
/// # Ok(())
/// # }
/// ```
pub fn serve<L, S, Kind>(listener: L, service: S) -> ServeBuilder<S::Handlers, L::Target>
where
    L: IntoListener,
    S: IntoHandlers<Kind, <L::Target as ListenTarget>::Peer>,
{
    ServeBuilder {
        server: Server::at(listener.into_target()),
        handlers: service.into_handlers(),
        signal: None,
        drain_timeout: DRAIN_TIMEOUT,
    }
}

/// Long enough for what is open to finish, and short enough for a clock.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// A server to be; see [`serve`]. It serves when it is awaited.
#[must_use = "a server does nothing until it is awaited"]
pub struct ServeBuilder<H, P = Port> {
    server: Server<P>,
    handlers: H,
    signal: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    drain_timeout: Duration,
}

/// Servers that have a port.
#[cfg(feature = "http3")]
impl<H> ServeBuilder<H, Port> {
    /// Whether HTTP/3 is served too, over UDP on the same port; see [`Server::http3`]. Default:
    /// false.
    pub fn http3(mut self, http3: bool) -> Self {
        self.server = self.server.http3(http3);
        self
    }
}

/// Settings of every server, wherever it listens.
impl<H, P> ServeBuilder<H, P> {
    /// Serves under TLS. Default: cleartext.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.server = self.server.tls(tls);
        self
    }
    /// Threads that accept connections, and sockets of HTTP/3; connections and handlers run on the caller's
    /// runtime. Default 0: one per processor.
    pub fn workers(mut self, workers: usize) -> Self {
        self.server = self.server.workers(workers);
        self
    }
    /// Takes other settings than the default.
    pub fn config(mut self, config: ServerConfig) -> Self {
        self.server = self.server.config(config);
        self
    }
    /// As [`Server::access_log`].
    pub fn access_log(mut self, log: impl Fn(&Access<'_>) + Send + Sync + 'static) -> Self {
        self.server = self.server.access_log(log);
        self
    }
    /// As [`Server::traced`].
    #[cfg(feature = "tracing")]
    pub fn traced(mut self) -> Self {
        self.server = self.server.traced();
        self
    }
    /// When `signal` is over, no connection is accepted, every peer gets a GOAWAY or `connection:
    /// close`, and open exchanges finish.
    pub fn with_graceful_shutdown<F>(mut self, signal: F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.signal = Some(Box::pin(signal));
        self
    }
    /// How long exchanges that are open when the signal comes may take; then they are cut. Default: as long
    /// as they need.
    pub fn drain_timeout(mut self, timeout: Duration) -> Self {
        self.drain_timeout = timeout.min(DRAIN_TIMEOUT);
        self
    }
}

/// Servers whose sockets are open.
impl<H, P: ListenTarget> ServeBuilder<H, P> {
    /// The address of the listener, with the port that the system chose.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<P::Address> {
        self.server.target.local_addr()
    }
}

impl<H, P> IntoFuture for ServeBuilder<H, P>
where
    P: ListenTarget,
    H: Handlers,
{
    /// An error: the sockets cannot be used, or a setting is out of its range.
    type Output = Result<(), Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut server = self.server;
            server.config.connection_info |= H::READS_PEER;
            server.config.extended_connect |= H::HAS_UPGRADES;
            let runtime = Handle::current();
            let service = self.handlers.on(runtime.clone());
            let mut running = server.serve_on(runtime, service)?;
            let signal = self.signal.unwrap_or_else(|| Box::pin(pending()));
            tokio::select! {
                () = signal => { running.drain(self.drain_timeout).await; }
                () = running.stopped() => {}
            }
            Ok(())
        })
    }
}
