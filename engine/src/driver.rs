//! Moves bytes and time in and out of the core: the socket with or without TLS, the machine, its
//! one timer, and the notes that other tasks leave for the task that owns the connection.

pub(crate) mod client_hello;
pub(crate) mod connection_io;
pub(crate) mod drain;
mod last_alert;
mod lock;
pub(crate) mod machine;
mod pieces;
pub(crate) mod quic;
pub(crate) mod read_buffer;
pub(crate) mod signals;
mod socket;
pub(crate) mod transport;
mod transport_tls;
