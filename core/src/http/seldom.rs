//! Which of the heads that are not the known one are kept in its place. Who says something else each
//! time must not pay for what only helps those who repeat themselves.

/// A head that came again stays while so many others pass.
pub(super) const STAYS: u8 = 8;
/// Where heads differ, at most so many pass before another one is kept in vain: to keep one costs
/// about as much as to decode it, which is then less than a fiftieth more, and who begins to say
/// the same after all waits for so many.
const SKIP_MAX: u8 = 63;

/// The count beside a known head.
#[derive(Debug)]
pub(super) struct Seldom {
    /// So many heads are not kept in place of the known one,
    skip: u8,
    /// and so many in place of the next: more with each that never came again.
    skip_next: u8,
}

impl Seldom {
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
    /// It was kept.
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
