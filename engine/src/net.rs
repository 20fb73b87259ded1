//! Listening sockets of servers: TCP, Unix, one per worker or shared between workers.

pub(crate) mod listen;
pub(crate) mod listener;
#[cfg(unix)]
pub(crate) mod unix;
