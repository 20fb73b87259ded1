//! A connection's activity, as its task reports it to the worker that listed it: the two may run on different threads.
//! Values stand alone, so that their order in memory does not matter.

use super::shedding::{Shed, Shedder};
use super::{Address, NEW_CONNECTION_GRACE};
use crate::connection_info::traffic::Traffic;
use crate::server::observe::inspect::ConnectionStage;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A connection's activity, as its owner last reported it.
pub(in crate::server) struct Activity {
    exchanges: AtomicU64,
    accepted_at: Instant,
    /// Nanoseconds behind `accepted_at`; 0: nothing has moved.
    moved_after: AtomicU64,
    /// One of [`STAGES`], by its index.
    stage: AtomicU8,
    awaits_first: AtomicBool,
    /// The client's address; `None`: of a Unix socket, or not known yet.
    address: Mutex<Option<Address>>,
    /// Set with its place among the open connections, where requests may be refused.
    shedder: OnceLock<Arc<Shedder>>,
    /// Where bytes count against addresses: those of this connection, and how many of them have been charged.
    traffic: OnceLock<Traffic>,
    charged_bytes: AtomicU64,
}

const STAGES: [ConnectionStage; 4] = [
    ConnectionStage::Opening,
    ConnectionStage::Serving,
    ConnectionStage::Tunnel,
    ConnectionStage::Closing,
];

impl Activity {
    /// The activity of a connection that was accepted now.
    pub(in crate::server) fn new() -> Arc<Self> {
        Arc::new(Self {
            exchanges: AtomicU64::new(0),
            accepted_at: Instant::now(),
            moved_after: AtomicU64::new(0),
            stage: AtomicU8::new(0),
            awaits_first: AtomicBool::new(false),
            address: Mutex::new(None),
            shedder: OnceLock::new(),
            traffic: OnceLock::new(),
            charged_bytes: AtomicU64::new(0),
        })
    }
    /// Exchanges that are open.
    pub(in crate::server) fn exchanges(&self) -> u64 {
        self.exchanges.load(Ordering::Relaxed)
    }
    pub(in crate::server) fn set_exchanges(&self, exchanges: u64) {
        self.exchanges.store(exchanges, Ordering::Relaxed);
    }
    /// When it was accepted.
    pub(super) fn accepted_at(&self) -> Instant {
        self.accepted_at
    }
    /// When the last event of an exchange was; where there was none, when it was accepted.
    pub(super) fn moved_at(&self) -> Instant {
        self.accepted_at + Duration::from_nanos(self.moved_after.load(Ordering::Relaxed))
    }
    pub(in crate::server) fn set_moved_at(&self, now: Instant) {
        let after = now.saturating_duration_since(self.accepted_at).as_nanos();
        // A connection lives for less than five centuries.
        self.moved_after
            .store((after as u64).max(1), Ordering::Relaxed);
    }
    /// How far it is.
    pub(super) fn stage(&self) -> ConnectionStage {
        let index = usize::from(self.stage.load(Ordering::Relaxed));
        *STAGES.get(index).unwrap_or(&ConnectionStage::Closing)
    }
    pub(in crate::server) fn set_stage(&self, stage: ConnectionStage) {
        let index = STAGES.iter().position(|&it| it == stage).unwrap_or(0);
        self.stage.store(index as u8, Ordering::Relaxed);
    }
    /// Whether it is of HTTP/1.1 and has had no request; it waits for one when it drains.
    pub(super) fn awaits_first(&self) -> bool {
        self.awaits_first.load(Ordering::Relaxed)
    }
    pub(in crate::server) fn set_awaits_first(&self, awaits: bool) {
        self.awaits_first.store(awaits, Ordering::Relaxed);
    }
    fn address(&self) -> Option<Address> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(super) fn set_address(&self, address: Option<Address>) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }
    /// Has requests of the connection refused by `shedder`.
    pub(super) fn shed_by(&self, shedder: &Arc<Shedder>) {
        // It has one place.
        let _ = self.shedder.set(Arc::clone(shedder));
    }
    /// Whether a request that has come is to be answered without a handler.
    pub(in crate::server) fn sheds(&self, now: Instant) -> Option<Shed> {
        let shedder = self.shedder.get()?;
        self.charge_bytes(now);
        shedder.sheds(self.address(), now)
    }
    /// Whether this connection needs counts of its own ([`count_by`](Self::count_by)).
    pub(in crate::server) fn counts_bytes(&self) -> bool {
        (self.shedder.get()).is_some_and(|shedder| shedder.counts_bytes())
    }
    /// Has the bytes of the connection counted there from now on.
    pub(in crate::server) fn count_by(&self, traffic: &Traffic) {
        if self.counts_bytes() {
            // It has one transport.
            let _ = self.traffic.set(traffic.clone());
        }
    }
    /// Charges its address with what the connection has moved since the last time.
    pub(in crate::server) fn charge_bytes(&self, now: Instant) {
        if let Some(traffic) = self.traffic.get()
            && let Some(address) = self.address()
            && let Some(shedder) = self.shedder.get()
        {
            let moved = traffic.bytes_read() + traffic.bytes_written();
            let charged = self.charged_bytes.swap(moved, Ordering::Relaxed);
            let new = moved.saturating_sub(charged);
            if new > 0 {
                shedder.moved(address, new, now);
            }
        }
    }
    /// Whether its first request may lie unread in its socket.
    pub(super) fn is_new(&self, now: Instant) -> bool {
        let has_moved = self.moved_after.load(Ordering::Relaxed) > 0;
        !has_moved && now.saturating_duration_since(self.accepted_at) < NEW_CONNECTION_GRACE
    }
}
