//! libuv's loop, by the symbols that Node.js exports: waking it from another thread, and, on Linux,
//! its watch over a descriptor and its timers.

use std::ffi::{c_int, c_void};

/// A handle of a kind and size that libuv knows.
pub(crate) type Handle = c_void;

/// `UV_ASYNC` of libuv's `uv_handle_type`.
const UV_ASYNC: c_int = 1;

mod functions;
#[cfg(windows)]
pub(super) use functions::find;
use functions::{
    uv_async_init, uv_async_send, uv_close, uv_handle_get_data, uv_handle_set_data, uv_handle_size,
    uv_ref, uv_unref,
};

#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
pub(crate) use watch::{Poll, Timer};

/// Memory of a handle's `kind`. libuv says how large it is; `u128` is aligned for everything in it.
/// Given back by [`give_back`] with the same words.
fn place(kind: c_int) -> (*mut Handle, usize) {
    // SAFETY: it reads a table of libuv's.
    let words = unsafe { uv_handle_size(kind) }.div_ceil(size_of::<u128>());
    let handle = Box::into_raw(vec![0_u128; words].into_boxed_slice());
    (handle.cast(), words)
}

/// # Safety
/// From [`place`] with these words, and libuv does not use it (any more).
unsafe fn give_back(handle: *mut Handle, words: usize) {
    let words = std::ptr::slice_from_raw_parts_mut(handle.cast::<u128>(), words);
    // SAFETY: by the caller's promise.
    drop(unsafe { Box::from_raw(words) });
}

/// Wakes a loop. It lies still in memory from `new` until libuv has closed it.
pub(crate) struct LoopWaker {
    handle: *mut Handle,
    words: usize,
}

// SAFETY: `uv_async_send`, the only call from other threads, is allowed from any thread.
unsafe impl Send for LoopWaker {}
// SAFETY: as above; everything else is called on the loop's thread.
unsafe impl Sync for LoopWaker {}

impl LoopWaker {
    /// A wake-up handle of `uv_loop`, unref'd; `on_wake` runs on the loop's thread.
    ///
    /// # Safety
    /// On the thread of `uv_loop`; `data` stays valid until `close` calls back.
    pub(crate) unsafe fn new(
        uv_loop: *mut c_void,
        on_wake: unsafe extern "C" fn(*mut Handle),
        data: *mut c_void,
    ) -> Option<Self> {
        let (handle, words) = place(UV_ASYNC);
        let waker = Self { handle, words };
        // SAFETY: by the caller's promise; the place is as large as libuv says.
        unsafe {
            if uv_async_init(uv_loop, handle, on_wake) != 0 {
                waker.free();
                return None;
            }
            uv_handle_set_data(handle, data);
            uv_unref(handle);
            Some(waker)
        }
    }
    /// Wakes the loop, from any thread.
    pub(crate) fn wake(&self) {
        // SAFETY: the handle is open: it is closed after the last thread that wakes it was joined.
        unsafe { uv_async_send(self.handle) };
    }
    /// Whether it keeps the loop alive (`uv_ref`). On the loop's thread.
    pub(crate) fn set_ref(&self, keeps_alive: bool) {
        // SAFETY: the handle is open and this is its loop's thread.
        unsafe {
            match keeps_alive {
                true => uv_ref(self.handle),
                false => uv_unref(self.handle),
            }
        }
    }
    /// Closes it; `closed` gets the handle when libuv is done with it. On the loop's thread.
    pub(crate) fn close(&self, closed: unsafe extern "C" fn(*mut Handle)) {
        // SAFETY: the handle is open and this is its loop's thread.
        unsafe { uv_close(self.handle, Some(closed)) };
    }
    /// Gives its memory back.
    ///
    /// # Safety
    /// libuv has closed it, or never opened it; no thread wakes it any more.
    pub(crate) unsafe fn free(&self) {
        // SAFETY: made by `new` with these words; freed once, by the caller's promise.
        unsafe { give_back(self.handle, self.words) };
    }
}

/// The `data` that was given to [`LoopWaker::new`].
///
/// # Safety
/// `handle` is a waker's.
pub(crate) unsafe fn data(handle: *const Handle) -> *mut c_void {
    // SAFETY: by the caller's promise.
    unsafe { uv_handle_get_data(handle) }
}
