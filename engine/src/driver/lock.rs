//! The lock of [`signals`](super::signals): a model checker puts its own in its place
//! (`sanitize/src/lib.rs`).

pub(super) use std::sync::{Mutex, MutexGuard};
