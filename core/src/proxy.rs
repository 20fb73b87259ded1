//! Bytes of proxies in front of a connection's own: the client's exchange with a proxy, CONNECT ([`Connect`]) and SOCKS5
//! ([`Socks`]), and the header with which a proxy names its client to a server ([`ProxyHeader`]).

mod connect;
mod header;
mod socks;

pub use connect::{Connect, ConnectRefusal};
pub use header::{ProxyHeader, ProxyHeaderError, ProxyHeaderReader, ProxyHeaderVersion};
pub use socks::{Destination, Login, Socks, SocksRefusal};
