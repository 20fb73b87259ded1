//! libuv's functions, as libuv declares them.

use super::Handle;
use std::ffi::{c_int, c_void};

/// Declares functions; on Windows as calls through a table that `find` fills from the program of the process.
macro_rules! of_the_process {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)?;)+) => {
        #[cfg(not(windows))]
        unsafe extern "C" {
            $(pub(super) fn $name($($argument: $kind),*) $(-> $result)?;)+
        }

        #[cfg(windows)]
        struct Functions {
            $($name: unsafe extern "C" fn($($kind),*) $(-> $result)?,)+
        }

        #[cfg(windows)]
        static FUNCTIONS: std::sync::OnceLock<Functions> = std::sync::OnceLock::new();

        /// Looks all of them up. The error is the name of one that is not there.
        #[cfg(windows)]
        pub(crate) fn find() -> Result<(), &'static std::ffi::CStr> {
            use crate::platform::symbols::function;
            use std::ffi::CStr;
            let functions = Functions {
                $($name: {
                    const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a name has no zero"),
                    };
                    let found = function(NAME).ok_or(NAME)?;
                    // SAFETY: libuv declares the function of this name so.
                    unsafe {
                        std::mem::transmute::<*const c_void, unsafe extern "C" fn($($kind),*) $(-> $result)?>(found)
                    }
                },)+
            };
            let _ = FUNCTIONS.set(functions);
            Ok(())
        }

        $(
            /// # Safety
            /// As libuv documents it.
            #[cfg(windows)]
            pub(super) unsafe fn $name($($argument: $kind),*) $(-> $result)? {
                let functions = FUNCTIONS.get().expect("the addon gives no function before it has found all");
                // SAFETY: by the caller's promise.
                unsafe { (functions.$name)($($argument),*) }
            }
        )+
    };
}

of_the_process! {
    fn uv_handle_size(kind: c_int) -> usize;
    fn uv_async_init(
        uv_loop: *mut c_void,
        handle: *mut Handle,
        callback: unsafe extern "C" fn(*mut Handle),
    ) -> c_int;
    fn uv_async_send(handle: *mut Handle) -> c_int;
    fn uv_handle_set_data(handle: *mut Handle, data: *mut c_void);
    fn uv_handle_get_data(handle: *const Handle) -> *mut c_void;
    fn uv_close(handle: *mut Handle, closed: Option<unsafe extern "C" fn(*mut Handle)>);
    fn uv_ref(handle: *mut Handle);
    fn uv_unref(handle: *mut Handle);
}
