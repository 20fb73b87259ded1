//! The memory of the rings, which JavaScript sees as `ArrayBuffer`s, and its sizes.

use std::alloc::{self, GlobalAlloc, Layout, System};

/// Entries of each ring, a power of two.
pub(crate) const ENTRIES: u32 = 4096;
/// Bytes of each arena, a power of two: 64 bodies of the largest size that goes through it.
pub(crate) const ARENA_BYTES: u32 = 1 << 20;

/// Bytes that both sides reach by address.
pub(crate) struct Area {
    start: *mut u8,
    words: usize,
}

// SAFETY: which bytes are whose is settled by the rings' positions, stored with release and read
// with acquire order.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

impl Area {
    /// Zeroed memory of the system's allocator, which is the process's only where it is touched: mimalloc asks Linux for huge
    /// pages, and the first bytes of an arena would take 2 MiB.
    pub(crate) fn new(bytes: usize) -> Self {
        let words = bytes / size_of::<u64>();
        let layout = Self::layout(words);
        // SAFETY: no area is of no bytes.
        let start = unsafe { System.alloc_zeroed(layout) };
        if start.is_null() {
            alloc::handle_alloc_error(layout);
        }
        Self { start, words }
    }
    fn layout(words: usize) -> Layout {
        Layout::array::<u64>(words).expect("an area has at most a few MiB")
    }
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }
    pub(crate) fn len(&self) -> usize {
        self.words * size_of::<u64>()
    }
    /// # Safety
    /// The range lies inside and is the caller's turn.
    pub(crate) unsafe fn bytes(&self, at: usize, length: usize) -> &[u8] {
        debug_assert!(at + length <= self.len());
        // SAFETY: by the caller's promise.
        unsafe { std::slice::from_raw_parts(self.start.add(at), length) }
    }
    /// # Safety
    /// The range lies inside and is the caller's turn.
    pub(crate) unsafe fn write(&self, at: usize, bytes: &[u8]) {
        debug_assert!(at + bytes.len() <= self.len());
        // SAFETY: by the caller's promise; a slice of ours never overlaps it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), bytes.len()) };
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: made by `new` with this layout.
        unsafe { System.dealloc(self.start, Self::layout(self.words)) };
    }
}
