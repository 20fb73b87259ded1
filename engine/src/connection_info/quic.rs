//! Connections over QUIC.

use super::{ConnectionInfo, TlsInfo};
use crate::tls::Judge;
use quinn_proto::crypto::rustls::HandshakeData;
use rustls::ProtocolVersion;
use rustls::pki_types::CertificateDer;
use std::net::SocketAddr;

impl ConnectionInfo {
    /// A QUIC connection whose handshake is done, or that has early data, on a socket bound to
    /// `bound`. `asked`: the host that our side asked for, if it is a client; `judge`: who judges
    /// what the client has shown, if it was asked.
    pub(crate) fn of_quic(
        quic: &quinn_proto::Connection,
        bound: SocketAddr,
        asked: Option<&str>,
        judge: Option<&Judge>,
    ) -> Self {
        let printed = quic.crypto_session().handshake_data();
        let printed = printed.and_then(|data| data.downcast::<HandshakeData>().ok());
        // Before the answer to early data nothing is said: it goes on as the session before.
        let (name, alpn) = match &printed {
            Some(data) => (data.server_name.as_deref(), data.protocol.as_deref()),
            None => (None, Some(&b"h3"[..])),
        };
        // RFC 9001 section 4.2: nothing older.
        let tls = TlsInfo::new(ProtocolVersion::TLSv1_3, name.or(asked), alpn);
        let tls = match judge {
            Some(judge) => tls.with_client(judge, &certificates_of(quic)),
            None => tls,
        };
        let local_ip = quic.local_ip().unwrap_or(bound.ip());
        let local_addr = SocketAddr::new(local_ip, bound.port());
        Self::new(Some((quic.remote_address(), local_addr)), Some(tls))
    }
}

/// The peer's certificate chain over QUIC, its own certificate first.
pub(crate) fn certificates_of(quic: &quinn_proto::Connection) -> Vec<CertificateDer<'static>> {
    let displayed = quic.crypto_session().peer_identity();
    let displayed = displayed.and_then(|any| any.downcast::<Vec<CertificateDer<'static>>>().ok());
    displayed.map_or_else(Vec::new, |displayed| *displayed)
}
