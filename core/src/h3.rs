//! HTTP/3 (RFC 9114): the machine of one connection, client or server. Its input is streams, never
//! packets: QUIC is the transport below, driven by the engine.

pub mod action;
pub mod conn;
mod conn_close;
mod conn_datagram;
mod conn_early;
mod conn_flow;
mod conn_goaway;
mod conn_head;
mod conn_recv;
mod conn_room;
mod conn_send;
mod conn_slow;
mod conn_timers;
mod conn_transport;
mod conn_uni;
mod conn_write;
pub mod control_stream;
pub mod frame;
pub mod request_stream;
mod send_window;
pub mod settings;
mod stream;
pub mod stream_credit;
pub mod stream_kind;
pub mod streams;

pub use action::{TransportAction, UniKind};
pub use conn::Conn;
