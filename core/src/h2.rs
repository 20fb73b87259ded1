//! HTTP/2 (RFC 9113): the machine of one connection, client or server.

mod accounts;
pub mod conn;
mod conn_announce;
mod conn_close;
mod conn_flow;
mod conn_goaway;
mod conn_head;
mod conn_ping;
mod conn_priority;
mod conn_recv;
mod conn_room;
mod conn_send;
mod conn_settings;
mod conn_timers;
pub mod frame;
mod reset_slots;
pub mod settings;
mod stream;
pub mod stream_state;
pub mod streams;

pub use accounts::Accounts;
pub use conn::Conn;
