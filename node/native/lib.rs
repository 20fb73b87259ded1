//! The addon behind the npm package `trunkline`: it carries requests and their events between
//! JavaScript and the engine, and decides nothing.
//!
//! All state is in an `Environment`, one per Node.js environment (the main thread and each worker);
//! there is no process-wide state but the table of functions on Windows.

mod cached_read;
mod calls;
mod channel;
mod client;
mod engine;
mod environment;
mod failure;
mod pages;
mod platform;
mod server;
mod session;
mod streams;

use platform::napi::{Env, Function, Value};
use std::ffi::CStr;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exports.
const FUNCTIONS: [(&CStr, Function); 4] = [
    (c"open", environment::open),
    (c"sessions", session::open),
    (c"readCached", cached_read::read),
    (c"fileCached", cached_read::file),
];

/// The entry point that Node.js calls once per environment that loads the addon.
///
/// # Safety
/// Called by Node.js with a live environment and its exports.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(
    env: napi_sys::napi_env,
    exports: napi_sys::napi_value,
) -> napi_sys::napi_value {
    let env = Env(env);
    if let Err(refused) = platform::prepare() {
        env.throw(&refused);
        return exports;
    }
    // A failure leaves the exports without `open`, which the loader reports.
    for (name, function) in FUNCTIONS {
        let _ = env.set_function(Value(exports), name, function, std::ptr::null_mut());
    }
    exports
}
