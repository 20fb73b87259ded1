//! HTTP/2 (RFC 9113): the machine of one connection, client or server.

pub mod conn;

pub use conn::Conn;
