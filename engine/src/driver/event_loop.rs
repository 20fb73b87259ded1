//! For a program whose own event loop drives the engine, on the thread of that loop: libuv's for
//! example. Such a program polls tasks when they are woken, turns the tokio runtime's driver when its
//! sockets are ready, and sleeps in its own loop. Two things are needed for that: the tasks of a
//! client ([`Spawner`]) and the time at which the loop must look again ([`TimerDeadlines`]).

use super::timer;
use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Instant;

/// A task of the engine's.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs the tasks of a client ([`ClientBuilder::spawner`](crate::client::ClientBuilder::spawner)).
pub trait Spawner: Debug + Send + Sync {
    /// Runs a task to its end, within the context of a tokio runtime that has its I/O and its time
    /// enabled. It is not called back from `task` within this call.
    fn spawn(&self, task: Task);
    /// Runs a task that opens one connection and drives it to its end. It shares nothing with other tasks that is bound to a
    /// thread, so each may have a runtime of its own. As [`spawn`](Self::spawn), which is what it does unless it is overridden.
    fn spawn_connection(&self, task: Task) {
        self.spawn(task);
    }
}

/// The deadlines of the engine's timers that wait on this thread, from `new` until the last one of
/// the thread is dropped. While none exists they are not kept.
#[derive(Debug)]
pub struct TimerDeadlines {
    /// It is of one thread.
    thread: PhantomData<*const ()>,
}

impl TimerDeadlines {
    /// Before the engine's first task is polled on this thread.
    #[allow(clippy::new_without_default, reason = "it has an effect on the thread")]
    pub fn new() -> Self {
        timer::read_deadlines(true);
        Self {
            thread: PhantomData,
        }
    }
    /// The earliest deadline later than `after`, the time when the runtime last looked at its timers: it
    /// has woken the tasks of earlier ones, which may still be waited for if their tasks had something
    /// else to do. tokio's timers are due up to one millisecond after their deadlines.
    pub fn earliest(&self, after: Instant) -> Option<Instant> {
        timer::earliest(after.into()).map(tokio::time::Instant::into_std)
    }
}

impl Drop for TimerDeadlines {
    fn drop(&mut self) {
        timer::read_deadlines(false);
    }
}
