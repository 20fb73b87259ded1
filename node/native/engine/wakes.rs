//! Wake-ups of the engine's tasks while the engine runs on JavaScript's thread.

use crate::channel::lock;
use crate::channel::shared::Shared;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Wake;
use std::thread::{self, ThreadId};
use trunkline::event_loop::{Spawner, Task};

/// Notes that tasks are to be polled, and wakes the loop for it unless the engine runs right now.
pub(super) struct Wakes {
    /// JavaScript's thread.
    owner: ThreadId,
    woken: AtomicBool,
    /// Written on the owner's thread.
    running: AtomicBool,
    /// For tasks that are new.
    tasks: Mutex<Vec<Task>>,
    /// For connections that are new.
    connections: Mutex<Vec<Task>>,
    /// `None`: the environment ends. Under the lock the waker is open.
    shared: Mutex<Option<Arc<Shared>>>,
}

impl Wakes {
    pub(super) fn new(shared: &Arc<Shared>) -> Arc<Self> {
        Arc::new(Self {
            owner: thread::current().id(),
            woken: AtomicBool::new(true),
            running: AtomicBool::new(false),
            tasks: Mutex::default(),
            connections: Mutex::default(),
            shared: Mutex::new(Some(Arc::clone(shared))),
        })
    }
    /// Whether something was woken since the last call.
    pub(super) fn take(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }
    /// Whether something was woken since the last [`take`](Self::take).
    pub(super) fn is_woken(&self) -> bool {
        self.woken.load(Ordering::Acquire)
    }
    /// The tasks that were spawned since the last call.
    pub(super) fn take_tasks(&self) -> Vec<Task> {
        mem::take(&mut *lock(&self.tasks))
    }
    /// The connections that were spawned since the last call.
    pub(super) fn take_connections(&self) -> Vec<Task> {
        mem::take(&mut *lock(&self.connections))
    }
    pub(super) fn set_running(&self, running: bool) {
        self.running.store(running, Ordering::Relaxed);
    }
    pub(super) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }
    /// From now on nothing is woken: the waker closes.
    pub(super) fn close(&self) {
        *lock(&self.shared) = None;
    }
    fn note(&self) {
        if self.woken.swap(true, Ordering::AcqRel) {
            return;
        }
        // The owner looks again before it ends its run. From another thread the note may have come
        // after that.
        if self.is_running() && thread::current().id() == self.owner {
            return;
        }
        if let Some(shared) = &*lock(&self.shared) {
            shared.ring();
        }
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.note();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.note();
    }
}

impl Spawner for Wakes {
    fn spawn(&self, task: Task) {
        lock(&self.tasks).push(task);
        self.note();
    }
    fn spawn_connection(&self, task: Task) {
        lock(&self.connections).push(task);
        self.note();
    }
}

impl fmt::Debug for Wakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wakes").finish_non_exhaustive()
    }
}
