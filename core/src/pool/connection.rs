//! The pool's record of a connection.

pub(super) mod capacity;
pub(super) mod gate;
pub(super) mod health;
pub(super) mod lifetime;

use self::capacity::Multiplexing;
use self::gate::Gate;
use super::slab::Key;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) origin: Key,
    pub(super) gate: Gate,
    pub(super) multiplexing: Multiplexing,
    /// It stands in its origin's list of connections with room.
    pub(super) is_ready: bool,
    /// It stands in its origin's list of connections with an unknown limit.
    pub(super) is_unsettled: bool,
    /// It is counted as draining.
    pub(super) is_draining: bool,
    /// It is counted as suspect, and its peer has owed an answer since then.
    pub(super) suspect_since: Option<Instant>,
    /// Its part of its origin's sums of room and of exchanges.
    pub(super) filed: (u32, u32),
    pub(super) born: Instant,
    /// Since when it carries nothing.
    pub(super) idle_since: Option<Instant>,
    /// How long it may idle, where its peer has said how long it waits.
    pub(super) idle_max: Option<Duration>,
    /// Since when its peer has allowed nothing, if it has never allowed anything.
    pub(super) shut_since: Option<Instant>,
    /// Requests that it got.
    pub(super) requests: u64,
    /// Requests refused although the peer's limit was not reached.
    pub(super) refusals: u32,
    /// Requests that its peer's GOAWAY gave back.
    pub(super) returned: u64,
    /// By how many thousandths its time is shorter than what is set.
    pub(super) jitter_per_mille: u32,
}

impl Connection {
    pub(super) fn new(origin: Key, gate: Gate, multiplexing: Multiplexing, now: Instant) -> Self {
        Self {
            origin,
            gate,
            multiplexing,
            is_ready: false,
            is_unsettled: false,
            is_draining: false,
            suspect_since: None,
            filed: (0, 0),
            born: now,
            idle_since: Some(now),
            idle_max: None,
            shut_since: None,
            requests: 0,
            refusals: 0,
            returned: 0,
            jitter_per_mille: 0,
        }
    }

    /// While it drains it counts against the bound on connections, because it carries as much as it could before. One
    /// that multiplexes does not: a long response on it would hold back all that it carried beside.
    pub(super) fn keeps_place(&self) -> bool {
        self.multiplexing == Multiplexing::No
    }

    /// `time`, shorter by the share that spreads the ends of connections.
    pub(super) fn shortened(&self, time: Duration) -> Duration {
        time / 1000 * (1000 - self.jitter_per_mille.min(1000))
    }
}

/// Up to 100 thousandths, by a step of splitmix64: neighbours in `number` are far apart.
pub(super) fn jitter_per_mille(seed: u64, number: u64) -> u32 {
    if seed == 0 {
        return 0;
    }
    let mut mixed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) % 101) as u32
}

#[cfg(test)]
mod gate_test;
#[cfg(test)]
mod health_test;
#[cfg(test)]
mod lifetime_test;
