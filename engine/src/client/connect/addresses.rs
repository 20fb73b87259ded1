//! Addresses as programs have them.

use std::net::SocketAddr;

/// One address, or several in the order in which they are tried: what
/// [`ClientBuilder::resolve`](crate::client::ClientBuilder::resolve) takes.
pub trait IntoAddresses {
    /// All of them.
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
