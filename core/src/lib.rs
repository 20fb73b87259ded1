//! The protocol machines of Trunkline, pure: bytes and time in, bytes and events out.
//!
//! Core decides, the engine moves bytes, the faces translate. Nothing here opens a socket, reads a
//! clock, draws a random number or starts a thread: `now` and random bytes are arguments, so that
//! the simulator can drive every decision in virtual time.
//!
//! Every machine has the same verbs ([`Machine`]): `handle_timeout`, `poll_event`, `next_deadline`;
//! its commands are bare verbs (`open`, `respond`, `send_body`, `reset`, `shut_down`). Those of a
//! byte stream ([`ByteMachine`]) add `handle_bytes`, `handle_close` and `poll_write`.
//!
//! Imports go down only: `machine | pool | proxy` over `h1 | h2 | h3` (which never import each other) over
//! `exchange` (for `h2 | h3`) and `hpack | qpack`, over `compress` over `http` over the leaves
//! `abuse, budget, credit, error, limits, min_rate, send_account, time, wire`, and `inspect` over `http`.
#![forbid(unsafe_code)]
#![warn(clippy::missing_errors_doc)]

pub mod abuse;
pub mod budget;
mod compress;
pub mod credit;
pub mod error;
mod exchange;
pub mod h1;
pub mod h2;
pub mod h3;
pub mod hpack;
pub mod http;
pub mod inspect;
pub mod limits;
pub mod machine;
pub mod min_rate;
mod options;
pub mod pool;
pub mod proxy;
pub mod qpack;
pub mod send_account;
pub mod time;
pub mod wire;
mod write_stall;

pub use machine::{ByteMachine, Machine};
