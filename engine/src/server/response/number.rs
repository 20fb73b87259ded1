//! Process-unique numbers for response heads. Each thread takes them in blocks, so that threads do
//! not contend for the shared counter.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use trunkline_core::http::ResponseHead;

/// Numbers a thread takes at once.
const BLOCK: u64 = 1 << 20;

/// The start of the next block. 0 is not used; the numbers last for five hundred years at a
/// thousand fresh heads per microsecond.
static NEXT_BLOCK: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The next number, and how many of its block are left.
    static NEXT: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Gives `head`, which came again and may many times more, a number if it has none.
pub(in crate::server) fn number(head: &mut ResponseHead) {
    if head.number().is_none()
        && let Some(number) = fresh_number()
    {
        head.set_number(number);
    }
}

/// A number that no head has.
fn fresh_number() -> Option<NonZeroU64> {
    let (number, left) = match NEXT.get() {
        // Relaxed: the numbers order nothing.
        (_, 0) => (NEXT_BLOCK.fetch_add(BLOCK, Ordering::Relaxed), BLOCK),
        taken => taken,
    };
    NEXT.set((number.wrapping_add(1), left - 1));
    NonZeroU64::new(number)
}

#[cfg(test)]
#[path = "number_test.rs"]
mod number_test;
