//! Requests sent with the handshake (early data): their outcome, and that of the race with TCP.

use super::ConnectionTask;
use super::entry::ExchangeEntry;
use crate::client::exchange::Early;
use crate::tls::early_data::EarlyCounts;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::http::Reset;
use trunkline_core::http::event::ResetBy;

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// An exchange ended; if it went out with the handshake, what became of that.
    pub(super) fn count_early(&self, entry: &ExchangeEntry, reset: &Reset) {
        if entry.request.early != Early::Sent {
            return;
        }
        if reset.by == ResetBy::EarlyDataRejected {
            self.count(|counts| &counts.rejected);
        } else if self.io.is_early() {
            self.count(|counts| &counts.unanswered);
        }
    }

    pub(super) fn count(&self, which: fn(&EarlyCounts) -> &AtomicU64) {
        if let Some(memory) = &self.settings.early_data {
            which(memory.counts()).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A handshake with requests ahead of it is done or is not: QUIC has won the race with TCP, or it
    /// is left alone for a while. Known before the requests come back, which go by it.
    pub(super) fn judge_race(&mut self, now: Instant) {
        let is_over = self.io.machine.is_closed();
        if !is_over && self.io.is_early() {
            return;
        }
        if !is_over
            && std::mem::take(&mut self.was_early)
            && let Some(dispatch) = self.dispatch.upgrade()
        {
            dispatch.alive(now, self.id, None);
        }
        if let Some(origin) = self.raced.take() {
            let mut alternatives = self.settings.alternatives();
            match self.io.is_early() {
                true => alternatives.handle_failed(now, &origin),
                false => alternatives.handle_connected(&origin),
            }
        }
    }
}
