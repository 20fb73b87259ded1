//! The channel between JavaScript and Rust. The addon's sources stand here by path: it is a library for
//! Node.js alone, and Rust cannot link it.
#![no_main]
#![allow(dead_code, reason = "the addon uses the rest")]

// The addon's name for the crate that has the core.
extern crate self as trunkline;
pub use trunkline_core as core;

#[path = "../../node/native/channel/area.rs"]
mod area;
#[path = "../../node/native/channel/bodies.rs"]
mod bodies;
#[path = "../../node/native/channel/codes.rs"]
mod codes;
#[path = "../../node/native/channel/fuzz.rs"]
mod fuzz;
#[path = "../../node/native/channel/heads/head.rs"]
mod head;
/// Where the addon has it.
mod heads {
    pub(crate) use super::head;
}
#[path = "../../node/native/channel/records.rs"]
mod records;
#[path = "../../node/native/channel/ring.rs"]
mod ring;
#[path = "../../node/native/channel/sync.rs"]
mod sync;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::channel(data));
