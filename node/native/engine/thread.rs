//! The engine on a thread of its own.

use super::Registry;
use super::intake::Intake;
use crate::channel::shared::Shared;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::runtime::{Builder, Handle};
use tokio::task::LocalSet;

/// The engine's thread.
pub(crate) struct Thread {
    pub(super) runtime: Handle,
    thread: JoinHandle<()>,
}

impl Thread {
    pub(super) fn start(shared: &Arc<Shared>, registry: &Arc<Registry>) -> Result<Self, String> {
        let (resting, waking) = (Arc::clone(shared), Arc::clone(shared));
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || resting.rest())
            .on_thread_unpark(move || waking.memory.set_engine_sleeps(false))
            .build()
            .map_err(|why| format!("the engine has no runtime: {why}"))?;
        let handle = runtime.handle().clone();
        let (shared, registry) = (Arc::clone(shared), Arc::clone(registry));
        let thread = thread::Builder::new()
            .name("trunkline".into())
            .spawn(move || {
                // The state of servers stays on this thread.
                let local = LocalSet::new();
                let reading = Intake::read(Arc::clone(&shared), registry, None);
                // It ends when the environment closes. A panic in it, or of the runtime, ends the
                // engine and not the process: open exchanges are dropped with the runtime, then
                // JavaScript is notified.
                let ran = catch_unwind(AssertUnwindSafe(|| local.block_on(&runtime, reading)));
                if ran.is_err() {
                    shared.memory.set_ended();
                }
                drop(local);
                // A pending name lookup or file read is not waited for: those threads own what they
                // hold.
                runtime.shutdown_background();
                if ran.is_err() {
                    shared.ring();
                }
            })
            .map_err(|why| format!("the engine has no thread: {why}"))?;
        Ok(Self {
            runtime: handle,
            thread,
        })
    }
    /// The environment closes, and the thread has been notified of it.
    pub(super) fn join(self) {
        // A panic of the engine was its own end already.
        let _ = self.thread.join();
    }
}
