//! The round trip of a path, bounded from above by grants and the bytes that follow them, without PINGs: a byte
//! beyond an old limit cannot have been sent before our update arrived. The bound is equal to the round
//! trip exactly when the sender waited for the window, which is the only time that it is needed.

use std::time::{Duration, Instant};

/// The bounds that one window has seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    grant: Option<Grant>,
    lowest: Option<Duration>,
    /// The last one, until it is taken.
    sample: Option<Duration>,
}

/// A grant under way: the first byte beyond `limit` proves that it arrived.
#[derive(Clone, Copy, Debug)]
struct Grant {
    limit: u64,
    sent_at: Instant,
}

impl RoundTrip {
    /// A grant beyond `limit` is sent.
    pub(super) fn note_grant(&mut self, limit: u64, now: Instant) {
        // With eight grants per round trip a sample that is overwritten would never complete.
        self.grant.get_or_insert(Grant {
            limit,
            sent_at: now,
        });
    }
    /// The peer has used `used` in all.
    #[inline]
    pub(super) fn note_used(&mut self, used: u64, now: Instant) {
        if let Some(grant) = self.grant
            && used > grant.limit
        {
            let sample = now.saturating_duration_since(grant.sent_at);
            self.grant = None;
            self.sample = Some(sample);
            self.lowest = Some(self.lowest.map_or(sample, |lowest| lowest.min(sample)));
        }
    }
    /// The limit has moved by other means than a grant.
    pub(super) fn drop_sample(&mut self) {
        self.grant = None;
    }
    /// The lowest bound.
    pub(super) fn lowest(&self) -> Option<Duration> {
        self.lowest
    }
    /// The last bound, if it was not taken yet.
    pub(super) fn take_sample(&mut self) -> Option<Duration> {
        self.sample.take()
    }
}
