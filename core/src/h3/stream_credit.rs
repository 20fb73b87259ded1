//! Stream credit of a server: how many request streams its client may have opened.
//!
//! The rule, in this one place:
//! - A stream gives one back when it is closed on both sides, finished or reset, by either side.
//! - Credit is granted an eighth of the limit at a time, and at once when the client is blocked.
//! - Never more streams are open than the limit (`request_streams_max`, default 256).
//!
//! With quinn-proto: it sends MAX_STREAMS itself. It counts a stream back when our side of it is
//! acknowledged to its end (or its reset is) and the peer's side was read to its end or stopped,
//! and announces more than an eighth of the limit at once, or less beside other frames. So
//! `max_concurrent_bidi_streams` in its transport configuration is `request_streams_max`; every
//! request stream is read to its end or stopped, and finished or reset (the machine asks for it by
//! its actions, without exception); and `TransportAction::GrantStreams` is ignored. A transport that does
//! not count carries `TransportAction::GrantStreams` out.
//!
//! Because quinn may announce less than a quantum, a client may run ahead of what was granted
//! here, but never of what is free: opening beyond the last grant grants all that is free first.

use crate::budget::{Pace, Rate};
use crate::credit::{BudgetShare, Credit, Quota, WINDOW_MAX};
use crate::error::Violation;
use std::time::Instant;

/// The burst and the refill of a client's resets. A server of ours takes 1,000 at once of streams younger than a second and
/// 33 per second ([`Limits`](crate::limits::Limits)), of others none is known that takes fewer: behind the burst all that are
/// open can still be reset.
const RESET_RATE: Rate = Rate {
    burst: 500,
    per_second: 30,
};

/// The streams that a server allows its client to open, as the transport reports it, and how many of them wait behind resets.
///
/// Invariant: the reported limit never falls.
#[derive(Debug)]
pub(crate) struct StreamQuota {
    quota: Quota,
    /// The limit, counted from the start.
    reported: u64,
    pace: Pace,
    /// The streams that wait behind resets.
    held: u32,
}

impl StreamQuota {
    /// No stream yet.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            quota: Quota::new(0),
            reported: 0,
            pace: Pace::new(RESET_RATE, now),
            held: 0,
        }
    }
    /// The limit is `limit`, counted from the start; a lower one than before is ignored.
    pub(crate) fn raise_to(&mut self, limit: u64) {
        let more = limit.saturating_sub(self.reported);
        self.reported += more;
        // A count beyond u32 has no effect: our own ceiling is far below.
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let room = WINDOW_MAX.saturating_sub(self.quota.available());
        let _ = self.quota.grant(more.min(room));
    }
    /// A stream is opened, of those [`available`](Self::available).
    #[inline]
    pub(crate) fn spend(&mut self) {
        self.quota.spend(1);
    }
    /// Streams that may be opened now.
    #[inline]
    pub(crate) fn available(&self) -> u32 {
        self.quota.available()
    }
    /// Streams that wait behind resets, of those that may be open at once.
    #[inline]
    pub(crate) fn held(&self) -> u32 {
        self.held
    }
    /// A stream was reset by us: [`follow_pace`](Self::follow_pace) is due.
    pub(crate) fn note_reset(&mut self, now: Instant) {
        self.pace.charge(now);
    }
    /// Holds as many streams as the pace of resets asks for; when it is to be called next, if any wait.
    pub(crate) fn follow_pace(&mut self, now: Instant) -> Option<Instant> {
        self.held = self.pace.held(now);
        self.pace.next_release(now)
    }
}

/// The streams that we grant.
#[derive(Debug)]
pub(crate) struct StreamCredit {
    credit: Credit,
    /// Streams never borrow.
    budget_share: BudgetShare,
}

impl StreamCredit {
    /// `limit` streams at once, all granted.
    pub(crate) fn new(limit: u32, now: Instant) -> Self {
        Self {
            credit: Credit::streams(limit, now),
            budget_share: BudgetShare::new(0),
        }
    }
    /// The client opened a stream.
    ///
    /// # Errors
    /// [`Violation::StreamCreditExceeded`] beyond the limit.
    pub(crate) fn opened(&mut self, now: Instant) -> Result<(), Violation> {
        if self.credit.remaining() == 0 {
            self.blocked(now);
        }
        self.credit
            .spend(1, now)
            .map_err(|_| Violation::StreamCreditExceeded)
    }
    /// A stream is closed on both sides.
    pub(crate) fn closed(&mut self) {
        self.credit.refund(1);
    }
    /// The client has used all credit: the next grant does not wait for a quantum.
    fn blocked(&mut self, now: Instant) -> Option<u64> {
        self.credit.note_blocked();
        self.grant(now)
    }
    /// The new limit to announce, counted from the start, if one is due.
    pub(crate) fn grant(&mut self, now: Instant) -> Option<u64> {
        self.credit
            .grant(now, None, false, &mut self.budget_share)?;
        Some(self.credit.limit())
    }
    /// Streams that are open.
    #[cfg(test)]
    pub(crate) fn open(&self) -> u64 {
        self.credit.unread()
    }
}

#[cfg(test)]
#[path = "stream_credit_test.rs"]
mod stream_credit_test;
