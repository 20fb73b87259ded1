//! Every way in which an exchange can end, over sockets, held against the tables of `docs/ends.md`.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod client;
#[cfg(target_os = "linux")]
mod death;
mod frame;
pub(super) mod h3;
mod h3_client;
mod h3_peer;
mod h3_server;
mod h3_upload;
pub(super) mod quic;
mod server;
mod table;
pub(super) mod wire;
