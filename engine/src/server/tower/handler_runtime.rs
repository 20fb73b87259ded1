//! The tokio runtime that handlers run on, and whether it has ended.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// A runtime of the caller's. It may end before the server does, and drops its tasks then, those that feed the body of a
/// response too: what such a body gives as its end is none.
#[derive(Clone, Debug)]
pub(super) struct HandlerRuntime(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    handle: Handle,
    has_ended: Arc<AtomicBool>,
    sentinels: Box<[AbortHandle]>,
}

/// Sentinels for each list of tasks that a runtime has. tokio has up to four for a thread, rounded up to a power of
/// two, puts each next task into the next one and drops the tasks of each beginning with the oldest. Twice as many
/// leave room for tasks that others spawn meanwhile.
const SENTINELS_PER_THREAD: usize = 8;

impl HandlerRuntime {
    pub(super) fn new(handle: Handle) -> Self {
        let has_ended = Arc::new(AtomicBool::new(false));
        let threads = handle.metrics().num_workers().next_power_of_two();
        let sentinels = (0..threads * SENTINELS_PER_THREAD).map(|_| {
            let dropped = SetOnDrop(Arc::clone(&has_ended));
            let sentinel = handle.spawn(async move {
                let _dropped = dropped;
                pending::<()>().await;
            });
            sentinel.abort_handle()
        });
        Self(Arc::new(Watched {
            sentinels: sentinels.collect(),
            has_ended,
            handle,
        }))
    }
    pub(super) fn handle(&self) -> &Handle {
        &self.0.handle
    }
    /// Whether it has dropped tasks. `is_sure`: by a question to the runtime too, which takes no task from before it
    /// drops its first; that costs a task.
    pub(super) fn has_ended(&self, is_sure: bool) -> bool {
        self.0.has_ended.load(Ordering::Acquire) || (is_sure && self.refuses_tasks())
    }
    fn refuses_tasks(&self) -> bool {
        let probe = self.0.handle.spawn(pending::<()>());
        let is_refused = probe.is_finished();
        probe.abort();
        is_refused
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        for sentinel in &self.sentinels {
            sentinel.abort();
        }
    }
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
