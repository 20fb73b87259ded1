//! The sockets of a server, and the ways to start it.

pub(super) mod detached;
#[cfg(feature = "http3")]
mod http3;
pub(super) mod listening;
pub(super) mod port;
pub(super) mod running;
pub(super) mod start;
#[cfg(unix)]
pub(super) mod unix;
#[cfg(not(feature = "http3"))]
mod without_http3;

#[cfg(not(feature = "http3"))]
use without_http3 as http3;
