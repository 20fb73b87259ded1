//! Bandwidth-delay products of a path, as earlier connections measured them, for the start of later
//! ones.

use super::WindowedMax;
use std::time::{Duration, Instant};

/// How long a connection goes by what an earlier one has shown: as long as by what it has seen
/// itself ([`WindowedMax`]).
const REMEMBERED: Duration = Duration::from_secs(64);

/// The receive windows that a path has shown to need, in bytes: to this connection, and to an
/// earlier one to the same origin. No round trip is passed on: the transport measures its own
/// before anything can grow, and that of another path, if it was shorter, would hold growth down
/// for as long as the connection lasts.
#[derive(Clone, Copy, Debug)]
pub struct BdpHistory {
    seen: WindowedMax,
    remembered: u32,
    until: Instant,
}

impl BdpHistory {
    /// A history without a measurement.
    pub fn new(now: Instant) -> Self {
        Self {
            seen: WindowedMax::new(now),
            remembered: 0,
            until: now,
        }
    }
    /// A window that was needed here and now.
    pub fn note(&mut self, now: Instant, need: u32) {
        self.seen.note(now, need);
    }
    /// The largest window that was needed here in the last minute; 0: nothing was seen. What is
    /// only remembered is not passed on as seen.
    pub fn seen(&self, now: Instant) -> u32 {
        self.seen.get(now)
    }
    /// Takes over the value that an earlier connection has [`seen`](Self::seen).
    pub fn remember(&mut self, now: Instant, need: u32) {
        self.remembered = need;
        self.until = now + REMEMBERED;
    }
    /// The window to begin with; 0: nothing is known.
    pub fn need(&self, now: Instant) -> u32 {
        let remembered = if now < self.until { self.remembered } else { 0 };
        self.seen(now).max(remembered)
    }
}

#[cfg(test)]
#[path = "bdp_history_test.rs"]
mod bdp_history_test;
