//! Moves bytes and time in and out of the core: the socket with or without TLS, the machine, its
//! one timer, and the notes that other tasks leave for the task that owns the connection.

pub(crate) mod connection_io;
pub mod event_loop;
mod lock;
pub(crate) mod machine;
#[cfg(feature = "http3")]
pub(crate) mod quic;
pub(crate) mod read_buffer;
pub(crate) mod signals;
pub(crate) mod timer;
pub(crate) mod transport;
pub(crate) mod window_ask;

#[cfg(not(feature = "http3"))]
pub(crate) use transport::without_quic as quic;
