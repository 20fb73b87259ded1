//! The addresses of a route: overrides, literals, or the resolver's answer.

use super::resolve::{HttpsRecord, wrong_family};
use super::route::Route;
use crate::driver::timer;
use crate::error::{Error, ErrorKind, Fault, Retry};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::time::Duration;
use trunkline_core::pool::Origin;

/// An HTTPS record that comes later than this after the addresses is not waited for: what is gained by it is
/// less than the wait (RFC 8305 section 3 and draft-ietf-happy-happyeyeballs-v3: the resolution delay).
const RESOLUTION_DELAY: Duration = Duration::from_millis(50);
/// The longest wait for the addresses of the host that a record names: then its address hints are used, or, where
/// it has none, the URL's host as without a record.
const TARGET_WAIT_MAX: Duration = Duration::from_millis(250);

/// Where an origin is, by its addresses and its HTTPS record.
#[derive(Debug)]
pub(in crate::client) struct OriginAddresses {
    port: u16,
    /// The host's own addresses, in the order of preference.
    own: Vec<SocketAddr>,
    /// The record and the addresses of its service.
    recorded: Option<(HttpsRecord, Vec<SocketAddr>)>,
}

impl OriginAddresses {
    pub(in crate::client) fn record(&self) -> Option<&HttpsRecord> {
        self.recorded.as_ref().map(|(record, _)| record)
    }
    /// The port on which the record says that HTTP/3 is served.
    pub(in crate::client) fn http3_port(&self) -> Option<u16> {
        let record = self.record().filter(|record| record.serves_http3())?;
        Some(record.port.unwrap_or(self.port))
    }
    /// The addresses for TCP: the service of the record, then the host itself (RFC 9460 section 3: a
    /// client for which the record is optional falls back to it). Where `reliant`, the record holds alone: the
    /// host itself would learn the name that the record hides (RFC 9848).
    pub(in crate::client) fn over_tcp(&self, reliant: bool) -> Vec<SocketAddr> {
        match &self.recorded {
            Some((record, service)) if record.serves_tcp() => {
                let more = self
                    .own
                    .iter()
                    .filter(|own| !reliant && !service.contains(own));
                service.iter().chain(more).copied().collect()
            }
            _ => self.own.clone(),
        }
    }
    /// The addresses for QUIC on `port`, which a response or the record has named.
    pub(in crate::client) fn over_quic(&self, port: u16) -> Vec<SocketAddr> {
        match &self.recorded {
            Some((_, service)) if self.http3_port() == Some(port) => service.clone(),
            _ if port == self.port => self.own.clone(),
            _ => with_port(&self.own, port),
        }
    }
}

fn with_port(addresses: &[SocketAddr], port: u16) -> Vec<SocketAddr> {
    let addresses = addresses.iter();
    addresses
        .map(|address| SocketAddr::new(address.ip(), port))
        .collect()
}

impl Route {
    /// Where `origin` is, by its addresses and its HTTPS record; `None`: by a way on which this client does
    /// not look for it, or that only leads to some addresses.
    pub(in crate::client) async fn origin_addresses(
        &self,
        origin: &Origin,
    ) -> Result<Option<OriginAddresses>, Error> {
        let is_direct = self.unix_socket_for(&origin.host).is_none()
            && self.proxy_for(origin).is_none()
            && self.local_address.is_none();
        match is_direct {
            true => self.locate(&origin.host, origin.port).await.map(Some),
            false => Ok(None),
        }
    }
    /// The addresses of an origin, and its HTTPS record if that arrives in time. Both are asked for at once.
    async fn locate(&self, host: &str, port: u16) -> Result<OriginAddresses, Error> {
        let asks = !self.overrides.contains_key(host) && host.parse::<IpAddr>().is_err();
        let mut own = pin!(self.addresses(host, port));
        let (own, record) = if asks {
            let mut record = pin!(self.resolver.https_record(host, port));
            tokio::select! {
                biased;
                found = &mut record => (own.await, Some(found)),
                own = &mut own => (own, timer::timeout(RESOLUTION_DELAY, record).await.ok()),
            }
        } else {
            (own.await, None)
        };
        // A record that cannot be had says nothing.
        let record = record.and_then(Result::ok).flatten();
        let service = match &record {
            Some(record) => self.service(record, &own, port).await,
            None => Vec::new(),
        };
        match (own, record.filter(|_| !service.is_empty())) {
            (Err(error), None) => Err(error),
            (own, record) => Ok(OriginAddresses {
                port,
                own: own.unwrap_or_default(),
                recorded: record.map(|record| (record, service)),
            }),
        }
    }
    /// The addresses of a record's service; `own`: those of the URL's host. Empty: there is none.
    async fn service(
        &self,
        record: &HttpsRecord,
        own: &Result<Vec<SocketAddr>, Error>,
        port: u16,
    ) -> Vec<SocketAddr> {
        let found = match (&record.target, own) {
            (Some(target), _) => {
                let port = record.port.unwrap_or(port);
                let found = timer::timeout(TARGET_WAIT_MAX, self.addresses(target, port)).await;
                found.ok().and_then(Result::ok).unwrap_or_default()
            }
            (None, Ok(own)) => match record.port {
                Some(port) => with_port(own, port),
                None => own.clone(),
            },
            (None, Err(_)) => Vec::new(),
        };
        if !found.is_empty() {
            return found;
        }
        let port = record.port.unwrap_or(port);
        let hints = record.addresses.iter();
        self.reachable(hints.map(|ip| SocketAddr::new(*ip, port)))
    }
    /// The addresses that the local address can reach.
    fn reachable(&self, addresses: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
        addresses
            .filter(|address| {
                self.local_address
                    .is_none_or(|local| local.is_ipv4() == address.is_ipv4())
            })
            .collect()
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
            given.at_port(port)
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
            addresses = self.reachable(addresses.into_iter());
            if addresses.is_empty() {
                return Err(wrong_family(local, host));
            }
        }
        Ok(addresses)
    }
}
