//! The open connections of a worker: chooses which to close when all places are taken.

pub(in crate::server) mod places;
pub(in crate::server) mod shedding;

use super::observe::counters::{Counters, add};
use super::observe::inspect::{ConnectionStage, Listed};
use crate::connection_info::traffic::Traffic;
use crate::driver::machine::inspection::{InspectLimits, Inspection, Numbered};
use crate::driver::signals::{Signals, Stop};
use crate::driver::timer;
use places::{ConnectionPlace, ConnectionPlaces};
use shedding::{Shed, Shedder};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use trunkline_core::limits::NEW_CONNECTION_GRACE;

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Allowed {
    /// Of all peers.
    pub(in crate::server) connections: usize,
    /// Of one address; `None`: a quarter of those of all, while connections are scarce.
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
    by_number: RefCell<HashMap<u64, OpenConnection>>,
    next: Cell<u64>,
    pub(in crate::server) places: Arc<ConnectionPlaces>,
    pub(in crate::server) closed: Notify,
    /// A task makes room later.
    is_retrying: Cell<bool>,
    counters: Arc<Counters>,
    shedder: Option<Rc<Shedder>>,
}

struct OpenConnection {
    signals: Arc<Signals>,
    activity: Rc<Activity>,
    /// The client; `None`: of a Unix socket.
    peer: Option<IpAddr>,
    port: u16,
    place: ConnectionPlace,
    /// It was asked to close for a new connection.
    leaves: Cell<bool>,
}

/// A connection's activity, as its owner last reported it.
pub(in crate::server) struct Activity {
    /// Exchanges that are open.
    pub(in crate::server) exchanges: Cell<u64>,
    /// When it was accepted.
    accepted_at: std::time::Instant,
    /// When the last event of an exchange was; where there was none, when it was accepted.
    pub(in crate::server) moved_at: Cell<std::time::Instant>,
    pub(in crate::server) stage: Cell<ConnectionStage>,
    /// It is of HTTP/1.1 and has had no request; it waits for one when it drains.
    pub(in crate::server) awaits_first: Cell<bool>,
    /// The client's address; `None`: of a Unix socket, or not known yet.
    address: Cell<Option<Address>>,
    /// Set with its place among the open connections, where requests may be refused.
    shedder: OnceCell<Rc<Shedder>>,
    /// Where bytes count against addresses: those of this connection, and how many of them have been charged.
    traffic: OnceCell<Traffic>,
    charged_bytes: Cell<u64>,
}

impl Activity {
    /// Of a connection that was accepted now.
    pub(in crate::server) fn new() -> Rc<Self> {
        let now = std::time::Instant::now();
        Rc::new(Self {
            exchanges: Cell::new(0),
            accepted_at: now,
            moved_at: Cell::new(now),
            stage: Cell::new(ConnectionStage::Opening),
            awaits_first: Cell::new(false),
            address: Cell::new(None),
            shedder: OnceCell::new(),
            traffic: OnceCell::new(),
            charged_bytes: Cell::new(0),
        })
    }
    /// Whether a request that has come is to be answered without a handler.
    pub(in crate::server) fn sheds(&self, now: std::time::Instant) -> Option<Shed> {
        self.charge_bytes(now);
        self.shedder.get()?.sheds(self.address.get(), now)
    }
    /// Whether this connection needs counts of its own ([`count_by`](Self::count_by)).
    pub(in crate::server) fn counts_bytes(&self) -> bool {
        (self.shedder.get()).is_some_and(|shedder| shedder.counts_bytes())
    }
    /// Its bytes are counted there from now on.
    pub(in crate::server) fn count_by(&self, traffic: &Traffic) {
        if self.counts_bytes() {
            // It has one transport.
            let _ = self.traffic.set(traffic.clone());
        }
    }
    /// Charges its address with what the connection has moved since the last time.
    pub(in crate::server) fn charge_bytes(&self, now: std::time::Instant) {
        if let Some(traffic) = self.traffic.get()
            && let Some(address) = self.address.get()
            && let Some(shedder) = self.shedder.get()
        {
            let moved = traffic.bytes_read() + traffic.bytes_written();
            let new = moved.saturating_sub(self.charged_bytes.replace(moved));
            if new > 0 {
                shedder.moved(address, new, now);
            }
        }
    }
    /// Whether its first request may lie unread in its socket.
    fn is_new(&self, now: std::time::Instant) -> bool {
        self.moved_at.get() == self.accepted_at && now - self.accepted_at < NEW_CONNECTION_GRACE
    }
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
        shedder: Option<Rc<Shedder>>,
    ) -> Rc<Self> {
        Rc::new(Self {
            by_number: RefCell::default(),
            next: Cell::new(0),
            places: Arc::clone(places),
            closed: Notify::new(),
            is_retrying: Cell::new(false),
            counters: Arc::clone(counters),
            shedder,
        })
    }
    pub(in crate::server) fn len(&self) -> usize {
        self.by_number.borrow().len()
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
        this: &Rc<Self>,
        signals: &Arc<Signals>,
        activity: &Rc<Activity>,
        peer: Option<SocketAddr>,
    ) -> OpenEntry {
        let place = this.take_place(peer.map(|peer| peer.ip()));
        Self::enter_at(this, place, (signals, activity), peer)
    }
    /// As [`enter`](Self::enter), at a place that it has.
    pub(super) fn enter_at(
        this: &Rc<Self>,
        place: ConnectionPlace,
        (signals, activity): (&Arc<Signals>, &Rc<Activity>),
        peer: Option<SocketAddr>,
    ) -> OpenEntry {
        let number = this.next.get();
        this.next.set(number + 1);
        activity.address.set(place.address());
        let connection = OpenConnection {
            signals: Arc::clone(signals),
            activity: Rc::clone(activity),
            peer: peer.map(|peer| peer.ip()),
            port: peer.map_or(0, |peer| peer.port()),
            place,
            leaves: Cell::new(false),
        };
        if let Some(shedder) = &this.shedder {
            // It has one place.
            let _ = activity.shedder.set(Rc::clone(shedder));
        }
        this.by_number.borrow_mut().insert(number, connection);
        OpenEntry {
            open: Rc::clone(this),
            number,
        }
    }
    /// Whether one of them gives its place up, or could: those that have no exchange.
    pub(super) fn can_make_room(&self) -> bool {
        let open = self.by_number.borrow();
        let mut all = open.values();
        all.any(|open| open.leaves.get() || open.activity.exchanges.get() == 0)
    }
    /// A peer waits for a place, and none is free: the connections that have been without an
    /// exchange for longest give theirs up, each as its version lets it. False: all that could are new.
    pub(super) fn make_room(&self) -> bool {
        let open = self.by_number.borrow();
        let leaving = open.values().filter(|open| open.leaves.get()).count();
        let wanted = self
            .places
            .allowed()
            .displaced_at_once()
            .saturating_sub(leaving);
        let is_idle =
            |open: &&OpenConnection| !open.leaves.get() && open.activity.exchanges.get() == 0;
        let mut idle: Vec<_> = open.values().filter(is_idle).collect();
        if wanted == 0 || idle.is_empty() {
            return true;
        }
        let now = std::time::Instant::now();
        idle.retain(|open| !open.activity.is_new(now));
        if idle.is_empty() {
            return false;
        }
        let last = wanted.min(idle.len()) - 1;
        idle.select_nth_unstable_by_key(last, |open| open.activity.moved_at.get());
        for open in &idle[..=last] {
            open.leaves.set(true);
            let activity = &open.activity;
            let is_opening = activity.stage.get() == ConnectionStage::Opening;
            let drains = !is_opening && !activity.awaits_first.get();
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
    pub(super) fn make_room_soon(this: &Rc<Self>) {
        if this.make_room() || this.is_retrying.replace(true) {
            return;
        }
        let this = Rc::clone(this);
        tokio::task::spawn_local(async move {
            timer::sleep(NEW_CONNECTION_GRACE).await;
            this.is_retrying.set(false);
            this.make_room();
        });
    }
    pub(in crate::server) fn stop(&self, how: Stop) {
        for connection in self.by_number.borrow().values() {
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
        let open = self.by_number.borrow();
        let mut order: Vec<_> = open.iter().collect();
        order.sort_unstable_by_key(|(number, open)| (open.activity.exchanges.get() == 0, **number));
        let unlisted = order.len().saturating_sub(limits.connections_max);
        order.truncate(limits.connections_max);
        let listed = order.into_iter().map(|(&number, open)| {
            let stage = open.activity.stage.get();
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
                accepted_at: open.activity.accepted_at,
                stage,
            }
        });
        (listed.collect(), unlisted as u64)
    }
    /// Exchanges that are open.
    pub(super) fn exchanges(&self) -> u64 {
        let open = self.by_number.borrow();
        let exchanges = open.values().map(|open| open.activity.exchanges.get());
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
    open: Rc<OpenConnections>,
    number: u64,
}

impl OpenEntry {
    /// The way to set its address later.
    pub(in crate::server) fn name(&self) -> EntryName {
        EntryName {
            open: Rc::clone(&self.open),
            number: self.number,
        }
    }
}

/// A connection whose client's address is not known yet.
pub(in crate::server) struct EntryName {
    open: Rc<OpenConnections>,
    number: u64,
}

impl EntryName {
    /// The client is `peer`, and counts from now on; false: it has as many connections as it may.
    pub(in crate::server) fn set(&self, peer: IpAddr) -> bool {
        if !self.open.admits(peer) {
            return false;
        }
        let mut open = self.open.by_number.borrow_mut();
        if let Some(connection) = open.get_mut(&self.number)
            && connection.place.address().is_none()
        {
            connection.peer = Some(peer);
            connection.place.set_address(peer);
            let address = connection.place.address();
            connection.activity.address.set(address);
        }
        true
    }
}

impl Drop for OpenEntry {
    fn drop(&mut self) {
        let left = self.open.by_number.borrow_mut().remove(&self.number);
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
