//! HTTP/1.1 (RFC 9112): the machine of one connection, client or server.
//!
//! `parse` and `chunked` read, `framing` decides where a body ends, `encode` writes, `reuse` names
//! why a connection cannot take another exchange, and `conn` with its parts is the machine.

mod chunked;
pub mod conn;
mod conn_advance;
mod conn_end;
mod conn_flow;
mod conn_recv;
mod conn_refuse;
mod conn_request;
mod conn_send;
mod encode;
mod exchange;
mod framing;
mod parse;
mod reuse;

pub use conn::{Conn, Proxy, ProxyField};
pub use reuse::{CloseReason, peer_patience};

#[cfg(test)]
#[path = "h1/client_test.rs"]
mod client_test;
#[cfg(test)]
#[path = "h1/end_test.rs"]
mod end_test;
#[cfg(test)]
#[path = "h1/half_closed_test.rs"]
mod half_closed_test;
#[cfg(test)]
#[path = "h1/hostile_test.rs"]
mod hostile_test;
#[cfg(test)]
#[path = "h1/pair_test.rs"]
mod pair_test;
#[cfg(test)]
#[path = "h1/refused_test.rs"]
mod refused_test;
#[cfg(test)]
#[path = "h1/script_test.rs"]
mod script_test;
#[cfg(test)]
#[path = "h1/server_answer_test.rs"]
mod server_answer_test;
#[cfg(test)]
#[path = "h1/server_end_test.rs"]
mod server_end_test;
#[cfg(test)]
#[path = "h1/server_patience_test.rs"]
mod server_patience_test;
#[cfg(test)]
#[path = "h1/server_switch_test.rs"]
mod server_switch_test;
#[cfg(test)]
#[path = "h1/server_test.rs"]
mod server_test;
