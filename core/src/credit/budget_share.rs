//! The shared memory budget that windows borrow from. Invariant: the sum of all reservations never
//! exceeds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One connection's access to the bytes that windows may borrow beyond their minimum
/// (`Windows::memory_budget`). The budget belongs to all connections of a client or server;
/// [`share`](Self::share) makes another access to it.
///
/// Invariant: what all of them have lent never exceeds the budget. An access that is dropped gives
/// back what it lent: a connection that dies keeps nothing.
#[derive(Debug)]
pub struct BudgetShare {
    budget: Arc<SharedBytes>,
    /// Bytes that this connection has borrowed.
    reserved: u64,
}

#[derive(Debug)]
struct SharedBytes {
    total: u64,
    /// Relaxed: the sum is all that matters, nothing is ordered by it.
    left: AtomicU64,
}

impl BudgetShare {
    /// A budget of `bytes`.
    pub fn new(bytes: u64) -> Self {
        let left = AtomicU64::new(bytes);
        Self {
            budget: Arc::new(SharedBytes { total: bytes, left }),
            reserved: 0,
        }
    }
    /// Another access to the same budget, with nothing lent through it.
    #[must_use]
    pub fn share(&self) -> Self {
        Self {
            budget: Arc::clone(&self.budget),
            reserved: 0,
        }
    }
    /// The budget.
    pub fn total(&self) -> u64 {
        self.budget.total
    }
    /// Bytes lent now, to all borrowers.
    pub fn reserved(&self) -> u64 {
        self.budget.total - self.budget.left.load(Ordering::Relaxed)
    }
    /// Bytes lent to this borrower.
    pub fn reserved_here(&self) -> u64 {
        self.reserved
    }
    /// Bytes that can still be lent.
    pub fn left(&self) -> u64 {
        self.budget.left.load(Ordering::Relaxed)
    }
    /// Takes up to `bytes`; returns what it got, maybe 0.
    #[must_use]
    pub fn reserve(&mut self, bytes: u32) -> u32 {
        let mut reserved = 0;
        let left = &self.budget.left;
        // The closure always gives a value, so the update does not fail.
        let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            reserved = u64::from(bytes).min(left);
            Some(left - reserved)
        });
        self.reserved += reserved;
        reserved as u32
    }
    /// Gives `bytes` back, at most what was lent through this access.
    pub fn give_back(&mut self, bytes: u32) {
        debug_assert!(u64::from(bytes) <= self.reserved);
        let back = u64::from(bytes).min(self.reserved);
        self.reserved -= back;
        self.budget.left.fetch_add(back, Ordering::Relaxed);
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.reserved, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "budget_share_test.rs"]
mod budget_share_test;
