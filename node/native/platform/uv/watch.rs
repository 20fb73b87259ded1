//! A loop's watch over one descriptor, and a timer of it. Neither keeps the loop alive.

use super::{Handle, give_back, place, uv_close, uv_handle_get_data, uv_handle_set_data, uv_unref};
use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

/// `UV_POLL` and `UV_TIMER` of libuv's `uv_handle_type`.
const UV_POLL: c_int = 8;
const UV_TIMER: c_int = 13;
/// Flags of libuv's `uv_poll_event`.
const UV_READABLE: c_int = 1;

unsafe extern "C" {
    fn uv_poll_init(uv_loop: *mut c_void, handle: *mut Handle, descriptor: c_int) -> c_int;
    fn uv_poll_start(
        handle: *mut Handle,
        events: c_int,
        callback: unsafe extern "C" fn(*mut Handle, c_int, c_int),
    ) -> c_int;
    fn uv_timer_init(uv_loop: *mut c_void, handle: *mut Handle) -> c_int;
    fn uv_timer_start(
        handle: *mut Handle,
        callback: unsafe extern "C" fn(*mut Handle),
        timeout_ms: u64,
        repeat_ms: u64,
    ) -> c_int;
}

/// A handle whose memory is given back once libuv has closed it. On the thread of its loop.
struct Own {
    handle: *mut Handle,
}

/// Gives the memory of a closed handle back; its data is the number of words, which `close` put
/// there.
unsafe extern "C" fn closed(handle: *mut Handle) {
    // SAFETY: libuv has closed it, and it came from `place` with these words.
    unsafe { give_back(handle, uv_handle_get_data(handle) as usize) };
}

impl Own {
    /// `init`: libuv's, which fails with a number that is not 0.
    fn new(
        kind: c_int,
        data: *mut c_void,
        init: impl FnOnce(*mut Handle) -> c_int,
    ) -> Option<Self> {
        let (handle, words) = place(kind);
        if init(handle) != 0 {
            // SAFETY: libuv has not taken it.
            unsafe { give_back(handle, words) };
            return None;
        }
        // SAFETY: the handle is open, and this is its loop's thread.
        unsafe {
            uv_handle_set_data(handle, data);
            uv_unref(handle);
        }
        Some(Self { handle })
    }
    fn close(self, kind: c_int) {
        // SAFETY: the handle is open, and this is its loop's thread; no callback of it follows but
        // `closed`, which finds the words of its memory in place of its data.
        unsafe {
            let words = super::uv_handle_size(kind).div_ceil(size_of::<u128>());
            uv_handle_set_data(self.handle, words as *mut c_void);
            uv_close(self.handle, Some(closed));
        }
    }
}

/// A watch over a descriptor.
pub(crate) struct Poll(Own);

impl Poll {
    /// Calls `ready`, whose handle's data is `data`, in each turn of the loop in which the descriptor
    /// is readable.
    ///
    /// # Safety
    /// On the thread of `uv_loop`; `data` stays valid, and the descriptor open, until `close`.
    pub(crate) unsafe fn new(
        uv_loop: *mut c_void,
        descriptor: RawFd,
        ready: unsafe extern "C" fn(*mut Handle, c_int, c_int),
        data: *mut c_void,
    ) -> Option<Self> {
        // SAFETY: by the caller's promise; the handle is a place for this kind.
        let init = |handle| unsafe { uv_poll_init(uv_loop, handle, descriptor) };
        let own = Own::new(UV_POLL, data, init)?;
        // SAFETY: as above.
        if unsafe { uv_poll_start(own.handle, UV_READABLE, ready) } != 0 {
            own.close(UV_POLL);
            return None;
        }
        Some(Self(own))
    }
    /// Ends it; `ready` is not called any more.
    pub(crate) fn close(self) {
        self.0.close(UV_POLL);
    }
}

/// A timer.
pub(crate) struct Timer(Own);

impl Timer {
    /// # Safety
    /// On the thread of `uv_loop`; `data` stays valid until `close`.
    pub(crate) unsafe fn new(uv_loop: *mut c_void, data: *mut c_void) -> Option<Self> {
        // SAFETY: by the caller's promise; the handle is a place for this kind.
        let init = |handle| unsafe { uv_timer_init(uv_loop, handle) };
        Own::new(UV_TIMER, data, init).map(Self)
    }
    /// Calls `due`, whose handle's data is that of `new`, once after `ms`, in place of an earlier
    /// start.
    pub(crate) fn start(&self, ms: u64, due: unsafe extern "C" fn(*mut Handle)) {
        // SAFETY: the handle is open, and this is its loop's thread. It refuses closing handles alone.
        unsafe { uv_timer_start(self.0.handle, due, ms, 0) };
    }
    /// Ends it; nothing of it is called any more.
    pub(crate) fn close(self) {
        self.0.close(UV_TIMER);
    }
}
