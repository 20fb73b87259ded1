//! A connection as the pool keeps it.

use super::gate::Gate;
use super::slab::Key;
use std::time::Instant;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) origin: Key,
    pub(super) gate: Gate,
    /// It stands in its origin's list of connections with room.
    pub(super) is_ready: bool,
    /// It stands in its origin's list of connections with an unknown limit.
    pub(super) is_unsettled: bool,
    /// It is counted as draining.
    pub(super) is_draining: bool,
    /// Since when it carries nothing.
    pub(super) idle_since: Option<Instant>,
}

impl Connection {
    pub(super) fn new(origin: Key, gate: Gate, now: Instant) -> Self {
        Self {
            origin,
            gate,
            is_ready: false,
            is_unsettled: false,
            is_draining: false,
            idle_since: Some(now),
        }
    }
}
