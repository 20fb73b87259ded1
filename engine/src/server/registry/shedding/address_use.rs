//! Requests and bytes of each address, as far as it has a bound.

use super::Shed;
use crate::config::Shedding;
use crate::server::registry::Address;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use trunkline_core::budget::{Budget, Rate};

/// Addresses that each worker counts at once: 1 MiB or so. An address that has sent nothing for as long as its burst takes to
/// come back is forgotten where there are more; while all are busy, further ones are not limited.
const ADDRESSES_MAX: usize = 16 * 1024;
/// The least time between two looks for addresses to forget: each looks at all of them.
const FORGET_INTERVAL_MIN: Duration = Duration::from_secs(1);
/// How long an address is refused after its last byte, at most. What it moves beyond that is forgiven: a response that has begun is
/// sent to its end, however long it is.
const BYTES_DEBT_SECONDS_MAX: u8 = 60;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// The rest of each address's bursts, which the workers of one server may share.
pub(in crate::server) struct AddressRates(Mutex<AddressUses>);

impl AddressRates {
    pub(in crate::server) fn new(now: Instant) -> Arc<Self> {
        Arc::new(Self(Mutex::new(AddressUses::new(now))))
    }
    /// Counts a request of `address`; why it is to be refused, if it is.
    pub(super) fn request(
        &self,
        settings: &Shedding,
        address: Address,
        now: Instant,
    ) -> Option<Shed> {
        let bounds = (settings.requests_per_address, settings.bytes_per_address);
        if bounds == (None, None) {
            return None;
        }
        self.uses().request(bounds, address, now)
    }
    /// Counts bytes that connections of `address` have moved.
    pub(super) fn moved(&self, settings: &Shedding, address: Address, bytes: u64, now: Instant) {
        let bounds = (settings.requests_per_address, settings.bytes_per_address);
        self.uses().moved(bounds, (address, bytes), now);
    }
    fn uses(&self) -> MutexGuard<'_, AddressUses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bounds on requests and on bytes.
type Bounds = (Option<Rate>, Option<Rate>);

/// The uses of a server's addresses.
struct AddressUses {
    by_address: HashMap<Address, AddressUse>,
    forgot_at: Instant,
}

struct AddressUse {
    requests: Option<Budget>,
    bytes: BytesMoved,
}

/// Bytes that count against an address. They drain at its rate, and unlike the points of a [`Budget`] may exceed its burst: they are
/// counted after they have moved.
struct BytesMoved {
    level: u64,
    drained_at: Instant,
}

impl AddressUses {
    fn new(now: Instant) -> Self {
        Self {
            by_address: HashMap::new(),
            forgot_at: now,
        }
    }
    fn request(&mut self, bounds: Bounds, address: Address, now: Instant) -> Option<Shed> {
        let has = self.of(bounds, address, now)?;
        if let Some(seconds) = bounds.1.and_then(|rate| has.bytes.is_over_for(rate, now)) {
            return Some(Shed::Bytes { seconds });
        }
        let admits = has.requests.as_mut().is_none_or(|has| has.charge(1, now));
        (!admits).then_some(Shed::Address)
    }
    fn moved(&mut self, bounds: Bounds, (address, bytes): (Address, u64), now: Instant) {
        if let Some(rate) = bounds.1
            && let Some(has) = self.of(bounds, address, now)
        {
            has.bytes.add(bytes, rate, now);
        }
    }
    /// The use of `address`; `None`: it is not counted, because too many others are.
    fn of(&mut self, bounds: Bounds, address: Address, now: Instant) -> Option<&mut AddressUse> {
        if self.by_address.len() >= ADDRESSES_MAX && !self.by_address.contains_key(&address) {
            self.forget(bounds.1, now);
            if self.by_address.len() >= ADDRESSES_MAX {
                return None;
            }
        }
        let requests = bounds.0;
        let entry = self.by_address.entry(address);
        Some(entry.or_insert_with(|| AddressUse {
            requests: requests.map(|rate| Budget::new(rate, now)),
            bytes: BytesMoved {
                level: 0,
                drained_at: now,
            },
        }))
    }
    /// Forgets the addresses whose whole bursts have come back.
    fn forget(&mut self, bytes: Option<Rate>, now: Instant) {
        if now.saturating_duration_since(self.forgot_at) < FORGET_INTERVAL_MIN {
            return;
        }
        self.forgot_at = now;
        self.by_address.retain(|_, has| {
            let asks = (has.requests.as_mut()).is_some_and(|has| has.used_percent(now) > 0);
            let moves = bytes.is_some_and(|rate| has.bytes.drain(rate, now) > 0);
            asks || moves
        });
    }
}

impl BytesMoved {
    /// The seconds until the level is the burst; `None`: it is not above.
    fn is_over_for(&mut self, rate: Rate, now: Instant) -> Option<u8> {
        let over = self.drain(rate, now).saturating_sub(u64::from(rate.burst));
        let seconds = over.div_ceil(u64::from(rate.per_second));
        (over > 0).then_some(u8::try_from(seconds).unwrap_or(BYTES_DEBT_SECONDS_MAX))
    }
    fn add(&mut self, bytes: u64, rate: Rate, now: Instant) {
        let debt = u64::from(rate.per_second) * u64::from(BYTES_DEBT_SECONDS_MAX);
        let most = u64::from(rate.burst) + debt;
        self.level = self.drain(rate, now).saturating_add(bytes).min(most);
    }
    /// The level as of now.
    fn drain(&mut self, rate: Rate, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.drained_at);
        let per_second = u128::from(rate.per_second);
        let gone = elapsed.as_nanos() * per_second / NANOS_PER_SECOND;
        if gone > 0 {
            // The time of less than a byte counts the next time.
            let nanos = (gone * NANOS_PER_SECOND).div_ceil(per_second);
            self.drained_at += Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            let gone = u64::try_from(gone).unwrap_or(u64::MAX);
            self.level = self.level.saturating_sub(gone);
        }
        self.level
    }
}

#[cfg(test)]
#[path = "address_use_test.rs"]
mod address_use_test;
