//! Statistics of a client's pool.

use super::Dispatch;
use crate::client::exchange::Exchange;
use std::time::Instant;
use trunkline_core::pool::{OriginStats, Totals, Wait, WaitReason};

impl Dispatch {
    pub(in super::super) fn stats(&self) -> Vec<OriginStats> {
        self.lock().pool.stats(Instant::now())
    }

    pub(in super::super) fn waits(&self) -> Vec<Wait> {
        self.lock().pool.waits(Instant::now())
    }

    /// Why a request waits now; `None`: it is on a connection, or has ended.
    pub(in super::super) fn why_waits(&self, exchange: &Exchange) -> Option<WaitReason> {
        let ticket = exchange.ticket()?;
        self.lock().pool.wait_reason(Instant::now(), ticket)
    }

    pub(in super::super) fn totals(&self) -> Totals {
        self.lock().pool.totals()
    }
}
