//! HTTP/2 (RFC 9113): the machine of one connection, client or server.

mod accounts;
pub mod conn;
mod connection_window;
pub mod frame;
mod reset_slots;
pub mod settings;
mod stream;
mod stream_ids;
pub mod stream_state;

pub use accounts::Accounts;
pub use conn::Conn;
