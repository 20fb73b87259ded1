//! The tasks of a worker: on its own thread, or on a runtime of the caller's.

#[cfg(unix)]
use super::quic::QuicHandOver;
use super::quic::{QuicListener, QuicSetup};
use super::{LAST_WORDS, after};
use crate::connection_info::Addresses;
use crate::driver::signals::Signals;
use crate::driver::timer;
use crate::net::byte_stream::Io;
use crate::server::callbacks::Callbacks;
use crate::server::callbacks::serve::CallbackServer;
use crate::server::connection::accept::{Opener, Served, Started, TransportFacts, WorkerContext};
use crate::server::connection::proxied::start_proxied;
use crate::server::exchange::serve::Serve;
use crate::server::registry::shedding::{Shedder, measure};
use crate::server::registry::{OpenConnections, OpenEntry};
use crate::server::tower::Tower;
use crate::server::tower::runtime_tower::RuntimeTower;
use crate::server::{HttpService, TaskService};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// A source of exchanges, and the place of its connections over byte streams.
pub(in crate::server) trait SpawnConnections: Serve {
    /// Spawns the task of a connection: where the worker runs, unless [`runtime`](Self::runtime) is another.
    fn spawn<T: Io>(&self, unopened: Unopened<Self, T>) {
        tokio::task::spawn_local(unopened.serve());
    }
    /// Spawns the task of an endpoint for HTTP/3, likewise.
    fn spawn_endpoint(&self, endpoint: QuicListener<Self>) -> JoinHandle<()> {
        tokio::task::spawn_local(endpoint.serve())
    }
    /// The runtime of the connections; `None`: the worker's own.
    fn runtime(&self) -> Option<&Handle> {
        None
    }
}

impl<S: HttpService> SpawnConnections for Tower<S> {}

impl<A: Callbacks> SpawnConnections for CallbackServer<A> {}

impl<S: TaskService> SpawnConnections for RuntimeTower<S> {
    fn spawn<T: Io>(&self, unopened: Unopened<Self, T>) {
        self.runtime.spawn(unopened.serve());
    }
    fn spawn_endpoint(&self, endpoint: QuicListener<Self>) -> JoinHandle<()> {
        self.runtime.spawn(endpoint.serve())
    }
    fn runtime(&self) -> Option<&Handle> {
        Some(&self.runtime)
    }
}

/// The task that measures how late the worker's connections are; it ends with this.
pub(super) struct Measuring(JoinHandle<()>);

impl Measuring {
    pub(super) fn new<S: SpawnConnections>(
        shedder: Option<Arc<Shedder>>,
        shared: &WorkerContext<S>,
    ) -> Self {
        let (service, counters) = (shared.service.clone(), Arc::clone(&shared.counters));
        Self(match shared.service.runtime() {
            Some(runtime) => runtime.spawn(measure(shedder, counters, |_| Duration::ZERO)),
            None => {
                let measures = measure(shedder, counters, move |now| service.lag(now));
                tokio::task::spawn_local(measures)
            }
        })
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The task of the endpoint for HTTP/3, which ends with this.
pub(super) struct QuicTask {
    pub(super) signals: Arc<Signals>,
    task: JoinHandle<()>,
    #[cfg(unix)]
    pub(super) hand_over: QuicHandOver,
}

impl QuicTask {
    /// Starts the endpoint; a stop note makes it accept no new connection.
    pub(super) fn new<S: SpawnConnections>(
        setup: QuicSetup,
        shared: &WorkerContext<S>,
        open: &Arc<OpenConnections>,
    ) -> io::Result<Self> {
        let signals = Arc::new(Signals::default());
        let (context, open) = (shared.clone(), Arc::clone(open));
        let _within = shared.service.runtime().map(Handle::enter);
        let listener = QuicListener::new(setup, context, open, Arc::clone(&signals))?;
        #[cfg(unix)]
        let hand_over = listener.hand_over();
        let task = shared.service.spawn_endpoint(listener);
        Ok(Self {
            signals,
            task,
            #[cfg(unix)]
            hand_over,
        })
    }
    /// Ends the endpoint; its port is free again.
    pub(super) async fn end(mut self) {
        self.task.abort();
        // It was aborted, or had ended; one of a runtime whose threads are all blocked ends when they are not.
        let _ = timer::timeout_at(after(LAST_WORDS), &mut self.task).await;
    }
}

impl Drop for QuicTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A connection that was accepted: the parts of its task.
pub(in crate::server) struct Unopened<S, T> {
    socket: T,
    first: First,
    opener: Opener<S>,
    entry: OpenEntry,
}

/// The part before the handshake and HTTP.
enum First {
    Nothing(TransportFacts),
    /// The header of a proxy. The addresses of the proxy and of this server.
    ProxyHeader(Option<Addresses>),
}

impl<S: Serve, T: Io> Unopened<S, T> {
    pub(in crate::server) fn new(
        socket: T,
        known: TransportFacts,
        opener: Opener<S>,
        entry: OpenEntry,
    ) -> Self {
        Self {
            socket,
            first: First::Nothing(known),
            opener,
            entry,
        }
    }
    /// `own`: the addresses of the proxy and of this server.
    pub(in crate::server) fn proxied(
        socket: T,
        own: Option<Addresses>,
        opener: Opener<S>,
        entry: OpenEntry,
    ) -> Self {
        Self {
            socket,
            first: First::ProxyHeader(own),
            opener,
            entry,
        }
    }
    /// The task that serves it; `Send` where the exchanges of `S` are.
    pub(in crate::server) fn serve(
        self,
    ) -> Served<S, T, impl Future<Output = Started<S, T>> + use<S, T>> {
        let Self {
            socket,
            first,
            opener,
            entry,
        } = self;
        let (signals, counters) = (
            Arc::clone(&opener.signals),
            Arc::clone(&opener.shared.counters),
        );
        let name = entry.name();
        let start = async move {
            match first {
                First::Nothing(known) => opener.start(socket, known).await,
                First::ProxyHeader(own) => {
                    // Boxed, so that the others need no room for it.
                    Box::pin(start_proxied(socket, own, opener, name)).await
                }
            }
        };
        Served::new(start, signals, &counters, entry)
    }
}
