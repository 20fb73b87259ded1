//! A tower service whose connections are tasks of the caller's runtime, all of HTTP/3 one task: a request costs no
//! change of threads there.

use super::service::TaskService;
use super::{Tower, TowerExchanges};
use crate::driver::signals::Signals;
use crate::server::exchange::serve::Serve;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

/// A tower service, cloned for each connection, and the runtime of those.
pub(in crate::server) struct RuntimeTower<S> {
    /// Locked for the clone alone: a service need not be `Sync`.
    service: Arc<Mutex<S>>,
    pub(in crate::server) runtime: Handle,
}

impl<S> RuntimeTower<S> {
    pub(in crate::server) fn new(service: S, runtime: Handle) -> Self {
        Self {
            service: Arc::new(Mutex::new(service)),
            runtime,
        }
    }
}

impl<S> Clone for RuntimeTower<S> {
    fn clone(&self) -> Self {
        Self {
            service: Arc::clone(&self.service),
            runtime: self.runtime.clone(),
        }
    }
}

impl<S: TaskService> Serve for RuntimeTower<S> {
    type Exchanges = TowerExchanges<S>;

    fn exchanges(&self, signals: &Arc<Signals>, secure: bool) -> Self::Exchanges {
        // A clone that panicked changed nothing here.
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        Tower(service.clone()).exchanges(signals, secure)
    }
}
