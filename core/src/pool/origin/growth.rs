//! Growth of the default bound on an origin's connections: its state, which `turn/growth.rs` changes.

use std::time::Instant;

/// Growth of an origin's default bound.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pool) struct Growth {
    /// The bound, where it is above the default.
    pub(in crate::pool) connections_max: u32,
    pub(in crate::pool) grown_at: Option<Instant>,
    /// When a request started last.
    pub(in crate::pool) started_at: Option<Instant>,
    /// When the next look is planned.
    pub(in crate::pool) planned_at: Option<Instant>,
}

impl Growth {
    pub(in crate::pool) fn note_start(&mut self, now: Instant) {
        self.started_at = Some(now);
    }
}
