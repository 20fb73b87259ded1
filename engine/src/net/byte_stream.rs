//! A byte transport made by the embedder (a tunnel, a channel of another protocol, an in-memory
//! pair) that carries a connection.

use crate::connection_info::{Addresses, ConnectionInfo, TlsInfo};
use rustls::ProtocolVersion;
use std::fmt;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncWrite};

/// A stream of bytes in both directions, given by the embedder in place of a socket: to a client by its
/// [`Connector`](crate::client::Connector), to a server by
/// [`ServerHandle::serve_stream`](crate::server::ServerHandle::serve_stream) or among [`Streams`](crate::server::Streams).
///
/// Its end of file is an end in order and an error of it is a failure, as docs/ends.md has them. It is flushed behind what is
/// written.
#[must_use]
pub struct ByteStream {
    io: Box<dyn Io>,
    addresses: Option<Addresses>,
    tls: Option<TlsInfo>,
    http2: bool,
    tag: u64,
}

/// The bytes of a connection in both directions.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

impl ByteStream {
    /// Cleartext between unnamed ends, which speak HTTP/1.1 to a client.
    pub fn new(io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self {
            io: Box::new(io),
            addresses: None,
            tls: None,
            http2: false,
            tag: 0,
        }
    }
    /// The address of the peer, and our own.
    pub fn between(mut self, peer: SocketAddr, local: SocketAddr) -> Self {
        self.addresses = Some((peer, local));
        self
    }
    /// Whether the peer of a client speaks HTTP/2 (RFC 9113 section 3.3); a server finds out from the
    /// first bytes. Default: false, unless ALPN has chosen `h2`.
    pub fn http2(mut self, http2: bool) -> Self {
        self.http2 = http2;
        self
    }
    /// The bytes are the plaintext of a TLS session whose handshake is done: of TLS 1.2, or of TLS 1.3.
    /// `server_name`: the host that the client has asked for; `alpn`: the protocol that was chosen.
    pub fn secured(
        mut self,
        is_tls12: bool,
        server_name: Option<&str>,
        alpn: Option<&[u8]>,
    ) -> Self {
        let version = match is_tls12 {
            true => ProtocolVersion::TLSv1_2,
            false => ProtocolVersion::TLSv1_3,
        };
        self.http2 |= alpn == Some(b"h2");
        self.tls = Some(TlsInfo::new(version, server_name, alpn));
        self
    }
    /// The embedder's number of the stream, which [`ConnectionInfo::tag`] gives
    /// back. Default: 0.
    pub fn tag(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }

    /// The bytes alone.
    pub(crate) fn into_io(self) -> Box<dyn Io> {
        self.io
    }
    /// The bytes.
    pub(crate) fn io(&mut self) -> &mut Box<dyn Io> {
        &mut self.io
    }
    pub(crate) fn addresses(&self) -> Option<Addresses> {
        self.addresses
    }
    pub(crate) fn tls_info(&self) -> Option<&TlsInfo> {
        self.tls.as_ref()
    }
    pub(crate) fn speaks_http2(&self) -> bool {
        self.http2
    }
    /// The connection that it carries, as handlers see it.
    pub(crate) fn info(&self) -> ConnectionInfo {
        ConnectionInfo::new(self.addresses, self.tls.clone()).tagged(self.tag)
    }
}

/// As [`ByteStream::new`].
impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> From<T> for ByteStream {
    fn from(io: T) -> Self {
        Self::new(io)
    }
}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteStream")
            .field("addresses", &self.addresses)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}
