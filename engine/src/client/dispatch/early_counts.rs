//! Counts of a client's early data.

use crate::tls::early_data::EarlyCounts;
use std::sync::atomic::{AtomicU64, Ordering};

/// Requests that went out with a handshake over the life of a client, and what became of them. Those
/// that are in none of the other counts were answered, or wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlyDataCounts {
    /// All of them.
    pub sent: u64,
    /// The server took no early data: they went out once more after the handshake.
    pub rejected: u64,
    /// The server answered 425: the same.
    pub too_early: u64,
    /// Sent again over another connection because the handshake was not answered in time.
    pub unanswered: u64,
}

impl EarlyDataCounts {
    pub(in crate::client) fn of(counts: &EarlyCounts) -> Self {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Self {
            sent: read(&counts.sent),
            rejected: read(&counts.rejected),
            too_early: read(&counts.too_early),
            unanswered: read(&counts.unanswered),
        }
    }
}
