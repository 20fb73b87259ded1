//! The send window: bytes that may wait in the transport for the peer's acknowledgement, sent or
//! not. Twice the path's measured bandwidth-delay product: one window in flight, and one to follow
//! at once.

use crate::credit::BudgetShare;
use crate::limits::{QUIC_SEND_WINDOW_BYTES, QUIC_SEND_WINDOW_BYTES_MAX};

/// The step of the window, bytes: a congestion window changes with every acknowledgement.
const STEP_BYTES: u64 = 1024 * 1024;

/// The send window of one connection.
///
/// Invariant: what it is beyond [`QUIC_SEND_WINDOW_BYTES`] is borrowed.
#[derive(Debug)]
pub(in crate::h3) struct SendWindow {
    bytes: u64,
    /// The budget that it borrows from: on a server shared with other connections.
    budget_share: BudgetShare,
}

impl SendWindow {
    pub(in crate::h3) fn new(budget_share: BudgetShare) -> Self {
        Self {
            bytes: QUIC_SEND_WINDOW_BYTES,
            budget_share,
        }
    }
    /// Borrows from another budget. Call it before anything was borrowed.
    pub(in crate::h3) fn borrow_from(&mut self, budget_share: BudgetShare) {
        self.budget_share = budget_share;
    }

    /// Follows the path's congestion window; the new size, if it is another. It borrows no more than
    /// a quarter of what is left, so that the last to come finds something too.
    pub(in crate::h3) fn follow(&mut self, congestion_window: u64) -> Option<u64> {
        let budget_share = &mut self.budget_share;
        let steps = congestion_window.saturating_mul(2).div_ceil(STEP_BYTES);
        let wanted = (steps.saturating_mul(STEP_BYTES))
            .clamp(QUIC_SEND_WINDOW_BYTES, QUIC_SEND_WINDOW_BYTES_MAX);
        let before = self.bytes;
        if wanted > before {
            let most = budget_share.left() / 4 / STEP_BYTES * STEP_BYTES;
            // At most the largest window, which is far below 2^32.
            self.bytes += u64::from(budget_share.reserve((wanted - before).min(most) as u32));
        } else {
            budget_share.give_back((before - wanted) as u32);
            self.bytes = wanted;
        }
        (self.bytes != before).then_some(self.bytes)
    }
}

#[cfg(test)]
#[path = "send_window_test.rs"]
mod send_window_test;
