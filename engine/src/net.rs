//! Streams that an embedder gives in place of sockets, and listening sockets of servers: TCP, Unix, one per
//! worker or shared between workers.

#[cfg(feature = "server")]
pub(crate) mod address_list;
pub(crate) mod byte_stream;
pub(crate) mod listen;
#[cfg(feature = "server")]
pub(crate) mod listener;
#[cfg(all(unix, feature = "server"))]
pub(crate) mod passing;
#[cfg(feature = "server")]
pub(crate) mod stream_source;
#[cfg(all(unix, feature = "server"))]
pub(crate) mod unix;
