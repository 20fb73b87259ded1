//! Bodies that the engine reads where JavaScript has them. JavaScript keeps the bytes alive, in place
//! and unchanged until they are returned: nothing is copied, and whoever waits to write into them
//! again hears when that is allowed.

use crate::environment::Shared;
use crate::exchange::Kind;
use bytes::Bytes;
use std::sync::{Arc, Weak};

/// Bytes of JavaScript's. Dropping it returns them.
pub(crate) struct Loan {
    start: *const u8,
    length: usize,
    /// JavaScript's number of it.
    number: u32,
    shared: Weak<Shared>,
}

// SAFETY: the bytes are only read, and by the promise given to `of` they stay while it lives.
unsafe impl Send for Loan {}
// SAFETY: as above.
unsafe impl Sync for Loan {}

impl Loan {
    /// # Safety
    /// `length` bytes from `start` on stay in place and allocated until [`Kind::Returned`] has been
    /// told for `number`, or the engine's thread is joined.
    pub(crate) unsafe fn of(
        shared: &Arc<Shared>,
        number: u32,
        start: *const u8,
        length: usize,
    ) -> Bytes {
        Bytes::from_owner(Self {
            start,
            length,
            number,
            shared: Arc::downgrade(shared),
        })
    }
}

impl AsRef<[u8]> for Loan {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: by the promise given to `of`.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            let entry = [Kind::Returned as u32, self.number, 0, 0, 0, 0, 0, 0];
            shared.complete(entry, &[], &[]);
        }
    }
}
