//! The addresses of a route: overrides, literals, or the resolver's answer.

use super::resolve::{HttpsRecord, wrong_family};
use super::route::Route;
use crate::driver::timer;
use crate::error::{Error, ErrorKind, Fault, Retry};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// An HTTPS record that comes later than this is not waited for: what is gained by it is less
/// than the wait (Happy Eyeballs version 3 calls this the resolution delay).
const RECORD_PATIENCE: Duration = Duration::from_millis(50);

impl Route {
    /// The resolver's HTTPS record of a host, if it arrives in time.
    pub(in crate::client) async fn https_record(
        &self,
        host: &str,
        port: u16,
    ) -> Option<HttpsRecord> {
        if self.overrides.contains_key(host) || host.parse::<IpAddr>().is_ok() {
            return None;
        }
        let record = self.resolver.https_record(host, port);
        let record = timer::timeout(RECORD_PATIENCE, record).await;
        // A record that cannot be had says nothing.
        record.ok()?.ok()?
    }
    /// The addresses of `host`: an override, the host itself where it is one, or what the
    /// resolver says; only those that the local address can reach.
    pub(in crate::client) async fn addresses(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Error> {
        let unknown = |retry: Retry, text: String| {
            Error::new(ErrorKind::Resolve, Fault::Network, retry).with_text(text)
        };
        let mut addresses = if let Some(given) = self.overrides.get(host) {
            let with_port = |address: &SocketAddr| match address.port() {
                0 => SocketAddr::new(address.ip(), port),
                _ => *address,
            };
            given.iter().map(with_port).collect()
        } else if let Ok(ip) = host.parse::<IpAddr>() {
            vec![SocketAddr::new(ip, port)]
        } else {
            self.resolver.resolve(host, port).await.map_err(|error| {
                // A host that is not there is not there the next time; a resolver that does not
                // answer may be.
                let retry = match error.kind() {
                    io::ErrorKind::NotFound => Retry::Never,
                    _ => Retry::Safe,
                };
                let text = format!("the host {host} cannot be resolved");
                unknown(retry, text).with_source(error)
            })?
        };
        if addresses.is_empty() {
            let text = format!("the host {host} has no address");
            return Err(unknown(Retry::Never, text));
        }
        if let Some(local) = self.local_address {
            addresses.retain(|address| address.is_ipv4() == local.is_ipv4());
            if addresses.is_empty() {
                return Err(wrong_family(local, host));
            }
        }
        Ok(addresses)
    }
}
