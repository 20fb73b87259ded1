//! What the pool says of itself: every wait with its reason.

use super::decide::WaitReason;
use super::origin::{Multiplexing, Origin};

/// One origin, now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginStats {
    /// Which.
    pub origin: Origin,
    /// What is known of its version.
    pub multiplexing: Option<Multiplexing>,
    /// Requests in line.
    pub waiting: u32,
    /// Why the line does not move; `None` when nobody waits.
    pub wait_reason: Option<WaitReason>,
    /// Connections that may get requests.
    pub connections: u32,
    /// Connections that only finish what they have.
    pub draining: u32,
    /// Connections being opened.
    pub attempts: u32,
    /// Exchanges on connections.
    pub active: u32,
    /// The peer's limit on concurrent exchanges per connection, as last known.
    pub limit: Option<u32>,
}

/// Totals over the pool's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests handed in, those handed in again after a refusal included.
    pub submitted: u64,
    /// Requests put on a connection.
    pub dispatched: u64,
    /// Requests that had to wait first.
    pub waited: u64,
    /// Requests failed by the pool.
    pub failed: u64,
    /// Attempts begun.
    pub attempts: u64,
    /// Connections opened.
    pub connections: u64,
}
