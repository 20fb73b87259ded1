//! Statistics of a client's pool.

use super::Dispatch;
use crate::client::exchange::Exchange;
use crate::client::settings::Settings;
use crate::metrics::client::{ClientMetrics, PoolMetrics};
use std::time::Instant;
use trunkline_core::pool::{OriginStats, Totals, Wait, WaitReason};

impl Dispatch {
    pub(in super::super) fn stats(&self) -> Vec<OriginStats> {
        self.lock().pool.stats(Instant::now())
    }

    /// The counts so far, and the pool now.
    pub(in super::super) fn metrics(&self) -> ClientMetrics {
        let state = self.lock();
        let mut versions = (*state.past).clone();
        for handle in state.handles.values() {
            handle.counts.add_to(&mut versions, true);
        }
        let totals = state.pool.totals();
        let origins = state.pool.stats(Instant::now());
        drop(state);
        let Settings {
            counts, traffic, ..
        } = &*self.settings;
        ClientMetrics {
            totals,
            pool: PoolMetrics::of(&origins),
            versions,
            failures: counts.failures.read(),
            connect_failures: counts.connect_failures.read(),
            stream_bytes_read: traffic.bytes_read(),
            stream_bytes_written: traffic.bytes_written(),
            window_bytes: self.budget_share.reserved(),
            window_bytes_max: self.budget_share.total(),
        }
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
