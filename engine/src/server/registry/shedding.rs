//! Requests that a worker answers itself, so that it stays able to serve others: those of an address that sends too many or moves
//! too many bytes, and all while the worker is behind, the process is too large or the server holds too much for clients that do
//! not read.

mod address_use;

pub(in crate::server) use self::address_use::AddressRates;
use super::Address;
use crate::config::Shedding;
use crate::driver::timer;
use crate::server::observe::counters::Counters;
use crate::server::observe::resident;
use http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use trunkline_core::credit::BudgetShare;

/// Between two measurements of how far a worker is behind, and of the process's memory, where there is a bound on one of them. A timer
/// that comes late is late by what ran before it.
const MEASURE_INTERVAL: Duration = Duration::from_millis(50);
/// As [`MEASURE_INTERVAL`], for the metrics alone: an idle worker wakes once a second for them.
const MEASURE_INTERVAL_UNBOUND: Duration = Duration::from_secs(1);

/// Why a request was answered without a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Shed {
    /// Its address has sent as many as it may.
    Address,
    /// The worker is behind, or what answers for it.
    Lag,
    /// Too much waits for clients that do not read.
    Memory,
    /// Its address has moved as many bytes as it may.
    Bytes {
        /// When it may come again.
        seconds: u8,
    },
    /// The process has as much memory as it may.
    Process,
}

impl Shed {
    /// Its index in [`SHED_BY`](crate::server::observe::counters::SHED_BY).
    pub(in crate::server) fn index(self) -> usize {
        match self {
            Self::Address => 0,
            Self::Lag => 1,
            Self::Memory => 2,
            Self::Bytes { .. } => 3,
            Self::Process => 4,
        }
    }
    /// Seconds after which the request may come again (RFC 9110 section 10.2.3).
    pub(in crate::server) fn retry_after(self) -> u8 {
        match self {
            Self::Bytes { seconds } => seconds,
            _ => 1,
        }
    }
    pub(in crate::server) fn status(self) -> StatusCode {
        match self {
            // RFC 6585 section 4.
            Self::Address | Self::Bytes { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Lag | Self::Memory | Self::Process => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// A worker's decision about each request.
pub(in crate::server) struct Shedder {
    settings: Shedding,
    send_budget: Arc<BudgetShare>,
    addresses: Arc<AddressRates>,
    /// The lag as last measured, nanoseconds.
    lag: AtomicU64,
    /// The memory of the process as last measured, bytes.
    resident: AtomicU64,
}

impl Shedder {
    /// `None`: no request is refused.
    pub(in crate::server) fn new(
        settings: &Shedding,
        send_budget: &Arc<BudgetShare>,
        addresses: &Arc<AddressRates>,
    ) -> Option<Arc<Self>> {
        let Shedding {
            requests_per_address,
            bytes_per_address,
            lag_max,
            send_budget_percent_max,
            process_memory_max,
        } = settings;
        let is_on = requests_per_address.is_some()
            || bytes_per_address.is_some()
            || lag_max.is_some()
            || send_budget_percent_max.is_some()
            || process_memory_max.is_some();
        is_on.then(|| {
            Arc::new(Self {
                settings: settings.clone(),
                send_budget: Arc::clone(send_budget),
                addresses: Arc::clone(addresses),
                lag: AtomicU64::new(0),
                resident: AtomicU64::new(0),
            })
        })
    }
    /// Whether a request of `address` is to be answered here; `None` there: of a Unix socket.
    pub(super) fn sheds(&self, address: Option<Address>, now: Instant) -> Option<Shed> {
        if self.settings.lag_max.is_some_and(|most| self.lag() > most) {
            return Some(Shed::Lag);
        }
        let percent = u64::from(self.settings.send_budget_percent_max.unwrap_or(100));
        let (held, total) = (self.send_budget.reserved(), self.send_budget.total());
        if percent < 100 && held.saturating_mul(100) > total.saturating_mul(percent) {
            return Some(Shed::Memory);
        }
        let most = self.settings.process_memory_max;
        if most.is_some_and(|most| self.resident.load(Ordering::Relaxed) > most) {
            return Some(Shed::Process);
        }
        self.addresses.request(&self.settings, address?, now)
    }
    /// Whether the bytes of connections are to be passed on ([`moved`](Self::moved)).
    pub(super) fn counts_bytes(&self) -> bool {
        self.settings.bytes_per_address.is_some()
    }
    /// Connections of `address` have moved `bytes` more.
    pub(super) fn moved(&self, address: Address, bytes: u64, now: Instant) {
        self.addresses.moved(&self.settings, address, bytes, now);
    }
    fn lag(&self) -> Duration {
        Duration::from_nanos(self.lag.load(Ordering::Relaxed))
    }
    pub(super) fn set_lag(&self, lag: Duration) {
        let nanos = u64::try_from(lag.as_nanos()).unwrap_or(u64::MAX);
        self.lag.store(nanos, Ordering::Relaxed);
    }
    /// Whether it decides by what is measured.
    fn needs_measures(&self) -> bool {
        self.settings.lag_max.is_some() || self.settings.process_memory_max.is_some()
    }
}

/// Measures how late the worker's turns are, for its counters, and where `shedder` has a bound on that or on the size of the process,
/// for it too; for as long as it is polled. `behind`: how far what answers for the worker is, as of now.
pub(in crate::server) async fn measure(
    shedder: Option<Arc<Shedder>>,
    counters: Arc<Counters>,
    behind: impl Fn(Instant) -> Duration,
) {
    let shedder = shedder.filter(|shedder| shedder.needs_measures());
    let interval = match shedder {
        Some(_) => MEASURE_INTERVAL,
        None => MEASURE_INTERVAL_UNBOUND,
    };
    loop {
        let due = Instant::now() + interval;
        timer::sleep(interval).await;
        let now = Instant::now();
        let late = now.saturating_duration_since(due);
        counters.turn_was_late(late);
        let Some(shedder) = &shedder else {
            continue;
        };
        shedder.set_lag(late.max(behind(now)));
        if shedder.settings.process_memory_max.is_some() {
            let bytes = resident::bytes().unwrap_or(0);
            shedder.resident.store(bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[path = "shedding_test.rs"]
mod shedding_test;
