//! Calls across the channel that are answered later, by ticket: JavaScript's to Rust and Rust's to
//! JavaScript.

pub(crate) mod questions;
pub(crate) mod reply;
