//! The open connections of a worker: chooses which to close when all places are taken.

mod activity;
pub(in crate::server) mod places;
pub(in crate::server) mod shedding;

use super::observe::counters::{Counters, add};
use super::observe::inspect::{ConnectionStage, Listed};
use crate::driver::machine::inspection::{InspectLimits, Inspection, Numbered};
use crate::driver::signals::{Signals, Stop};
use crate::driver::timer;
pub(in crate::server) use activity::Activity;
use places::{ConnectionPlace, ConnectionPlaces};
use shedding::Shedder;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use trunkline_core::limits::NEW_CONNECTION_GRACE;

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Allowed {
    /// The most connections of all peers.
    pub(in crate::server) connections: usize,
    /// The most connections of one address; `None`: a quarter of those of all, while connections are scarce.
    pub(in crate::server) per_address: Option<usize>,
}

impl Allowed {
    /// The number of connections from which they are scarce: three quarters of the bound.
    fn scarce_from(self) -> usize {
        self.connections - self.connections / 4
    }
    /// How many idle connections are closed at once: closing takes a moment, and a client that
    /// waits for a free place is seldom alone.
    fn displaced_at_once(self) -> usize {
        (self.connections / 64).max(1)
    }
}

/// The connections of a worker.
pub(in crate::server) struct OpenConnections {
    by_number: Mutex<HashMap<u64, OpenConnection>>,
    next: AtomicU64,
    pub(in crate::server) places: Arc<ConnectionPlaces>,
    pub(in crate::server) closed: Notify,
    /// A task makes room later.
    is_retrying: AtomicBool,
    counters: Arc<Counters>,
    shedder: Option<Arc<Shedder>>,
}

struct OpenConnection {
    signals: Arc<Signals>,
    activity: Arc<Activity>,
    /// The client; `None`: of a Unix socket.
    peer: Option<IpAddr>,
    port: u16,
    place: ConnectionPlace,
    /// It was asked to close for a new connection.
    leaves: bool,
}

/// The key by which connections are counted: an IPv4 address, or an IPv6 network of 64 bits, the
/// least that one customer has (RFC 6177).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::server) enum Address {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl Address {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self::V4(v4.octets()),
            IpAddr::V6(v6) => {
                let [a, b, c, d, e, f, g, h, ..] = v6.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }
}

impl OpenConnections {
    pub(in crate::server) fn new(
        places: &Arc<ConnectionPlaces>,
        counters: &Arc<Counters>,
        shedder: Option<Arc<Shedder>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            by_number: Mutex::default(),
            next: AtomicU64::new(0),
            places: Arc::clone(places),
            closed: Notify::new(),
            is_retrying: AtomicBool::new(false),
            counters: Arc::clone(counters),
            shedder,
        })
    }
    pub(in crate::server) fn len(&self) -> usize {
        self.all().len()
    }
    fn all(&self) -> MutexGuard<'_, HashMap<u64, OpenConnection>> {
        // Entries are whole before and after each change.
        let all = self.by_number.lock();
        all.unwrap_or_else(PoisonError::into_inner)
    }
    /// Whether no further connection is taken before one has ended.
    pub(super) fn is_full(&self) -> bool {
        self.places.are_taken()
    }
    /// Whether `peer` is taken now. Where it is not because all places are taken, others give way:
    /// over QUIC a client that is refused tries again.
    pub(super) fn has_room_for(&self, peer: IpAddr) -> bool {
        if self.is_full() {
            self.make_room();
            return false;
        }
        self.admits(peer)
    }
    /// Whether `peer` may have one more; counts it if not.
    pub(in crate::server) fn admits(&self, peer: IpAddr) -> bool {
        let admits = self.places.admit(peer);
        if !admits {
            add(&self.counters.connections_refused, 1);
        }
        admits
    }
    /// A place for a connection that was accepted; `None`: of a Unix socket.
    pub(super) fn take_place(&self, peer: Option<IpAddr>) -> ConnectionPlace {
        ConnectionPlaces::take(&self.places, peer)
    }
    /// A connection of `peer` was accepted; `None`: of a Unix socket.
    pub(in crate::server) fn enter(
        this: &Arc<Self>,
        signals: &Arc<Signals>,
        activity: &Arc<Activity>,
        peer: Option<SocketAddr>,
    ) -> OpenEntry {
        let place = this.take_place(peer.map(|peer| peer.ip()));
        Self::enter_at(this, place, (signals, activity), peer)
    }
    /// As [`enter`](Self::enter), at a place that it has.
    pub(super) fn enter_at(
        this: &Arc<Self>,
        place: ConnectionPlace,
        (signals, activity): (&Arc<Signals>, &Arc<Activity>),
        peer: Option<SocketAddr>,
    ) -> OpenEntry {
        let number = this.next.fetch_add(1, Ordering::Relaxed);
        activity.set_address(place.address());
        let connection = OpenConnection {
            signals: Arc::clone(signals),
            activity: Arc::clone(activity),
            peer: peer.map(|peer| peer.ip()),
            port: peer.map_or(0, |peer| peer.port()),
            place,
            leaves: false,
        };
        if let Some(shedder) = &this.shedder {
            activity.shed_by(shedder);
        }
        this.all().insert(number, connection);
        OpenEntry {
            open: Arc::clone(this),
            number,
        }
    }
    /// Whether one of them gives its place up, or could: those that have no exchange.
    pub(super) fn can_make_room(&self) -> bool {
        let open = self.all();
        let mut all = open.values();
        all.any(|open| open.leaves || open.activity.exchanges() == 0)
    }
    /// A peer waits for a place, and none is free: the connections that have been without an
    /// exchange for longest give theirs up, each as its version lets it. False: all that could are new.
    pub(super) fn make_room(&self) -> bool {
        let mut open = self.all();
        let leaving = open.values().filter(|open| open.leaves).count();
        let wanted = self
            .places
            .allowed()
            .displaced_at_once()
            .saturating_sub(leaving);
        let is_idle = |open: &&mut OpenConnection| !open.leaves && open.activity.exchanges() == 0;
        let mut idle: Vec<_> = open.values_mut().filter(is_idle).collect();
        if wanted == 0 || idle.is_empty() {
            return true;
        }
        let now = std::time::Instant::now();
        idle.retain(|open| !open.activity.is_new(now));
        if idle.is_empty() {
            return false;
        }
        let last = wanted.min(idle.len()) - 1;
        idle.select_nth_unstable_by_key(last, |open| open.activity.moved_at());
        for open in &mut idle[..=last] {
            open.leaves = true;
            let activity = &open.activity;
            let is_opening = activity.stage() == ConnectionStage::Opening;
            let drains = !is_opening && !activity.awaits_first();
            open.signals.stop(match drains {
                true => Stop::Drain,
                // A handshake handles no other command, and connections without a request must not
                // hold their places for longer because they are unused.
                false => Stop::Abort,
            });
            add(&self.counters.connections_displaced, 1);
        }
        true
    }
    /// Makes room now or, where all that could give way are new, when they are not any more.
    pub(super) fn make_room_soon(this: &Arc<Self>) {
        if this.make_room() || this.is_retrying.swap(true, Ordering::Relaxed) {
            return;
        }
        let this = Arc::clone(this);
        tokio::task::spawn_local(async move {
            timer::sleep(NEW_CONNECTION_GRACE).await;
            this.is_retrying.store(false, Ordering::Relaxed);
            this.make_room();
        });
    }
    pub(in crate::server) fn stop(&self, how: Stop) {
        for connection in self.all().values() {
            connection.signals.stop(how);
        }
    }
    /// Lists connections, those with exchanges first, then the oldest, and asks each of them for a snapshot; how many are
    /// not listed.
    pub(super) fn inspect(
        &self,
        limits: InspectLimits,
        reply: &mpsc::UnboundedSender<Numbered>,
    ) -> (Vec<Listed>, u64) {
        let open = self.all();
        let mut order: Vec<_> = open.iter().collect();
        order.sort_unstable_by_key(|(number, open)| (open.activity.exchanges() == 0, **number));
        let unlisted = order.len().saturating_sub(limits.connections_max);
        order.truncate(limits.connections_max);
        let listed = order.into_iter().map(|(&number, open)| {
            let stage = open.activity.stage();
            if stage == ConnectionStage::Serving {
                open.signals.inspect(Inspection {
                    number,
                    streams_max: limits.streams_max,
                    reply: reply.clone(),
                });
            }
            Listed {
                number,
                peer: open.peer.map(|peer| SocketAddr::new(peer, open.port)),
                accepted_at: open.activity.accepted_at(),
                stage,
            }
        });
        (listed.collect(), unlisted as u64)
    }
    /// Exchanges that are open.
    pub(super) fn exchanges(&self) -> u64 {
        let open = self.all();
        let exchanges = open.values().map(|open| open.activity.exchanges());
        exchanges.sum()
    }
    pub(super) async fn wait_until_empty(&self, until: Instant) -> bool {
        while self.len() > 0 {
            let closed = timer::timeout_at(until, self.closed.notified());
            if closed.await.is_err() {
                return self.len() == 0;
            }
        }
        true
    }
}

/// A connection's place among the open ones; leaves it on drop.
pub(in crate::server) struct OpenEntry {
    open: Arc<OpenConnections>,
    number: u64,
}

impl OpenEntry {
    /// The way to set its address later.
    pub(in crate::server) fn name(&self) -> EntryName {
        EntryName {
            open: Arc::clone(&self.open),
            number: self.number,
        }
    }
}

/// A connection whose client's address is not known yet.
pub(in crate::server) struct EntryName {
    open: Arc<OpenConnections>,
    number: u64,
}

impl EntryName {
    /// The client is `peer`, and counts from now on; false: it has as many connections as it may.
    pub(in crate::server) fn set(&self, peer: IpAddr) -> bool {
        if !self.open.admits(peer) {
            return false;
        }
        let mut open = self.open.all();
        if let Some(connection) = open.get_mut(&self.number)
            && connection.place.address().is_none()
        {
            connection.peer = Some(peer);
            connection.place.set_address(peer);
            let address = connection.place.address();
            connection.activity.set_address(address);
        }
        true
    }
}

impl Drop for OpenEntry {
    fn drop(&mut self) {
        let left = self.open.all().remove(&self.number);
        if let Some(left) = &left {
            left.activity.charge_bytes(std::time::Instant::now());
        }
        drop(left);
        add(&self.open.counters.connections_closed, 1);
        self.open.closed.notify_one();
    }
}

#[cfg(test)]
#[path = "registry_test.rs"]
mod registry_test;
