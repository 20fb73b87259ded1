//! The synchronization primitives of the rings. A model checker replaces them by its own
//! (`sanitize/src/lib.rs`).

pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::{AtomicU32, Ordering};
