//! Sockets that servers listen on: ports, each worker with a listener of its own, and what workers
//! share.

pub(crate) mod listen;
pub(crate) mod listener;
#[cfg(unix)]
pub(crate) mod unix;
