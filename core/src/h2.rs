//! HTTP/2 (RFC 9113): the machine of one connection, client or server.

pub mod abuse;
pub mod conn;
pub mod frame;
pub mod schedule;
pub mod settings;
pub mod stream_state;
pub mod streams;

pub use conn::Conn;
