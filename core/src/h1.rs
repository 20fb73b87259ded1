//! HTTP/1.1 (RFC 9112): the machine of one connection, client or server.
//!
//! `parse` and `chunked` read, `framing` decides where a body ends, `encode` writes, `reuse` names
//! why a connection cannot take another exchange, and `conn` with its parts is the machine.

mod chunked;
pub mod conn;
mod encode;
mod exchange;
mod framing;
mod parse;
mod proxy;
mod reuse;

pub use conn::{Conn, OpenOptions};
pub use proxy::{Proxy, ProxyField};
pub use reuse::{CloseReason, keep_alive_seconds};
