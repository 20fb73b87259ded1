//! Functions of Node-API and libuv, which come from the process that loads the addon. Linux and macOS link them when they load it;
//! on Windows an import names a file, and the program is `node.exe` here and `electron.exe` there, so they are looked up.

#[cfg(not(windows))]
pub(crate) use elsewhere::prepare;
#[cfg(windows)]
pub(crate) use windows::{function, prepare};

#[cfg(not(windows))]
mod elsewhere {
    use crate::platform::napi::Outcome;

    /// Everything is linked already.
    pub(crate) fn prepare() -> Outcome<()> {
        Ok(())
    }
}

#[cfg(windows)]
mod windows {
    use crate::platform::napi::{Outcome, Refused};
    use crate::platform::uv;
    use std::ffi::{CStr, c_void};
    use std::mem;
    use std::ptr::null_mut;
    use std::sync::OnceLock;
    use windows_sys::Win32::System::LibraryLoader::{
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
        GetModuleHandleW, GetProcAddress,
    };

    /// Looks everything up, once in a process, and keeps this library in it: a thread that ends after the last environment still
    /// runs our thread-local destructors.
    pub(crate) fn prepare() -> Outcome<()> {
        static MISSING: OnceLock<Option<&'static CStr>> = OnceLock::new();
        let missing = MISSING.get_or_init(|| {
            stay();
            // SAFETY: the first call of Node-API comes after it. The library is the program itself, which is never unloaded.
            mem::forget(unsafe { napi_sys::setup() });
            uv::find().err()
        });
        match missing {
            None => Ok(()),
            Some(name) => Err(Refused(format!(
                "trunkline: this program does not export {}, so it is not Node.js with its own libuv",
                name.to_string_lossy()
            ))),
        }
    }

    fn stay() {
        let mut own = null_mut();
        let here = stay as fn() as *const u16;
        let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
        // SAFETY: with these flags the address is one inside of the library; the handle's place outlives the call. It fails for
        // addresses of no library only.
        unsafe { GetModuleHandleExW(flags, here, &mut own) };
    }

    /// A function that the program exports.
    pub(crate) fn function(name: &CStr) -> Option<*const c_void> {
        // SAFETY: null is the program of the process; the name ends with a zero.
        let found =
            unsafe { GetProcAddress(GetModuleHandleW(std::ptr::null()), name.as_ptr().cast()) };
        found.map(|function| function as *const c_void)
    }
}
