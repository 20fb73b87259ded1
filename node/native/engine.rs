//! The engine of an environment: on a thread of its own, or on JavaScript's thread, driven by libuv's
//! loop.

#[cfg(target_os = "linux")]
pub(crate) mod inline;
mod intake;
#[cfg(target_os = "linux")]
mod poll_descriptor;
mod thread;
#[cfg(target_os = "linux")]
mod wakes;

use crate::environment::Shared;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use thread::Thread;
use tokio::runtime::{EnterGuard, Handle};
use trunkline::event_loop::Spawner;

/// Where the engine runs.
pub(crate) enum Engine {
    Thread(Thread),
    #[cfg(target_os = "linux")]
    Inline(inline::Inline),
}

/// libuv's loop of an environment, and the environment's address, which stays valid until the
/// engine has ended.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "an engine on a thread needs no loop")
)]
pub(crate) struct EnvironmentLoop {
    pub(crate) uv_loop: *mut c_void,
    pub(crate) data: *mut c_void,
}

/// Runs of the engine on JavaScript's thread, where it is there.
#[derive(Default)]
pub(crate) struct Runs {
    spawner: OnceLock<Arc<dyn Spawner>>,
    is_running: AtomicBool,
    script_due: AtomicBool,
}

impl Runs {
    #[cfg(target_os = "linux")]
    fn set_spawner(&self, spawner: Arc<dyn Spawner>) {
        // There is one engine per environment.
        let _ = self.spawner.set(spawner);
    }
    /// Runs the tasks of clients; `None`: the engine's thread does.
    pub(crate) fn spawner(&self) -> Option<Arc<dyn Spawner>> {
        self.spawner.get().cloned()
    }
    /// JavaScript is to drain completions. False: no run is under way behind which it is called.
    pub(crate) fn defer_script(&self) -> bool {
        let is_running = self.is_running.load(Ordering::Relaxed);
        if is_running {
            self.script_due.store(true, Ordering::Relaxed);
        }
        is_running
    }
    /// A run begins or ends. True: JavaScript is to be called behind it.
    #[cfg(target_os = "linux")]
    fn set_running(&self, running: bool) -> bool {
        self.is_running.store(running, Ordering::Relaxed);
        self.script_due.swap(false, Ordering::Relaxed)
    }
}

impl Engine {
    /// `inline`: on this thread, which is JavaScript's, where the platform allows it.
    pub(crate) fn start(
        shared: &Arc<Shared>,
        place: EnvironmentLoop,
        inline: bool,
    ) -> Result<Self, String> {
        #[cfg(target_os = "linux")]
        if inline && let Some(here) = inline::Inline::start(shared, place)? {
            return Ok(Self::Inline(here));
        }
        let _ = (place, inline);
        Thread::start(shared).map(Self::Thread)
    }
    pub(crate) fn is_inline(&self) -> bool {
        !matches!(self, Self::Thread(_))
    }
    /// Something was submitted or asked. On JavaScript's thread.
    pub(crate) fn kick(&self, shared: &Shared) {
        match self {
            Self::Thread(_) => shared.intake.notify_one(),
            #[cfg(target_os = "linux")]
            Self::Inline(here) => here.run_for_script(),
        }
    }
    /// The bell was rung: the engine's part of what there is to do before completions are drained.
    pub(crate) fn rung(&self) {
        #[cfg(target_os = "linux")]
        if let Self::Inline(here) = self {
            here.run(false);
        }
    }
    /// Makes the engine's runtime the current one.
    pub(crate) fn enter(&self) -> EnterGuard<'_> {
        self.runtime().enter()
    }
    /// Runs a task to its end.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        match self {
            Self::Thread(thread) => drop(thread.runtime.spawn(task)),
            #[cfg(target_os = "linux")]
            Self::Inline(here) => here.spawn(Box::pin(task)),
        }
    }
    /// Ends it, with all that it has open. On JavaScript's thread.
    pub(crate) fn end(self) {
        match self {
            Self::Thread(thread) => thread.join(),
            #[cfg(target_os = "linux")]
            Self::Inline(here) => here.end(),
        }
    }
    fn runtime(&self) -> &Handle {
        match self {
            Self::Thread(thread) => &thread.runtime,
            #[cfg(target_os = "linux")]
            Self::Inline(here) => &here.runtime,
        }
    }
}
