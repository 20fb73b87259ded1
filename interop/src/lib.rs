//! Foreign peers: finds each, starts it on free ports of 127.0.0.1, and ends it with a guard. Tests
//! and benchmarks start the same peers from here.
//!
//! A peer that is absent is an `Err` with one sentence; a test then says it and passes.

mod bun;
mod caddy;
mod certificate;
mod grpc_go;
mod kept;
mod peers;
mod port;
mod process;
mod python;
mod quic;
mod workplace;

pub use bun::{bun, is_bun_installed};
pub use caddy::{caddy, reload_caddy};
pub use certificate::Certificate;
pub use grpc_go::GrpcGo;
pub use peers::{Endpoints, Peer, go_program, h2o, nghttpd, nginx};
pub use port::free_port;
pub use process::{Cores, Process, find_program, is_go_installed, is_installed, output_of};
pub use python::{find_python, is_python_installed, python_program};
pub use quic::{QuicPeer, QuicStack};
pub use workplace::Workplace;
