//! Requests that a worker answers itself, so that it stays able to serve others: those of an address that sends too many, and all
//! while the worker is behind or the server holds too much for clients that do not read.

use super::Address;
use crate::config::Shedding;
use crate::driver::timer;
use http::StatusCode;
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use trunkline_core::budget::{Budget, Rate};
use trunkline_core::credit::BudgetShare;

/// Addresses whose requests each worker counts at once: 1 MiB or so. An address that has sent nothing for as long as its burst takes to
/// come back is forgotten where there are more; while all are busy, further ones are not limited.
const ADDRESSES_MAX: usize = 16 * 1024;
/// The least time between two looks for addresses to forget: each looks at all of them.
const FORGET_INTERVAL_MIN: Duration = Duration::from_secs(1);
/// Between two measurements of how far a worker is behind. A timer that comes late is late by what ran before it.
const LAG_INTERVAL: Duration = Duration::from_millis(50);

/// Why a request was answered without a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Shed {
    /// Its address has sent as many as it may.
    Address,
    /// The worker is behind.
    Lag,
    /// Too much waits for clients that do not read.
    Memory,
}

impl Shed {
    /// Its index in [`SHED_BY`](crate::server::observe::counters::SHED_BY).
    pub(in crate::server) fn index(self) -> usize {
        self as usize
    }
    pub(in crate::server) fn status(self) -> StatusCode {
        match self {
            // RFC 6585 section 4.
            Self::Address => StatusCode::TOO_MANY_REQUESTS,
            Self::Lag | Self::Memory => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// A worker's decision about each request.
pub(in crate::server) struct Shedder {
    settings: Shedding,
    send_budget: Arc<BudgetShare>,
    addresses: Arc<AddressRates>,
    /// As last measured.
    lag: Cell<Duration>,
}

impl Shedder {
    /// `None`: no request is refused.
    pub(in crate::server) fn new(
        settings: &Shedding,
        send_budget: &Arc<BudgetShare>,
        addresses: &Arc<AddressRates>,
    ) -> Option<Rc<Self>> {
        let Shedding {
            requests_per_address,
            lag_max,
            send_budget_percent_max,
        } = settings;
        let is_on = requests_per_address.is_some()
            || lag_max.is_some()
            || send_budget_percent_max.is_some();
        is_on.then(|| {
            Rc::new(Self {
                settings: settings.clone(),
                send_budget: Arc::clone(send_budget),
                addresses: Arc::clone(addresses),
                lag: Cell::new(Duration::ZERO),
            })
        })
    }
    /// Whether a request of `address` is to be answered here; `None` there: of a Unix socket.
    pub(super) fn sheds(&self, address: Option<Address>, now: Instant) -> Option<Shed> {
        if self
            .settings
            .lag_max
            .is_some_and(|most| self.lag.get() > most)
        {
            return Some(Shed::Lag);
        }
        let percent = u64::from(self.settings.send_budget_percent_max.unwrap_or(100));
        let (held, total) = (self.send_budget.reserved(), self.send_budget.total());
        if percent < 100 && held.saturating_mul(100) > total.saturating_mul(percent) {
            return Some(Shed::Memory);
        }
        let (rate, address) = self.settings.requests_per_address.zip(address)?;
        let admits = self.addresses.charge(address, rate, now);
        (!admits).then_some(Shed::Address)
    }
    /// Measures how far the worker is behind, for as long as it is polled; ends at once without a bound on it.
    pub(in crate::server) async fn measure(self: Rc<Self>) {
        while self.settings.lag_max.is_some() {
            let due = Instant::now() + LAG_INTERVAL;
            timer::sleep(LAG_INTERVAL).await;
            self.lag.set(Instant::now().saturating_duration_since(due));
        }
    }
}

/// The rest of each address's burst, which the workers of one server may share.
pub(in crate::server) struct AddressRates(Mutex<RatesByAddress>);

struct RatesByAddress {
    budgets: HashMap<Address, Budget>,
    forgot_at: Instant,
}

impl AddressRates {
    pub(in crate::server) fn new(now: Instant) -> Arc<Self> {
        Arc::new(Self(Mutex::new(RatesByAddress {
            budgets: HashMap::new(),
            forgot_at: now,
        })))
    }
    fn charge(&self, address: Address, rate: Rate, now: Instant) -> bool {
        let mut rates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rates.charge(address, rate, now)
    }
}

impl RatesByAddress {
    fn charge(&mut self, address: Address, rate: Rate, now: Instant) -> bool {
        if let Some(budget) = self.budgets.get_mut(&address) {
            return budget.charge(1, now);
        }
        if self.budgets.len() >= ADDRESSES_MAX {
            self.forget(now);
        }
        if self.budgets.len() < ADDRESSES_MAX {
            let mut budget = Budget::new(rate, now);
            let admits = budget.charge(1, now);
            self.budgets.insert(address, budget);
            return admits;
        }
        true
    }
    /// Forgets the addresses whose whole burst has come back.
    fn forget(&mut self, now: Instant) {
        if now.saturating_duration_since(self.forgot_at) >= FORGET_INTERVAL_MIN {
            self.forgot_at = now;
            self.budgets
                .retain(|_, budget| budget.used_percent(now) > 0);
        }
    }
}

#[cfg(test)]
#[path = "shedding_test.rs"]
mod shedding_test;
