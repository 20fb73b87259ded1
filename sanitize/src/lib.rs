//! The code that Miri and loom check: `make sanitize`.
//!
//! Under loom (`--cfg loom`) the atomics, locks and memory are its own, and the rings are of two
//! entries, so that loom tries every order of the steps of two threads in seconds.
#![allow(dead_code, reason = "the addon and the engine use the rest")]

#[cfg(not(loom))]
#[path = "../../node/native/channel/area.rs"]
mod area;
#[cfg(loom)]
#[path = "loom_area.rs"]
mod area;
#[cfg(loom)]
mod loom_atomic;
#[path = "../../node/native/channel/codes.rs"]
mod codes;
#[path = "../../node/native/channel/outbound.rs"]
mod outbound;
#[path = "../../node/native/channel/ring.rs"]
mod ring;
#[path = "../../engine/src/driver/signals.rs"]
mod signals;

/// In place of `node/native/channel/sync.rs` and `engine/src/driver/lock.rs`.
mod sync {
    #[cfg(loom)]
    pub(crate) use crate::loom_atomic::AtomicU32;
    #[cfg(loom)]
    pub(crate) use loom::sync::Arc;
    #[cfg(loom)]
    pub(crate) use loom::sync::atomic::Ordering;
    #[cfg(not(loom))]
    pub(crate) use std::sync::Arc;
    #[cfg(not(loom))]
    pub(crate) use std::sync::atomic::{AtomicU32, Ordering};
}
mod lock {
    #[cfg(loom)]
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    #[cfg(not(loom))]
    pub(crate) use std::sync::{Mutex, MutexGuard};
}

/// In place of `engine/src/driver/machine/inspection.rs`.
mod machine {
    pub(crate) mod inspection {
        pub(crate) const INSPECTIONS_MAX: usize = 8;
        #[derive(Debug)]
        pub(crate) struct Inspection;
    }
}

/// In place of `engine/src/driver/window_ask.rs`.
mod window_ask {
    #[derive(Debug)]
    pub(crate) struct WindowAsk;
}

#[cfg(test)]
mod ring_peer;
#[cfg(test)]
mod signals_peer;
