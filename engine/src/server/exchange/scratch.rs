//! Reusable buffers that convert heads into requests and responses into heads: one per thread,
//! borrowed for one batch, so that idle connections own none.

use super::request::Requests;
use std::cell::Cell;
use trunkline_core::http::{Fields, ResponseHead};

/// Memory that is used again from exchange to exchange.
#[derive(Default)]
pub(in crate::server) struct Scratch {
    pub(in crate::server) requests: Requests,
    /// The fields of the next response head.
    pub(in crate::server) fields: Fields,
    /// The last response head, without its fields: the memory of the next one.
    pub(in crate::server) head: Option<ResponseHead>,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Lends this thread's scratch. A nested borrow gets a fresh one.
pub(in crate::server) fn with_scratch<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let result = work(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}
