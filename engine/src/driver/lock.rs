//! The mutex of [`signals`](super::signals). A model checker replaces it by its own
//! (`sanitize/src/lib.rs`).

pub(super) use std::sync::{Mutex, MutexGuard};
