//! A server whose sockets are open, and the two ways to serve on it: worker threads for a tower
//! service, or the caller's thread for the callback API.

#[cfg(unix)]
use super::hand_over::Sockets;
use super::inspector::Inspector;
use super::running::{Running, WorkerHandle};
use crate::config::{ServerConfig, Shedding};
use crate::error::Error;
use crate::net::byte_stream::ByteStream;
use crate::net::listener::{AcceptedSocket, Listener};
use crate::server::callbacks::Callbacks;
use crate::server::callbacks::serve::CallbackServer;
use crate::server::connection::accept::WorkerContext;
use crate::server::exchange::serve::{Exchanging, Serve};
use crate::server::no_worker;
use crate::server::observe::counters::{Counters, MetricsReader};
use crate::server::observe::metrics::Metrics;
use crate::server::registry::Allowed;
use crate::server::registry::places::ConnectionPlaces;
use crate::server::registry::shedding::AddressRates;
use crate::server::worker::quic::QuicSetup;
use crate::server::worker::second::{Second, SecondLink};
use crate::server::worker::spawn::SpawnConnections;
use crate::server::worker::{self, WorkerCommand, WorkerConfig};
use std::fmt;
use std::io;
use std::iter;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// The way to a worker, and the worker's end of it.
pub(in crate::server) type WorkerQueue = (
    mpsc::UnboundedSender<WorkerCommand>,
    mpsc::UnboundedReceiver<WorkerCommand>,
);

/// Open sockets that accept no connection yet. Move it to the thread that is to serve.
pub struct BoundServer<A = SocketAddr> {
    pub(in crate::server) local_addr: A,
    pub(in crate::server) listeners: Vec<Listener>,
    pub(in crate::server) setups: Vec<QuicSetup>,
    /// One for each listener.
    pub(in crate::server) counters: Vec<Arc<Counters>>,
    /// One for each listener: they are there before the workers, for [`inspector`](Self::inspector).
    pub(in crate::server) commands: Vec<WorkerQueue>,
    pub(in crate::server) allowed: Allowed,
    pub(in crate::server) shedding: Shedding,
    /// State of all workers; [`shared`](Self::shared) adds the counters and the scarcity of one.
    pub(in crate::server) context: WorkerContext<()>,
    pub(in crate::server) second: Option<Second>,
}

impl<A> BoundServer<A> {
    /// The listening address, with the chosen port.
    pub fn local_addr(&self) -> A
    where
        A: Clone,
    {
        self.local_addr.clone()
    }
    /// A reader of the counts, which are all zero before the server serves.
    pub fn metrics_reader(&self) -> MetricsReader {
        let second = self.second.as_ref();
        let second = second.map(|second| Arc::clone(&second.counters));
        MetricsReader {
            workers: self.counters.iter().cloned().chain(second).collect(),
            windows: vec![Arc::clone(&self.context.budget_share)],
            timelines: (self.context.info_policy.timelines.iter())
                .map(|timelines| Arc::clone(&timelines.kept))
                .collect(),
            process_memory_max: self.shedding.process_memory_max,
            sending: vec![Arc::clone(&self.context.send_budget_share)],
        }
    }
    /// A reader of the connections, of which there are none before the server serves.
    pub fn inspector(&self) -> Inspector {
        let workers = self.commands.iter().map(|(commands, _)| Some(commands));
        let second = self.second.as_ref().map(|second| &second.link);
        Inspector::new(workers, self.metrics_reader()).with_second(second)
    }
    /// Serves on the calling thread: the future is to be run in a [`tokio::task::LocalSet`], whose
    /// thread `callbacks` is called on. It ends when [`ServerHandle`] is dropped or has drained, and
    /// with an error if the runtime cannot use a socket.
    ///
    /// # Errors
    /// With an access log ([`Server::access_log`](crate::server::Server::access_log)): the callbacks
    /// receive every exchange already.
    pub fn serve_callbacks<T: Callbacks>(
        mut self,
        callbacks: T,
    ) -> Result<
        (
            ServerHandle,
            impl Future<Output = Result<(), Error>> + use<A, T>,
        ),
        Error,
    > {
        if self.context.info_policy.log.is_some() {
            return Err(Error::config(
                "access_log is set, and callbacks serve: they get every exchange themselves, \
                 and no log is written; leave access_log out",
            ));
        }
        let (commands, receiver) = self.commands.pop().ok_or_else(no_worker)?;
        let service = CallbackServer::new(callbacks, &self.context.extra);
        let (listener, setup) = (
            self.listeners.pop().ok_or_else(no_worker)?,
            self.setups.pop(),
        );
        let server_handle = ServerHandle {
            commands,
            sources: self.metrics_reader(),
            second: self.second.as_ref().map(|second| second.link.clone()),
        };
        let counters = self.counters.pop().ok_or_else(no_worker)?;
        let worker_config = self.worker_config(listener, setup, counters, service);
        let serving = async move {
            let served = worker::serve_here(worker_config, receiver).await;
            served.map_err(unusable)
        };
        Ok((server_handle, serving))
    }
    /// Starts a thread for each listener.
    pub(in crate::server) fn serve<S: SpawnConnections + Send>(
        mut self,
        service: S,
    ) -> Result<Running<A>, Error>
    where
        A: Clone,
    {
        let listeners = std::mem::take(&mut self.listeners);
        let mut setups = std::mem::take(&mut self.setups).into_iter();
        let mut running = Running {
            local_addr: self.local_addr.clone(),
            workers: Vec::with_capacity(listeners.len()),
            sources: self.metrics_reader(),
        };
        let mut begins = Vec::with_capacity(listeners.len());
        let counters = self.counters.clone();
        let queues = std::mem::take(&mut self.commands);
        let each = listeners.into_iter().zip(counters).zip(queues);
        for (number, ((listener, counters), (commands, receiver))) in each.enumerate() {
            let setup = setups.next();
            let worker_config = self.worker_config(listener, setup, counters, service.clone());
            let (begun, begins_here) = std_mpsc::channel();
            let (end, ended) = oneshot::channel();
            begins.push(begins_here);
            let thread = thread::Builder::new()
                .name(format!("trunkline-{number}"))
                .spawn(move || {
                    let _end = end;
                    worker::run(worker_config, receiver, &begun);
                })
                .map_err(|error| Error::config("no thread can be started").with_source(error))?;
            running.workers.push(WorkerHandle {
                commands: Some(commands),
                thread: Some(thread),
                ended,
            });
        }
        for begun in begins {
            // A worker reports before it serves, unless it panics; the panic is reported by the
            // join.
            begun.recv().unwrap_or(Ok(())).map_err(unusable)?;
        }
        Ok(running)
    }
    fn worker_config<S: Serve>(
        &self,
        listener: Listener,
        setup: Option<QuicSetup>,
        counters: Arc<Counters>,
        service: S,
    ) -> WorkerConfig<S> {
        let second = self.second.as_ref();
        let places = second.map(|second| Arc::clone(&second.places));
        let places = places.unwrap_or_else(|| ConnectionPlaces::new(self.allowed));
        let rates = second.map(|second| Arc::clone(&second.address_rates));
        let mut shared = self.shared(counters, &places, service);
        if S::Exchanges::ANSWERS_LOST_BODIES {
            Arc::make_mut(&mut shared.http1_config).answers_lost_bodies = true;
        }
        WorkerConfig {
            listener,
            setup,
            shared,
            places,
            shedding: self.shedding.clone(),
            address_rates: rates.unwrap_or_else(|| AddressRates::new(Instant::now())),
            second: second.map(|second| second.link.clone()),
        }
    }
    pub(super) fn shared<S>(
        &self,
        counters: Arc<Counters>,
        places: &ConnectionPlaces,
        service: S,
    ) -> WorkerContext<S> {
        let context = WorkerContext {
            counters,
            scarcity: places.scarcity.clone(),
            ..self.context.clone()
        };
        context.serving(service)
    }
}

pub(super) fn unusable(error: io::Error) -> Error {
    Error::config("the runtime of a worker cannot use its sockets").with_source(error)
}

impl<A: fmt::Debug> fmt::Debug for BoundServer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening")
            .field("local_addr", &self.local_addr)
            .finish_non_exhaustive()
    }
}

/// A server with callbacks. Dropping it stops it at once.
#[derive(Debug)]
pub struct ServerHandle {
    commands: mpsc::UnboundedSender<WorkerCommand>,
    sources: MetricsReader,
    second: Option<SecondLink>,
}

impl ServerHandle {
    /// Stops accepting except for the connections in the kernel's queue, sends every peer a GOAWAY (twice) or
    /// `connection: close`, lets open exchanges finish until `deadline`, then cuts the others. The server's
    /// future ends then. Of several deadlines that are set the earliest counts.
    pub fn drain(&self, deadline: Duration) {
        let (cut, _) = oneshot::channel();
        // A server that has ended has nothing to drain.
        let _ = self.commands.send(WorkerCommand::Drain { deadline, cut });
    }
    /// Connections over TCP that are accepted from now on have these limits, timeouts, windows and
    /// settings; the other members of `config`, and HTTP/3, stay as they are.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn configure(&self, config: &ServerConfig) -> Result<(), Error> {
        // A server that has ended accepts no connection.
        let (http1, others) = config.freeze_both()?;
        let _ = self
            .commands
            .send(WorkerCommand::Configure { http1, others });
        Ok(())
    }
    /// Duplicates of the listening socket and of HTTP/3's, as [`Running::hand_over`] gives those of a server with
    /// workers. The server is asked before the future is polled.
    ///
    /// # Errors
    /// When the server drains or has ended, or the process has no descriptor left.
    #[cfg(unix)]
    pub fn hand_over(&self) -> impl Future<Output = Result<Sockets, Error>> + use<> {
        Sockets::of(&self.with_sockets())
    }
    /// Another server has begun to serve on `sockets`: this one accepts no more and reads no UDP socket among them, and
    /// serves its connections on; [`drain`](Self::drain) is to follow. HTTP/3 packets of its connections come from the other one.
    #[cfg(unix)]
    pub fn leave_to_other(&self, sockets: Sockets) -> impl Future<Output = ()> + use<> {
        sockets.leave_to_other(&self.with_sockets())
    }
    /// The ways to the workers that have sockets.
    #[cfg(unix)]
    fn with_sockets(&self) -> Vec<&mpsc::UnboundedSender<WorkerCommand>> {
        let second = self.second.as_ref().and_then(SecondLink::with_socket);
        iter::once(&self.commands).chain(second).collect()
    }
    /// Serves a stream as a connection that was accepted: its first bytes, or the TLS handshake, say what
    /// it speaks; one that is secured already ([`ByteStream::secured`]) speaks what ALPN has chosen, and
    /// HTTP/1.1 or HTTP/2 by its first bytes where it has chosen nothing. A server that drains or has
    /// ended drops it.
    pub fn serve_stream(&self, stream: ByteStream) {
        let _ = self.commands.send(WorkerCommand::Serve(Box::new(stream)));
    }
    /// Serves a TCP socket that was accepted elsewhere, as one that the server has accepted itself. A server
    /// that drains or has ended closes it, and so does one whose peer has reset it before.
    pub fn serve_tcp(&self, socket: TcpStream) {
        if let Ok(peer) = socket.peer_addr() {
            self.take(AcceptedSocket::Tcp(socket, peer));
        }
    }
    /// As [`serve_tcp`](Self::serve_tcp), a Unix socket.
    #[cfg(unix)]
    pub fn serve_unix(&self, socket: std::os::unix::net::UnixStream) {
        self.take(AcceptedSocket::Unix(socket));
    }
    fn take(&self, socket: AcceptedSocket) {
        let _ = self.commands.send(WorkerCommand::Take(socket));
    }
    /// A reader of the open connections and their exchanges, for a page or a service that shows them.
    pub fn inspector(&self) -> Inspector {
        let inspector = Inspector::new(iter::once(Some(&self.commands)), self.metrics_reader());
        inspector.with_second(self.second.as_ref())
    }
    /// The counts so far.
    pub fn metrics(&self) -> Metrics {
        self.sources.read()
    }
    /// A reader of the counts that outlives this value: for the service that shows them.
    pub fn metrics_reader(&self) -> MetricsReader {
        self.sources.clone()
    }
}
