//! The sockets of a server, and the ways to start it.

pub(super) mod detached;
pub(super) mod listening;
pub(super) mod port;
pub(super) mod running;
pub(super) mod start;
#[cfg(unix)]
pub(super) mod unix;
