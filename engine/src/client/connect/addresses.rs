//! Addresses as programs have them.

use std::net::SocketAddr;

/// One address, or several in the order in which they are tried: what
/// [`ClientBuilder::resolve`](crate::client::ClientBuilder::resolve) takes.
pub trait IntoAddresses {
    /// The addresses, in their order.
    fn into_addresses(self) -> Vec<SocketAddr>;
}

impl IntoAddresses for SocketAddr {
    fn into_addresses(self) -> Vec<SocketAddr> {
        vec![self]
    }
}

impl IntoAddresses for Vec<SocketAddr> {
    fn into_addresses(self) -> Vec<SocketAddr> {
        self
    }
}

impl IntoAddresses for &[SocketAddr] {
    fn into_addresses(self) -> Vec<SocketAddr> {
        self.to_vec()
    }
}

impl<const N: usize> IntoAddresses for [SocketAddr; N] {
    fn into_addresses(self) -> Vec<SocketAddr> {
        self.into()
    }
}

impl<const N: usize> IntoAddresses for &[SocketAddr; N] {
    fn into_addresses(self) -> Vec<SocketAddr> {
        self.to_vec()
    }
}

/// Addresses of a host, in place of the resolver's.
#[derive(Clone, Debug)]
pub(in crate::client) struct Override {
    pub(in crate::client) addresses: Vec<SocketAddr>,
    /// The ports of the addresses go before one that a URL names.
    pub(in crate::client) keeps_port: bool,
}

impl Override {
    /// The addresses for an origin at `port`. One that a URL leaves to its scheme may be elsewhere.
    pub(in crate::client) fn at_port(&self, port: u16) -> Vec<SocketAddr> {
        let yields = !self.keeps_port && !matches!(port, 80 | 443);
        let with_port = |address: &SocketAddr| match address.port() {
            own if own != 0 && !yields => *address,
            _ => SocketAddr::new(address.ip(), port),
        };
        self.addresses.iter().map(with_port).collect()
    }
}
