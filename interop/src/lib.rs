//! Foreign peers: where they are found, how each is started on free ports of 127.0.0.1, and the
//! guard that ends them. Tests and benchmarks start the same peers from here.
//!
//! A peer that is absent is an `Err` with one sentence; a test then says it and passes.

mod bun;
mod caddy;
mod certificate;
mod kept;
mod peers;
mod process;
mod python;
mod quic;
mod workplace;

pub use bun::{bun, is_bun_installed};
pub use caddy::{caddy, reload_caddy};
pub use certificate::Certificate;
pub use peers::{Endpoints, Peer, go_program, h2o, nghttpd, nginx};
pub use process::{Cores, Process, find_program, is_go_installed, is_installed, output_of};
pub use python::{find_python, is_python_installed, python_program};
pub use quic::{QuicPeer, QuicStack};
pub use workplace::Workplace;

use std::net::TcpListener;

/// A port of 127.0.0.1 that nothing listened on a moment ago.
///
/// # Errors
/// When the system has none.
pub fn free_port() -> Result<u16, String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no free port on 127.0.0.1: {error}"))
}
