//! The bytes or streams that a peer lets us use.

use super::WINDOW_MAX;

/// A grant or a settings change moved a window above [`WINDOW_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// The sender's side: what the peer still lets us use. May be negative after the peer shrinks
/// its window (RFC 9113 section 6.9.2).
///
/// It counts in two ways. A window of bytes only ever runs forward: [`grant`](Self::grant),
/// [`adjust`](Self::adjust), [`spend`](Self::spend). A level, the concurrent streams of HTTP/2,
/// goes up and down: [`set_limit`](Self::set_limit), [`spend`](Self::spend),
/// [`refund`](Self::refund).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    limit: i64,
    used: i64,
}

impl Quota {
    /// A quota with the peer's initial grant.
    pub fn new(initial: u32) -> Self {
        Self {
            limit: i64::from(initial),
            used: 0,
        }
    }
    /// The usable part now; 0 when the window is negative.
    pub fn available(&self) -> u32 {
        self.balance().clamp(0, i64::from(u32::MAX)) as u32
    }
    /// As [`available`](Self::available), with its sign.
    pub fn balance(&self) -> i64 {
        self.limit.saturating_sub(self.used)
    }
    /// The used part: since the start of a window, or at the moment of a level.
    pub fn used(&self) -> u64 {
        self.used.unsigned_abs()
    }
    /// The peer grants `bytes` more.
    ///
    /// # Errors
    /// [`Overflow`] when the quota would exceed 2^31-1; it is unchanged then.
    pub fn grant(&mut self, bytes: u32) -> Result<(), Overflow> {
        self.adjust(i64::from(bytes))
    }
    /// We use `bytes`, at most [`available`](Self::available).
    pub fn spend(&mut self, bytes: u32) {
        debug_assert!(bytes <= self.available());
        self.used = self.used.saturating_add(i64::from(bytes));
    }
    /// A level: what was used is not any more.
    pub fn refund(&mut self, count: u32) {
        self.used = self.used.saturating_sub(i64::from(count)).max(0);
    }
    /// The peer changed its initial window by `delta` (RFC 9113 section 6.9.2). An overflow
    /// changes nothing.
    ///
    /// # Errors
    /// [`Overflow`] when the quota would exceed 2^31-1.
    pub fn adjust(&mut self, delta: i64) -> Result<(), Overflow> {
        if self.balance().saturating_add(delta) > i64::from(WINDOW_MAX) {
            return Err(Overflow);
        }
        self.limit = self.limit.saturating_add(delta);
        Ok(())
    }
    /// A level: the peer lets us use `limit` at a time, which may be less than we use.
    pub fn set_limit(&mut self, limit: u32) {
        self.limit = i64::from(limit);
    }
}

#[cfg(test)]
#[path = "quota_test.rs"]
mod quota_test;
