//! HTTP/1.1 (RFC 9112): the machine of one connection, client or server.

pub mod conn;

pub use conn::Conn;
