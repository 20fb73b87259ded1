//! The rings' memory under loom: real bytes, and beside each of them a cell by which loom detects
//! unordered access of two threads.

use loom::cell::UnsafeCell;

pub(crate) const ENTRIES: u32 = 2;
pub(crate) const ARENA_BYTES: u32 = 16;

pub(crate) struct Area {
    bytes: std::cell::UnsafeCell<Box<[u64]>>,
    cells: Vec<UnsafeCell<()>>,
}

// SAFETY: loom runs one thread at a time, and its cells panic where two could meet.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

impl Area {
    pub(crate) fn new(bytes: usize) -> Self {
        let words = bytes / size_of::<u64>();
        Self {
            bytes: std::cell::UnsafeCell::new(vec![0; words].into()),
            cells: (0..bytes).map(|_| UnsafeCell::new(())).collect(),
        }
    }
    pub(crate) fn start(&self) -> *mut u8 {
        // SAFETY: the box itself is never replaced.
        unsafe { (*self.bytes.get()).as_mut_ptr().cast() }
    }
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }
    /// # Safety
    /// The range lies inside.
    pub(crate) unsafe fn bytes(&self, at: usize, length: usize) -> &[u8] {
        assert!(at + length <= self.len());
        for cell in self.cells_of(at, length) {
            cell.with(|_| ());
        }
        // SAFETY: it lies inside, and no thread writes it now.
        unsafe { std::slice::from_raw_parts(self.start().add(at), length) }
    }
    /// # Safety
    /// The range lies inside.
    pub(crate) unsafe fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.len());
        for cell in self.cells_of(at, bytes.len()) {
            cell.with_mut(|_| ());
        }
        // SAFETY: it lies inside, and no thread reads it now.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start().add(at), bytes.len()) };
    }
    fn cells_of(&self, at: usize, length: usize) -> &[UnsafeCell<()>] {
        &self.cells[at..at + length]
    }
}
