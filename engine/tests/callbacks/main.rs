//! A server that is answered from one place, by orders.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod connections;
#[path = "../support/frame_client.rs"]
mod frames;
mod http3;
mod second;
mod stage;
#[path = "../support/peer.rs"]
mod support;
mod tunnels;
