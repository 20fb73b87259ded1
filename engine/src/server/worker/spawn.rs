//! The tasks of a worker: on its own thread, or on a runtime of the caller's.

use crate::net::byte_stream::Io;
use crate::server::callbacks::Callbacks;
use crate::server::callbacks::serve::CallbackServer;
use crate::server::connection::accept::WorkerContext;
use crate::server::connection::unopened::Unopened;
use crate::server::exchange::serve::Serve;
use crate::server::registry::shedding::{Shedder, measure};
use crate::server::tower::Tower;
use crate::server::tower::runtime_tower::RuntimeTower;
use crate::server::{HttpService, TaskService};
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
