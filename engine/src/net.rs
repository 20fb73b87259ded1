//! Streams that an embedder gives in place of sockets, and listening sockets of servers: TCP, Unix, one per
//! worker or shared between workers.

#[cfg(feature = "server")]
pub(crate) mod address_list;
pub(crate) mod byte_stream;
pub(crate) mod listen;
pub(crate) mod listener;
#[cfg(unix)]
pub(crate) mod passing;
#[cfg(unix)]
pub(crate) mod unix;
