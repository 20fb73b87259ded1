//! The places of connections, in all and of each client address, which the workers of one server may share.

use super::{Address, Allowed};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use trunkline_core::min_rate::Scarcity;

/// The places, and how many of them are taken.
pub(in crate::server) struct ConnectionPlaces {
    allowed: Allowed,
    taken: AtomicUsize,
    by_address: Mutex<HashMap<Address, usize>>,
    /// Whether few are left.
    pub(in crate::server) scarcity: Scarcity,
    /// Signalled when one is given back. One worker waits for it: the one that accepts.
    pub(in crate::server) freed: Notify,
}

impl ConnectionPlaces {
    pub(in crate::server) fn new(allowed: Allowed) -> Arc<Self> {
        Arc::new(Self {
            allowed,
            taken: AtomicUsize::new(0),
            by_address: Mutex::default(),
            scarcity: Scarcity::shared(),
            freed: Notify::new(),
        })
    }
    pub(super) fn allowed(&self) -> Allowed {
        self.allowed
    }
    /// Whether all are taken.
    pub(super) fn are_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.allowed.connections
    }
    /// Whether `peer` may have one more. A quarter of all is more than a gateway in front leaves the others only
    /// where connections are scarce; and what comes over loopback is a gateway's, unless the limit was asked for.
    pub(super) fn admit(&self, peer: IpAddr) -> bool {
        let most = match self.allowed.per_address {
            Some(most) => most,
            None if self.scarcity.is_set() && !peer.to_canonical().is_loopback() => {
                (self.allowed.connections / 4).max(1)
            }
            None => return true,
        };
        let counts = self.counts();
        counts.get(&Address::of(peer)).is_none_or(|&has| has < most)
    }
    /// Takes one; `address`: `None` of a Unix socket, or while it is not known.
    pub(in crate::server) fn take(this: &Arc<Self>, address: Option<IpAddr>) -> ConnectionPlace {
        let taken = this.taken.fetch_add(1, Ordering::Relaxed) + 1;
        this.note(taken);
        let mut place = ConnectionPlace {
            places: Arc::clone(this),
            address: None,
        };
        if let Some(address) = address {
            place.set_address(address);
        }
        place
    }
    fn counts(&self) -> MutexGuard<'_, HashMap<Address, usize>> {
        // A count is whole before and after each change.
        let counts = self.by_address.lock();
        counts.unwrap_or_else(PoisonError::into_inner)
    }
    fn note(&self, taken: usize) {
        self.scarcity.set(taken >= self.allowed.scarce_from());
    }
}

/// The place of one connection, given back on drop.
pub(in crate::server) struct ConnectionPlace {
    places: Arc<ConnectionPlaces>,
    /// The key by which it is counted; `None`: of a Unix socket, or not known yet.
    address: Option<Address>,
}

impl ConnectionPlace {
    pub(super) fn address(&self) -> Option<Address> {
        self.address
    }
    /// The client is `peer`, and counts from now on; nothing where it was known.
    pub(super) fn set_address(&mut self, peer: IpAddr) {
        if self.address.is_none() {
            let address = Address::of(peer);
            self.address = Some(address);
            *self.places.counts().entry(address).or_default() += 1;
        }
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let places = &self.places;
        if let Some(address) = self.address {
            let mut counts = places.counts();
            if let Some(count) = counts.get_mut(&address) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&address);
                }
            }
        }
        let taken = places.taken.fetch_sub(1, Ordering::Relaxed) - 1;
        places.note(taken);
        places.freed.notify_one();
    }
}
