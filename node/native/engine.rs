//! The engine of an environment: on a thread of its own, or on JavaScript's thread, driven by libuv's
//! loop.

#[cfg(target_os = "linux")]
pub(crate) mod inline;
mod intake;
#[cfg(target_os = "linux")]
mod overload;
#[cfg(target_os = "linux")]
mod poll_descriptor;
mod thread;
#[cfg(target_os = "linux")]
mod wakes;

use crate::channel::lock;
use crate::channel::shared::Shared;
use crate::client::{ClientQuestions, Clients};
#[cfg(target_os = "linux")]
use crate::platform::uv;
use crate::server::calls::{Servers, Task};
use crate::server::snapshot::SnapshotRequests;
use crate::server::traffic::Traffics;
#[cfg(target_os = "linux")]
use std::ffi::c_int;
use std::ffi::c_void;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};
use thread::Thread;
use tokio::runtime::{EnterGuard, Handle};

/// Where the engine runs.
pub(crate) enum Engine {
    Thread(Thread),
    #[cfg(target_os = "linux")]
    Inline(Box<inline::Inline>),
}

/// The clients and servers of an environment: JavaScript's calls change them, and the engine uses them.
#[derive(Default)]
pub(crate) struct Registry {
    clients: Mutex<Clients>,
    pub(crate) questions: ClientQuestions,
    /// JavaScript's thread alone uses them.
    servers: Mutex<Servers>,
    tasks: Mutex<Vec<Task>>,
    pub(crate) snapshot_requests: SnapshotRequests,
    pub(crate) traffics: Arc<Traffics>,
}

impl Registry {
    pub(crate) fn clients(&self) -> MutexGuard<'_, Clients> {
        lock(&self.clients)
    }
    /// Carries out a cold call of servers, and leaves the rest of it for the engine's thread.
    pub(crate) fn ask_server(
        &self,
        shared: &Arc<Shared>,
        verb: &str,
        text: &str,
    ) -> Result<serde_json::Value, serde_json::Value> {
        let leave = |task| lock(&self.tasks).push(task);
        lock(&self.servers).ask(verb, text, shared, leave)
    }
    /// Takes the tasks of servers for the engine's thread.
    fn take_tasks(&self) -> Vec<Task> {
        mem::take(&mut *lock(&self.tasks))
    }
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
    /// Called when sockets of the engine are ready, with a handle whose data is `data`.
    #[cfg(target_os = "linux")]
    pub(crate) ready: unsafe extern "C" fn(*mut uv::Handle, c_int, c_int),
    /// Called when the engine's deadline has come, with a handle whose data is `data`.
    #[cfg(target_os = "linux")]
    pub(crate) due: unsafe extern "C" fn(*mut uv::Handle),
}

/// Where an environment wants its engine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnginePlace {
    /// On a thread of its own.
    Threads,
    /// On JavaScript's thread, where the platform allows it.
    Inline,
    /// As `Inline`, but connections of clients that begin under load run on a thread.
    Auto,
}

impl Engine {
    /// On JavaScript's thread; `wanted` is followed where the platform allows it.
    pub(crate) fn start(
        shared: &Arc<Shared>,
        registry: &Arc<Registry>,
        of_loop: EnvironmentLoop,
        wanted: EnginePlace,
    ) -> Result<Self, String> {
        #[cfg(target_os = "linux")]
        if wanted != EnginePlace::Threads {
            let leaves = wanted == EnginePlace::Auto;
            if let Some(here) = inline::Inline::start(shared, registry, of_loop, leaves)? {
                return Ok(Self::Inline(Box::new(here)));
            }
        }
        let _ = (of_loop, wanted);
        Thread::start(shared, registry).map(Self::Thread)
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
    /// JavaScript waits for the engine within a turn of its own.
    pub(crate) fn turn(&self) {
        #[cfg(target_os = "linux")]
        if let Self::Inline(here) = self {
            here.turn_for_script();
        }
    }
    /// The loop was woken: the engine's part of what there is to do before completions are drained.
    pub(crate) fn on_wake(&self) {
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
