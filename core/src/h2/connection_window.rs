//! The windows of the connection (RFC 9113 section 6.9): our grant to the peer, and the peer's to us.

use crate::credit::{BudgetShare, Credit, Quota, Readback};
use crate::error::Violation;
use crate::limits::Windows;
use std::time::{Duration, Instant};

/// RFC 9113 section 6.9.2: both windows of a fresh connection, before any SETTINGS. Bytes.
pub(super) const WINDOW_INITIAL: u32 = 65_535;

/// Both windows.
///
/// Invariant: our grant is made with the first DATA; a connection without request bodies has none.
#[derive(Debug)]
pub(super) struct ConnectionWindow {
    credit: Option<Box<Credit>>,
    quota: Quota,
    updates_sent: u64,
}

impl ConnectionWindow {
    pub(super) fn new() -> Self {
        Self {
            credit: None,
            quota: Quota::new(WINDOW_INITIAL),
            updates_sent: 0,
        }
    }

    // Our grant to the peer.

    /// Our grant, to use or change.
    pub(super) fn credit(&mut self, windows: &Windows, now: Instant) -> &mut Credit {
        self.credit
            .get_or_insert_with(|| Box::new(fresh_credit(windows, now)))
    }
    /// Gives `bytes` back that the user took. Nothing was used of a window that was never made.
    pub(super) fn refund(&mut self, bytes: u32) {
        if let Some(credit) = &mut self.credit {
            credit.refund(bytes);
        }
    }
    /// The increment to announce, and a sample of the round trip.
    pub(super) fn grant(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        is_writing: bool,
        budget: &mut BudgetShare,
    ) -> (Option<u32>, Option<Duration>) {
        match &mut self.credit {
            Some(credit) => {
                let grant = credit.grant(now, rtt, is_writing, budget);
                (grant, credit.rtt_sample())
            }
            None => (None, None),
        }
    }
    /// Our grant; one that was not made is that of a connection since `started_at`.
    pub(super) fn readback(&self, windows: &Windows, started_at: Instant) -> Readback {
        match &self.credit {
            Some(credit) => credit.readback(),
            None => fresh_credit(windows, started_at).readback(),
        }
    }

    /// A WINDOW_UPDATE went out, of the connection or a stream.
    pub(super) fn note_update_sent(&mut self) {
        self.updates_sent += 1;
    }
    /// WINDOW_UPDATE frames so far.
    pub(super) fn updates_sent(&self) -> u64 {
        self.updates_sent
    }

    // The peer's grant to us.

    /// Bytes that we may send now.
    #[inline]
    pub(super) fn sendable(&self) -> u32 {
        self.quota.available()
    }
    /// `bytes` of those [`sendable`](Self::sendable) are framed.
    #[inline]
    pub(super) fn spend(&mut self, bytes: u32) {
        self.quota.spend(bytes);
    }
    /// The peer's WINDOW_UPDATE.
    ///
    /// # Errors
    /// [`Violation::ConnectionWindowOverflow`].
    pub(super) fn raise(&mut self, increment: u32) -> Result<(), Violation> {
        let raised = self.quota.grant(increment);
        raised.map_err(|_| Violation::ConnectionWindowOverflow)
    }
}

/// Our grant to the peer on a fresh connection.
fn fresh_credit(windows: &Windows, now: Instant) -> Credit {
    Credit::new(windows.connection.max(WINDOW_INITIAL), 0, now)
        .allowing_unread(windows.memory_budget / 2)
}
