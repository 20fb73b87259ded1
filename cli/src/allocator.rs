//! mimalloc as the global allocator, called without an alignment wherever its own suffices.
//!
//! The `mimalloc` crate requests aligned memory every time: beyond 1 KiB that reserves more than
//! needed (1,792 bytes take a block of 2,048) and takes the slow path, for the release too.

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc,
    mi_zalloc_aligned,
};
use std::alloc::{GlobalAlloc, Layout};

/// The alignment of mimalloc's blocks of at least this size, bytes (its `MI_MAX_ALIGN_SIZE`).
const PLAIN_ALIGN_MAX: usize = 16;

/// Takes memory from the system in its own small pages. mimalloc asks Linux for huge ones, and then a
/// few connections that need one page more cost 2 MiB; what they save was not to be measured.
pub(crate) fn use_small_pages() {
    // A system that has no such switch has nothing to switch off.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
}

/// The allocator of our programs.
pub(crate) struct Mimalloc;

/// Whether a plain block of `size` bytes is aligned to `align`: blocks of 8 bytes are to 8, larger
/// ones to 16.
#[inline(always)]
const fn is_plain(size: usize, align: usize) -> bool {
    align <= PLAIN_ALIGN_MAX && align <= size
}

// SAFETY: each call goes to mimalloc, which gives exclusive blocks of at least the requested size,
// aligned as `is_plain` states or as requested, or null; `mi_free` and `mi_realloc` take blocks of
// either kind. None of them unwinds.
unsafe impl GlobalAlloc for Mimalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: any size may be asked for; `Layout` has a power of two as its alignment.
        unsafe {
            match is_plain(size, align) {
                true => mi_malloc(size).cast(),
                false => mi_malloc_aligned(size, align).cast(),
            }
        }
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: as above.
        unsafe {
            match is_plain(size, align) {
                true => mi_zalloc(size).cast(),
                false => mi_zalloc_aligned(size, align).cast(),
            }
        }
    }
    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, _: Layout) {
        // SAFETY: the caller's promise: `at` came from here.
        unsafe { mi_free(at.cast()) }
    }
    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let align = layout.align();
        // SAFETY: the caller's promise: `at` came from here, with this alignment.
        unsafe {
            match is_plain(size, align) {
                true => mi_realloc(at.cast(), size).cast(),
                false => mi_realloc_aligned(at.cast(), size, align).cast(),
            }
        }
    }
}

#[cfg(test)]
#[path = "allocator_test.rs"]
mod allocator_test;
