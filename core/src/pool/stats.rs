//! Statistics of the pool: every wait with its reason.

use super::connection::capacity::Multiplexing;
use super::dispatch::decide::WaitReason;
use super::dispatch::queue::Rank;
use super::origin::Origin;
use std::time::Duration;

/// One origin, now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OriginStats {
    /// The origin.
    pub origin: Origin,
    /// The origin's version, if known.
    pub multiplexing: Option<Multiplexing>,
    /// Requests in line.
    pub waiting: u32,
    /// Requests that pause before they are sent again.
    pub paused: u32,
    /// Why the queue does not move; `None` when it is empty.
    pub wait_reason: Option<WaitReason>,
    /// Connections that may get requests.
    pub connections: u32,
    /// The part of `connections` whose peer has been silent for too long.
    pub suspect: u32,
    /// Connections that only finish what they have.
    pub draining: u32,
    /// Connections that are kept open and opened again when they end.
    pub warm: u32,
    /// Connections being opened.
    pub attempts: u32,
    /// Exchanges on connections.
    pub active: u32,
    /// The peer's limit on concurrent exchanges per connection, as last known.
    pub limit: Option<u32>,
    /// The round trip, as last measured.
    pub round_trip: Option<Duration>,
}

/// One request that waits, now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// At which origin.
    pub origin: Origin,
    /// Its class and group.
    pub rank: Rank,
    /// For how long it has waited.
    pub waited: Duration,
    /// For what. `None`: it is about to start.
    pub reason: Option<WaitReason>,
}

/// Totals over the pool's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Requests sent again that the peer provably had not processed (class A).
    pub retries_unprocessed: u64,
    /// Requests sent again that were lost with their connection (class B).
    pub retries_lost: u64,
    /// Requests not sent again because their origin's budget was used up.
    pub retries_over_budget: u64,
    /// Why requests had to wait when they came, in the order of [`WaitReason::ALL`].
    pub waited_for: [u64; WaitReason::ALL.len()],
}
