//! HTTP/3 of a server that has a port.

use super::Port;
use crate::config::Congestion;
use crate::driver::quic::config::QuicSettings;
use crate::driver::quic::config::quic_lb::QuicLb;
use crate::driver::quic::config::secret::Secret;
use crate::error::Error;
use crate::net::listen::{PortOptions, udp_sockets};
use crate::server::Server;
use crate::server::worker::generations::QuicInheritance;
use crate::server::worker::quic::Quic;
use std::net::{SocketAddr, UdpSocket};

/// Whether HTTP/3 is served, and how.
#[derive(Debug)]
pub(super) struct Http3Settings {
    on: bool,
    secret: Result<Option<Secret>, Error>,
    settings: QuicSettings,
}

impl Default for Http3Settings {
    fn default() -> Self {
        Self {
            on: false,
            secret: Ok(None),
            settings: QuicSettings::default(),
        }
    }
}

impl Http3Settings {
    #[cfg_attr(
        not(unix),
        allow(
            dead_code,
            reason = "for processes that take over sockets, on Unix alone"
        )
    )]
    pub(super) fn is_on(&self) -> bool {
        self.on
    }
    /// A socket for each of `count` workers, or none.
    pub(super) fn sockets(
        &self,
        address: SocketAddr,
        count: usize,
        options: PortOptions,
    ) -> Result<Vec<UdpSocket>, Error> {
        match self.on {
            true => udp_sockets(address, count, options),
            false => Ok(Vec::new()),
        }
    }
    /// The endpoint of HTTP/3 over `sockets`, if it is served.
    pub(super) fn served_at(
        self,
        address: SocketAddr,
        sockets: Vec<UdpSocket>,
        inherited: Option<QuicInheritance>,
    ) -> Result<Option<Quic>, Error> {
        if !self.on {
            return Ok(None);
        }
        Ok(Some(Quic {
            address,
            sockets,
            secret: self.secret?,
            settings: self.settings,
            inherited,
        }))
    }
}

/// HTTP/3 beside HTTP/1.1 and HTTP/2 (feature `http3`).
impl Server<Port> {
    /// Whether HTTP/3 is served too, over UDP on the same port; HTTP/1.1 and HTTP/2 then say so
    /// (`alt-svc`, RFC 7838), unless the handler says something else. Needs [`tls`](Self::tls).
    /// Default: false.
    pub fn http3(mut self, http3: bool) -> Self {
        self.target.http3.on = http3;
        self
    }
    /// The secret from which the keys of HTTP/3's stateless resets, tokens and connection ids
    /// derive: at least 32 bytes. A server that starts again with the same secret and as many
    /// workers resets its predecessor's connections at once (RFC 9000 section 10.3); otherwise
    /// clients wait for their timeout. Default: derived from the private key of the certificate
    /// (HKDF), so that a restart with the same key keeps it; for a configuration of rustls
    /// ([`Tls::from_rustls`](crate::Tls::from_rustls)), which does not give its key out, random for
    /// each start.
    ///
    /// Servers that share a secret must not get each other's packets (RFC 9000 section 21.11): the
    /// reset that one of them sends ends a connection that lives on the other. Where packets of one
    /// client may reach several processes or machines with the same certificate, give each a secret
    /// of its own.
    pub fn quic_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.target.http3.secret = Secret::new(secret.as_ref()).map(Some);
        self
    }
    /// Makes connection ids by which load balancers find this server (QUIC-LB). Servers that take each other's
    /// place ([`Running::hand_over`](crate::Running::hand_over)) need ids of the same length. A setting out of its range is the error of
    /// [`serve`](Self::serve). Default: ids of 8 bytes that say nothing to others.
    pub fn quic_lb(mut self, quic_lb: QuicLb) -> Self {
        self.target.http3.settings.quic_lb = Some(quic_lb);
        self
    }
    /// The congestion controller of HTTP/3 connections. Default: [`Congestion::Cubic`].
    pub fn quic_congestion(mut self, congestion: Congestion) -> Self {
        self.target.http3.settings.congestion = congestion;
        self
    }
    /// Whether HTTP/3 accepts requests sent with the handshake of a resumed session (0-RTT, RFC
    /// 8446 section 2.3), a round trip earlier. An attacker may replay such a request, bounded by
    /// this server's session memory: a session is resumed once. So GET, HEAD and OPTIONS alone
    /// reach their handlers, with [`EarlyData`](crate::EarlyData) among their extensions (the
    /// callback API has [`is_early`](crate::server::StreamHandle::is_early)); everything else is answered
    /// with 425 (RFC 8470 section 5.2), upon which clients send it again after the handshake.
    /// Default: false.
    pub fn early_data(mut self, early_data: bool) -> Self {
        self.target.http3.settings.early_data = early_data;
        self
    }
}
