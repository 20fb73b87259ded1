//! The bytes or streams that a peer lets us use.

use super::WINDOW_MAX;

/// A grant or a settings change moved a window above [`WINDOW_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// The sender's side: what the peer still lets us use. May be negative after the peer shrinks
/// its window (RFC 9113 section 6.9.2).
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
    /// The bytes used since the start of the window.
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
}

#[cfg(test)]
#[path = "quota_test.rs"]
mod quota_test;
