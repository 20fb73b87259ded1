//! Moves bytes and time in and out of the core: the socket with or without TLS, the machine, its
//! one timer, and the notes that other tasks leave for the task that owns the connection.

pub(crate) mod drain;
pub(crate) mod greeted;
mod last_alert;
pub(crate) mod link;
mod lock;
pub(crate) mod machine;
mod pieces;
pub(crate) mod quic;
pub(crate) mod read_buffer;
pub(crate) mod signals;
mod socket;
pub(crate) mod transport;
mod transport_tls;
