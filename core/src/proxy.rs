//! Bytes of proxies in front of a connection's own: the client's exchange with a proxy, CONNECT ([`Connect`]) and SOCKS5
//! ([`Socks`]), the header with which a proxy names its client to a server ([`ProxyHeader`]), and the
//! fields in which it does so per request ([`ForwardedClient`]).

mod connect;
mod forwarded;
mod header;
mod socks;

pub use connect::{Connect, ConnectRefusal};
pub use forwarded::{ForwardedClient, forwarded_client, x_forwarded_client};
pub use header::{ProxyHeader, ProxyHeaderError, ProxyHeaderReader, ProxyHeaderVersion};
pub use socks::{Destination, Login, Socks, SocksRefusal};
