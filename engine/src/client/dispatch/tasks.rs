//! The runtimes that the tasks of a client run on. A client outlives them where it is used by several, as a static of a
//! test program is: a task that its runtime drops begins again on another.

use super::{Dispatch, Effects, State};
use crate::driver::event_loop::Spawner;
use crate::driver::timer;
use std::fmt;
use std::sync::{Arc, Weak};
use tokio::runtime::{Handle, Id};

/// Runtimes that a client remembers. Those whose requests came last are the likeliest to be there when one of them ends.
const RUNTIMES_MAX: usize = 8;

/// Runs tasks.
#[derive(Clone)]
pub(in crate::client) enum Tasks {
    /// A runtime in which a request was sent.
    Runtime(Handle),
    /// As the client's settings say.
    Given(Arc<dyn Spawner>),
}

impl Tasks {
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
    /// The runtime, which may end before the client does.
    pub(in crate::client) fn runtime(&self) -> Option<Id> {
        match self {
            Self::Runtime(runtime) => Some(runtime.id()),
            Self::Given(_) => None,
        }
    }
}

/// The runtimes in which requests were sent, or what the settings give in their place.
pub(super) struct Runtimes {
    given: Option<Arc<dyn Spawner>>,
    /// The latest one last. Some may have ended: a task that is spawned there is dropped at once.
    known: Vec<Handle>,
}

impl Runtimes {
    pub(super) fn new(given: Option<Arc<dyn Spawner>>) -> Self {
        let known = Vec::new();
        Self { given, known }
    }
    /// Remembers the caller's runtime, if there is one: a future may also be dropped outside.
    pub(super) fn note_current(&mut self) -> Option<Id> {
        if self.given.is_some() {
            return None;
        }
        let current = Handle::try_current().ok()?;
        let id = current.id();
        if self.known.last().is_some_and(|last| last.id() == id) {
            return Some(id);
        }
        self.forget(id);
        if self.known.len() == RUNTIMES_MAX {
            self.known.remove(0);
        }
        self.known.push(current);
        Some(id)
    }
    /// A runtime has dropped a task: it ends, or has ended.
    pub(super) fn forget(&mut self, ended: Id) {
        self.known.retain(|known| known.id() != ended);
    }
    /// Where the next task runs.
    pub(super) fn latest(&self) -> Option<Tasks> {
        let given = self.given.clone().map(Tasks::Given);
        given.or_else(|| self.known.last().cloned().map(Tasks::Runtime))
    }
}

impl fmt::Debug for Runtimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtimes")
            .field("known", &self.known.len())
            .finish_non_exhaustive()
    }
}

/// Starts the task that carries out the pool's deadlines among `tasks`.
pub(super) fn watch_deadlines(tasks: &Tasks, dispatch: &Arc<Dispatch>) {
    // Made here: a runtime that has ended drops the task before its first poll.
    let guard = WatchGuard {
        dispatch: Arc::downgrade(dispatch),
        runtime: tasks.runtime(),
    };
    tasks.spawn(watch(guard));
}

/// Looks at the pool when a deadline is due, until the client is gone.
async fn watch(mut guard: WatchGuard) {
    while let Some(dispatch) = guard.dispatch.upgrade() {
        let next = dispatch.handle_timeout();
        let alarm = Arc::clone(&dispatch.alarm);
        drop(dispatch);
        let Some(next) = next else {
            guard.dispatch = Weak::new();
            return;
        };
        tokio::select! {
            () = timer::sleep_until(next.into()) => {}
            () = alarm.notified() => {}
        }
    }
}

/// A watching task that its runtime drops is followed by another, on another runtime.
struct WatchGuard {
    dispatch: Weak<Dispatch>,
    runtime: Option<Id>,
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        if let Some(dispatch) = self.dispatch.upgrade() {
            dispatch.watch_lost(self.runtime);
        }
    }
}

impl Dispatch {
    /// The runtime of the watching task has dropped it.
    fn watch_lost(self: &Arc<Self>, runtime: Option<Id>) {
        let mut state = self.lock();
        state.alarm_at = None;
        state.leave_runtime(runtime);
        self.finish_leaving(state, None, runtime);
    }
}

impl State {
    /// Forgets a runtime that has dropped a task, and knows the caller's, unless that is it.
    pub(super) fn leave_runtime(&mut self, ended: Option<Id>) {
        self.runtimes.note_current();
        if let Some(ended) = ended {
            self.runtimes.forget(ended);
        }
    }

    /// Plans a wake-up for the pool's next deadline.
    pub(super) fn plan_alarm(&mut self, effects: &mut Effects) {
        if !effects.opens.is_empty() {
            self.leave_runtime(effects.ended);
            effects.tasks = self.runtimes.latest();
        }
        let Some(deadline) = self.pool.next_deadline() else {
            return;
        };
        match self.alarm_at {
            Some(at) if at <= deadline => {}
            Some(_) => {
                self.alarm_at = Some(deadline);
                effects.notify_alarm = true;
            }
            None => {
                self.leave_runtime(effects.ended);
                effects.watch = self.runtimes.latest();
                if effects.watch.is_some() {
                    self.alarm_at = Some(deadline);
                }
            }
        }
    }
}
