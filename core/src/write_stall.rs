//! The time for which a transport may take too little of what waits on a connection of HTTP/1.1 or HTTP/2.
//!
//! The peer has [`Timeouts::write_stall`] to take the least amount, and [`Timeouts::scarce_stall`] where connections
//! or the send budget are scarce. The amount is the same for both: what [`Timeouts::rate_min`] gives in the shorter time.
//! So a reader may pause, and a drip of bytes gains nothing.

use crate::error::Violation;
use crate::http::Side;
use crate::limits::Timeouts;
use std::time::Duration;

/// The bytes that the peer has taken, and the looks that found too little. Counts are modulo 2^32: less moves between two looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteStall {
    written_then: u32,
    looks: u32,
}

/// The facts about the connection whose bytes wait.
pub(crate) struct Waiting<'a> {
    pub(crate) side: Side,
    pub(crate) timeouts: &'a Timeouts,
    /// Bytes that the transport has taken so far.
    pub(crate) written: u64,
}

impl Waiting<'_> {
    /// The time from one look to the next; `None`: there is no bound.
    pub(crate) fn look(&self) -> Option<Duration> {
        let stall = self.timeouts.write_stall?;
        Some(self.timeouts.shortest_stall(stall))
    }
    /// The fewest bytes between two looks that are progress. A client's server may be slow: one byte is enough.
    fn least(&self) -> u64 {
        let least = match (self.side, self.look()) {
            (Side::Server, Some(look)) => self.timeouts.least_bytes(look),
            _ => 0,
        };
        least.max(1)
    }
}

impl WriteStall {
    /// Bytes wait from now on.
    pub(crate) fn start(&mut self, written: u64) {
        self.written_then = written as u32;
        self.looks = 0;
    }
    fn taken(&self, written: u64) -> u64 {
        u64::from((written as u32).wrapping_sub(self.written_then))
    }
    /// Whether enough was taken since the start: the time begins anew.
    pub(crate) fn has_progress(&self, waiting: &Waiting<'_>) -> bool {
        self.taken(waiting.written) >= waiting.least()
    }
    /// The time of a look came, and too little was taken: the time to the next one. `is_scarce`: connections or the send
    /// budget are.
    ///
    /// # Errors
    /// The peer's time is up.
    pub(crate) fn look(
        &mut self,
        waiting: &Waiting<'_>,
        is_scarce: bool,
    ) -> Result<Option<Duration>, Violation> {
        self.looks = self.looks.saturating_add(1);
        let next = waiting.look();
        let waited = next.map(|look| look.saturating_mul(self.looks));
        let is_over = is_scarce || waited >= waiting.timeouts.write_stall;
        match (is_over, self.taken(waiting.written)) {
            (false, _) => Ok(next),
            (true, 0) => Err(Violation::WriteStalled),
            (true, _) => Err(Violation::RateTooLow),
        }
    }
}

#[cfg(test)]
#[path = "write_stall_test.rs"]
mod write_stall_test;
