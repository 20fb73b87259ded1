//! Addresses and networks that the user has listed.

use crate::error::Error;
use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::Arc;

/// Peers that are trusted to name their clients: IP addresses, and networks of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedPeers(Arc<[IpNet]>);

impl TrustedPeers {
    /// From entries such as `192.0.2.1`, `10.0.0.0/8`, `::1` and `fd00::/8`.
    ///
    /// # Errors
    /// Names the entry that is neither an address nor a network.
    pub fn parse<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> Result<Self, Error> {
        let network = |entry: T| {
            let text = entry.as_ref().trim();
            let network = text.parse().ok();
            network
                .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
                .ok_or_else(|| {
                    Error::config(format!(
                        "{text:?} is neither an IP address nor a network as 10.0.0.0/8 or fd00::/8"
                    ))
                })
        };
        let networks = entries.into_iter().map(network).collect::<Result<_, _>>()?;
        Ok(Self(networks))
    }
    /// Whether it has `address`. One of IPv4 that comes as IPv6 (`::ffff:192.0.2.1`) is the one of IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

#[cfg(test)]
#[path = "address_list_test.rs"]
mod address_list_test;
