//! The client's exchange with a proxy before the origin's own bytes: CONNECT ([`Connect`]) and SOCKS5
//! ([`Socks`]).

mod connect;
mod socks;

pub use connect::{Connect, ConnectRefusal};
pub use socks::{Destination, Login, Socks, SocksRefusal};
