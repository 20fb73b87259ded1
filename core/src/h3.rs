//! HTTP/3 (RFC 9114): the machine of one connection, client or server. It sees streams, never
//! packets: QUIC is the transport below, driven by the engine.

pub mod action;
pub mod conn;

pub use action::{Action, UniKind};
pub use conn::Conn;
