//! The addon behind the npm package `trunkline`: it carries requests and their events between
//! JavaScript and the engine, and decides nothing.
//!
//! All state is in an `Environment`, one per Node.js environment (the main thread and each worker);
//! there is no process-wide state.

mod area;
mod bodies;
mod bound;
mod broken;
mod callback;
mod choices;
mod client;
mod codes;
mod connections;
mod control;
mod described;
mod dial;
mod environment;
mod exchange;
mod failure;
mod files;
mod head;
mod intake;
mod listen;
mod lookup;
mod napi;
mod outbound;
mod questions;
mod reply;
mod ring;
mod secured;
mod server_bridge;
mod server_callbacks;
mod servers;
mod settings;
mod snapshot;
mod streams;
mod sync;
mod traffic;
mod uv;

use napi::{Env, Value};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    // A failure leaves the exports without `open`, which the loader reports.
    let _ = env.set_function(
        Value(exports),
        c"open",
        environment::open,
        std::ptr::null_mut(),
    );
    exports
}
