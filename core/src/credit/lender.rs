//! The one budget that windows borrow from.

/// Bytes that windows may borrow beyond their minimum, shared by the connections of one client
/// or server (`Windows::memory_budget`). Invariant: what is lent never exceeds the budget.
#[derive(Clone, Debug)]
pub struct Lender {
    total: u64,
    left: u64,
}

impl Lender {
    /// A budget of `bytes`.
    pub fn new(bytes: u64) -> Self {
        Self {
            total: bytes,
            left: bytes,
        }
    }
    /// The budget.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// What is lent now.
    pub fn lent(&self) -> u64 {
        self.total - self.left
    }
    /// Takes up to `bytes`; returns what it got, maybe 0.
    #[must_use]
    pub fn lease(&mut self, bytes: u32) -> u32 {
        let lent = u64::from(bytes).min(self.left) as u32;
        self.left -= u64::from(lent);
        lent
    }
    /// Gives `bytes` back.
    pub fn give_back(&mut self, bytes: u32) {
        debug_assert!(u64::from(bytes) <= self.lent());
        self.left = self.left.saturating_add(u64::from(bytes)).min(self.total);
    }
}

#[cfg(test)]
#[path = "lender_test.rs"]
mod lender_test;
