//! The thread for connections of clients that begin while many exchanges are under way, beside an engine on JavaScript's
//! thread. It starts with the first of them and ends with the environment.

use crate::channel::shared::Shared;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Exchanges under way in an environment beyond which a connection that begins runs on a thread. Below it a change of threads
/// costs more than a second core gives; measured in the decision on the engine on JavaScript's thread.
pub(super) const INLINE_EXCHANGES_MAX: u32 = 64;

/// A thread with a runtime, whose tasks complete exchanges as those of JavaScript's thread do.
pub(super) struct OverloadThread {
    pub(super) runtime: Handle,
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl OverloadThread {
    pub(super) fn start(shared: &Arc<Shared>) -> Result<Self, String> {
        let resting = Arc::clone(shared);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || resting.rest_beside())
            .build()
            .map_err(|why| {
                format!("the thread for connections under load has no runtime: {why}")
            })?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("trunkline".into())
            .spawn(move || {
                // Its other side sends nothing: it is dropped.
                let _ = runtime.block_on(ended);
                // A pending name lookup is not waited for.
                runtime.shutdown_background();
            })
            .map_err(|why| format!("connections under load have no thread: {why}"))?;
        Ok(Self {
            runtime: handle,
            end,
            thread,
        })
    }
    /// Drops its connections.
    pub(super) fn join(self) {
        drop(self.end);
        // A panic of a task is that task's end, not the thread's.
        let _ = self.thread.join();
    }
}
