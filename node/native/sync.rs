//! What of the standard library's synchronization the rings use: a model checker puts its own in its
//! place (`sanitize/src/lib.rs`).

pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::{AtomicU32, Ordering};
