//! Peers, origins, proxies and ports of the tests. A program of tests has each once, because a
//! service of another type is another copy of the whole server.
#![allow(dead_code, reason = "each program of tests uses its part")]

pub(crate) mod child;
pub(crate) mod client_hello;
pub(crate) mod dead_path;
pub(crate) mod frame_client;
pub(crate) mod frames;
pub(crate) mod http3;
pub(crate) mod name_server;
pub(crate) mod origin;
pub(crate) mod peer;
#[allow(unreachable_pub, reason = "a crate of its own gives it to others")]
#[path = "../../interop/src/port.rs"]
mod port;
pub(crate) mod ports;
pub(crate) mod proxies;
pub(crate) mod ready;
pub(crate) mod udp_relay;
