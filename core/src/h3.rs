//! HTTP/3 (RFC 9114): the machine of one connection, client or server. Its input is streams, never
//! packets: QUIC is the transport below, driven by the engine.

pub mod action;
pub mod conn;
pub mod control_stream;
pub mod frame;
mod request_stream;
pub mod settings;
mod stream;
mod stream_credit;
pub mod stream_kind;

pub use action::{TransportAction, UniKind};
pub use conn::Conn;
