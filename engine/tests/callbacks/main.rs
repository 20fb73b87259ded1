//! A server that is answered from one place, by orders.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod connections;
mod http3;
mod second;
mod stage;
mod tunnels;
