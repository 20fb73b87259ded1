//! Bytes freed per round trip. A round begins with the first grant after the end of the one before,
//! when a sender's next flight arrives.

use std::time::{Duration, Instant};

/// A sender is starting while a round trip brings at least this many quarters of the one before.
const STARTING_QUARTERS: u64 = 5;

/// The present round of one window, and the result of the previous one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    began_at: Instant,
    /// Bytes freed since the start of the connection, at that moment.
    freed_then: u64,
    /// Bytes freed in the previous round.
    before: u64,
    /// Each round freed more than the one before.
    starting: bool,
}

impl Round {
    /// The first round.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            began_at: now,
            freed_then: 0,
            before: 0,
            starting: true,
        }
    }
    /// Bytes that one round trip frees, by the previous round or this one; ends the round when it
    /// is over.
    pub(super) fn measure(&mut self, freed: u64, now: Instant, round_trip: Duration) -> u64 {
        let per_round = self.bytes(freed);
        let lasted = now.saturating_duration_since(self.began_at);
        if lasted >= round_trip {
            let in_round = u128::from(freed - self.freed_then);
            let in_round = (in_round * round_trip.as_nanos() / lasted.as_nanos().max(1)) as u64;
            *self = Self {
                began_at: now,
                freed_then: freed,
                before: in_round,
                starting: self.starting
                    && in_round.saturating_mul(4) >= self.before.saturating_mul(STARTING_QUARTERS),
            };
        }
        per_round
    }
    /// Bytes of the previous round, or of this one if those are more already.
    pub(super) fn bytes(&self, freed: u64) -> u64 {
        self.before.max(freed - self.freed_then)
    }
    /// Whether the sender is still raising its rate from the start.
    pub(super) fn is_starting(&self) -> bool {
        self.starting
    }
}
