//! The runtime that the tasks of a client run on.

use crate::driver::event_loop::Spawner;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Runs tasks.
#[derive(Clone)]
pub(in crate::client) enum Tasks {
    /// The runtime of the request that opened a connection.
    Runtime(Handle),
    /// As the client's settings say.
    Given(Arc<dyn Spawner>),
}

impl Tasks {
    /// Puts the caller's runtime into `tasks`, unless they are given; a future may also be dropped
    /// outside of one.
    pub(super) fn find(tasks: &mut Option<Self>) {
        if let Some(Self::Given(_)) = tasks {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            *tasks = Some(Self::Runtime(runtime));
        }
    }
    pub(in crate::client) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        match self {
            Self::Runtime(runtime) => drop(runtime.spawn(task)),
            Self::Given(spawner) => spawner.spawn(Box::pin(task)),
        }
    }
    /// The task of an attempt, which is also its connection's.
    pub(in crate::client) fn spawn_connection(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        match self {
            Self::Runtime(runtime) => drop(runtime.spawn(task)),
            Self::Given(spawner) => spawner.spawn_connection(Box::pin(task)),
        }
    }
}
