//! The sockets of a server, and the ways to start it.

pub(super) mod config_handle;
pub(super) mod detached;
#[cfg(unix)]
pub(super) mod hand_over;
pub(super) mod inspector;
pub(super) mod listening;
pub(super) mod port;
pub(super) mod running;
pub(super) mod second;
pub(super) mod start;
pub(super) mod target;
#[cfg(unix)]
pub(super) mod unix;
