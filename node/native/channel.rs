//! The channel between JavaScript and the engine: its rings, codes and queues.

pub(crate) mod area;
pub(crate) mod bodies;
#[cfg_attr(
    not(unix),
    allow(dead_code, reason = "sockets pass between processes on Unix alone")
)]
pub(crate) mod codes;
#[cfg(test)]
mod fuzz;
pub(crate) mod heads;
pub(crate) mod outbound;
pub(crate) mod records;
pub(crate) mod ring;
pub(crate) mod shared;
mod sync;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // State is whole between any two statements under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
