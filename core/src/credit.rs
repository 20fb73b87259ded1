//! The one ledger. [`Credit`] is what we grant a peer to send or open; [`Quota`] is what the peer
//! grants us. Bytes and streams, HTTP/2 and HTTP/3 alike; nowhere else is credit accounted.
//!
//! Invariants: `freed <= used <= limit`; a grant is never zero, never negative, never moves a
//! window above 2^31-1; credit is withheld to shrink, never revoked.

use std::time::{Duration, Instant};

/// RFC 9113 section 6.9.1: no flow-control window exceeds this.
pub const WINDOW_MAX: u32 = (1 << 31) - 1;

/// The peer used more than it was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded;

/// A grant or a settings change moved a window above [`WINDOW_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// The receiver's side of one window: bytes of a stream or a connection.
#[derive(Clone, Debug)]
pub struct Credit {
    limit: u64,
    used: u64,
    freed: u64,
}

/// Bytes that windows may borrow beyond their minimum, shared by the connections of one client
/// or server (`Windows::memory_budget`).
#[derive(Clone, Debug)]
pub struct Lender {
    left: u64,
}

/// The sender's side: what the peer still lets us use. May be negative after the peer shrinks
/// its window (RFC 9113 section 6.9.2).
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    available: i64,
}

impl Credit {
    /// A window of `window` bytes already granted, that may grow to `max`.
    pub fn new(window: u32, max: u32, now: Instant) -> Self {
        let _ = (max, now);
        Self {
            limit: u64::from(window),
            used: 0,
            freed: 0,
        }
    }
    /// The peer used `bytes`.
    pub fn spend(&mut self, bytes: u32, now: Instant) -> Result<(), Exceeded> {
        let _ = (bytes, now);
        todo!()
    }
    /// The application consumed `bytes`, or they were discarded (padding, closed stream).
    pub fn refund(&mut self, bytes: u32) {
        self.freed += u64::from(bytes);
        todo!()
    }
    /// The increment to announce now, if one is due: at most one per quantum. `rtt` is the
    /// path's estimate, `writing` says that a write goes out anyway.
    pub fn grant(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        writing: bool,
        lender: &mut Lender,
    ) -> Option<u32> {
        let _ = (now, rtt, writing, lender, self.limit, self.used);
        todo!()
    }
}

impl Quota {
    /// What the peer grants at the start.
    pub fn new(initial: u32) -> Self {
        Self {
            available: i64::from(initial),
        }
    }
    /// What may be used now; 0 when the window is negative.
    pub fn available(&self) -> u32 {
        self.available.clamp(0, i64::from(WINDOW_MAX)) as u32
    }
    /// The peer grants `bytes` more.
    pub fn grant(&mut self, bytes: u32) -> Result<(), Overflow> {
        let _ = bytes;
        todo!()
    }
    /// We use `bytes`, at most [`available`](Self::available).
    pub fn spend(&mut self, bytes: u32) {
        let _ = bytes;
        todo!()
    }
    /// The peer changed its initial window by `delta` (RFC 9113 section 6.9.2).
    pub fn adjust(&mut self, delta: i64) -> Result<(), Overflow> {
        let _ = delta;
        todo!()
    }
}

impl Lender {
    /// A budget of `bytes`.
    pub fn new(bytes: u64) -> Self {
        Self { left: bytes }
    }
    /// Takes up to `bytes`; returns what it got, maybe 0.
    pub fn lease(&mut self, bytes: u32) -> u32 {
        let _ = (bytes, self.left);
        todo!()
    }
    /// Gives `bytes` back.
    pub fn give_back(&mut self, bytes: u32) {
        let _ = bytes;
        todo!()
    }
}
