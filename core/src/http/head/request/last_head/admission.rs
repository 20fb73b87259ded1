//! Admission policy of the head cache: a peer whose heads never repeat must not pay for caching.

/// A head that came again stays for this many other heads.
pub(super) const STAYS: u8 = 8;
/// The most misses between two replacements of an entry that was never used: caching costs about as
/// much as decoding, so this adds less than a fiftieth; a peer that begins to repeat itself waits
/// for this many heads.
const SKIP_MAX: u8 = 63;

/// The count beside a known head.
#[derive(Debug)]
pub(super) struct Admission {
    /// Misses left before the entry may be replaced.
    skip: u8,
    /// Misses required next time; doubles each time an entry is replaced unused.
    skip_next: u8,
}

impl Admission {
    /// Beside the first.
    pub(super) fn new() -> Self {
        Self {
            skip: 0,
            skip_next: 1,
        }
    }
    /// Another head came: whether to keep it. To be asked once for each.
    #[inline]
    pub(super) fn is_due(&mut self) -> bool {
        let fewer = self.skip.checked_sub(1);
        self.skip = fewer.unwrap_or_default();
        fewer.is_none()
    }
    /// Notes that a head was kept.
    pub(super) fn note_kept(&mut self) {
        self.skip = self.skip_next;
        self.skip_next = (self.skip_next * 2 + 1).min(SKIP_MAX);
    }
    /// The known one came again.
    #[inline]
    pub(super) fn note_again(&mut self) {
        self.skip = STAYS;
        self.skip_next = 0;
    }
}
