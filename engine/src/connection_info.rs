//! Addresses, version and TLS parameters of a connection, for handlers, access logs and users of a
//! client.

#[cfg(feature = "http3")]
pub(crate) mod quic;
pub(crate) mod traffic;
#[cfg(unix)]
pub(crate) mod unix;

use crate::connection_info::traffic::Traffic;
#[cfg(unix)]
use crate::connection_info::unix::UnixPeer;
use crate::tls::{ClientIdentity, Judge};
use rustls::pki_types::CertificateDer;
use rustls::{CipherSuite, HandshakeKind, ProtocolVersion};
use std::net::SocketAddr;
use std::sync::Arc;

/// The connection that a message came on: among a request's extensions if
/// [`ServerConfig::connection_info`](crate::ServerConfig::connection_info) is set, and part of a
/// response's [`ConnectionUse`](crate::client::ConnectionUse).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    addresses: Option<Addresses>,
    #[cfg(unix)]
    unix_peer: Option<UnixPeer>,
    tls: Option<Arc<TlsInfo>>,
    tag: u64,
    traffic: Option<Traffic>,
}

/// The peer's and ours.
pub(crate) type Addresses = (SocketAddr, SocketAddr);

impl ConnectionInfo {
    /// `addresses`: `None` on a Unix socket.
    pub(crate) fn new(addresses: Option<Addresses>, tls: Option<TlsInfo>) -> Self {
        Self {
            addresses,
            #[cfg(unix)]
            unix_peer: None,
            tls: tls.map(Arc::new),
            tag: 0,
            traffic: None,
        }
    }
    /// A copy with the embedder's number of the stream below.
    pub(crate) fn tagged(self, tag: u64) -> Self {
        Self { tag, ..self }
    }
    /// A copy with the process at the other end of a Unix socket.
    #[cfg(unix)]
    pub(crate) fn with_unix_peer(self, unix_peer: Option<UnixPeer>) -> Self {
        Self { unix_peer, ..self }
    }
    /// A copy with the parameters of our own TLS session.
    pub(crate) fn with_tls(mut self, tls: TlsInfo) -> Self {
        self.tls = Some(Arc::new(tls));
        self
    }
    /// Adds the counts of its bytes, if they are counted.
    pub(crate) fn counted(mut self, traffic: Option<Traffic>) -> Self {
        self.traffic = traffic;
        self
    }
    /// The peer's address: of a proxy, if there is one between. A QUIC peer may have moved since
    /// the handshake. `None` on a Unix socket, whose peers have none.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.addresses.map(|(peer, _)| peer)
    }
    /// Our own address. On a QUIC connection it may be the unspecified address that the socket is
    /// bound to. `None` on a Unix socket.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.addresses.map(|(_, local)| local)
    }
    /// The process at the other end of a Unix socket that a server has accepted; `None` on any other connection.
    #[cfg(unix)]
    pub fn unix_peer(&self) -> Option<UnixPeer> {
        self.unix_peer
    }
    /// The embedder's number of the stream that it gave ([`ByteStream::tag`](crate::ByteStream::tag)); 0 of any other connection.
    pub fn tag(&self) -> u64 {
        self.tag
    }
    /// How many bytes the connection has carried; `None`: a client's, which are not counted.
    pub fn traffic(&self) -> Option<&Traffic> {
        self.traffic.as_ref()
    }
    /// The parameters of the TLS session; `None`: cleartext.
    pub fn tls(&self) -> Option<&TlsInfo> {
        self.tls.as_deref()
    }
}

/// The parameters negotiated by a TLS handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    protocol: ProtocolVersion,
    cipher_suite: Option<CipherSuite>,
    server_name: Option<Box<str>>,
    alpn: Option<Box<[u8]>>,
    client: Option<ClientIdentity>,
    is_resumed: Option<bool>,
}

impl TlsInfo {
    pub(crate) fn new(
        protocol: ProtocolVersion,
        server_name: Option<&str>,
        alpn: Option<&[u8]>,
    ) -> Self {
        Self {
            protocol,
            cipher_suite: None,
            server_name: server_name.map(Into::into),
            alpn: alpn.map(Into::into),
            client: None,
            is_resumed: None,
        }
    }
    pub(crate) fn with_handshake_kind(mut self, kind: Option<HandshakeKind>) -> Self {
        self.is_resumed = kind.map(|kind| kind == HandshakeKind::Resumed);
        self
    }
    pub(crate) fn with_cipher_suite(mut self, cipher_suite: Option<CipherSuite>) -> Self {
        self.cipher_suite = cipher_suite;
        self
    }
    /// The client has shown `chain`, or nothing.
    pub(crate) fn with_client(mut self, judge: &Judge, chain: &[CertificateDer<'_>]) -> Self {
        self.client = judge.identify(chain);
        self
    }
    /// `TLSv1.3` or `TLSv1.2`.
    pub fn protocol(&self) -> &'static str {
        match self.protocol {
            ProtocolVersion::TLSv1_2 => "TLSv1.2",
            // Nothing else is spoken.
            _ => "TLSv1.3",
        }
    }
    /// Whether the handshake resumed an earlier session; `None` over QUIC, and of a stream that another secured.
    pub fn is_resumed(&self) -> Option<bool> {
        self.is_resumed
    }
    /// The cipher suite by its name in IANA's registry, for example `TLS_AES_256_GCM_SHA384`; `None` over QUIC, and of a
    /// stream that another secured.
    pub fn cipher_suite(&self) -> Option<String> {
        let name = self.cipher_suite?.as_str()?;
        Some(name.replacen("TLS13_", "TLS_", 1))
    }
    /// The host that the client asked for (SNI, RFC 6066 section 3); none if its URL has an address.
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }
    /// The identity of the client, on servers that request certificates
    /// ([`Tls::client_certificates`](crate::Tls::client_certificates)); `None`: it sent no
    /// certificate.
    pub fn client(&self) -> Option<&ClientIdentity> {
        self.client.as_ref()
    }
    /// The protocol that ALPN chose, for example `h2`.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.alpn.as_deref()
    }
}
