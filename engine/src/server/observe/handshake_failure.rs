//! Why a TLS handshake failed, in kinds that metrics and logs can use.

#[cfg(feature = "http3")]
mod quic;

use crate::driver::transport::cleartext::UnsecuredRequest;
use crate::driver::transport::old_hello::OldHello;
use crate::tls::{CertificateFault, TlsRefusal};
use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible};
use std::fmt;
use std::io;
use trunkline_core::proxy::ProxyHeaderError;

/// A TLS handshake that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeFailure {
    /// It took longer than [`Timeouts::handshake`](crate::Timeouts::handshake).
    Timeout,
    /// The client left, or its connection broke.
    Gone,
    /// The bytes are not TLS.
    NotTls,
    /// The bytes are not TLS, and begin a request of HTTP/1.1 in cleartext.
    CleartextRequest,
    /// The bytes are not TLS, and begin a CONNECT in cleartext: the client takes the server for a proxy.
    CleartextConnect,
    /// No version of TLS that both sides know.
    Version,
    /// No cipher suite that both sides know.
    Cipher,
    /// No group for the exchange of keys that both sides know.
    KeyExchange,
    /// No signature of the server's certificates that the client verifies.
    Signature,
    /// The client speaks nothing that is offered by ALPN.
    Protocol,
    /// The client sent no certificate, and none is admitted without one
    /// ([`Tls::client_certificates`](crate::Tls::client_certificates)).
    NoCertificate,
    /// The client's certificate is not trusted: why.
    Certificate(CertificateFault),
    /// The user's callback has refused the client ([`Tls::choose`](crate::Tls::choose)).
    Refused(TlsRefusal),
    /// The client refused, with this alert (RFC 8446 section 6).
    Alert(u8),
    /// A connection from one of [`Server::proxy_protocol`](crate::Server::proxy_protocol) does not begin with a header
    /// of the PROXY protocol: why.
    ProxyHeader(String),
    /// The client sent a message or a record that is not due: what.
    Unexpected(String),
    /// The client sent a message that TLS cannot read: why.
    Malformed(String),
    /// The client sent a record or a message that is longer than TLS allows.
    TooLong,
    /// The client sent a record that its keys do not open.
    Undecryptable,
    /// Anything else.
    Other(String),
}

/// The names of the kinds in
/// [`Metrics::handshakes_failed_by`](crate::server::Metrics::handshakes_failed_by).
pub(in crate::server) const NAMES: [&str; 11] = [
    "timeout",
    "gone",
    "not_tls",
    "version",
    "cipher",
    "protocol",
    "certificate",
    "refused",
    "alert",
    "proxy_header",
    "other",
];

impl HandshakeFailure {
    /// The index of its name in [`NAMES`].
    pub(in crate::server) fn index(&self) -> usize {
        match self {
            Self::Timeout => 0,
            Self::Gone => 1,
            Self::NotTls | Self::CleartextRequest | Self::CleartextConnect => 2,
            Self::Version => 3,
            Self::Cipher | Self::KeyExchange | Self::Signature => 4,
            Self::Protocol => 5,
            Self::NoCertificate | Self::Certificate(_) => 6,
            Self::Refused(_) => 7,
            Self::Alert(_) => 8,
            Self::ProxyHeader(_) => 9,
            Self::Unexpected(_)
            | Self::Malformed(_)
            | Self::TooLong
            | Self::Undecryptable
            | Self::Other(_) => 10,
        }
    }
    pub(in crate::server) fn of(error: &io::Error) -> Self {
        let source = error.get_ref();
        if let Some(refusal) = source.and_then(|source| source.downcast_ref::<TlsRefusal>()) {
            return Self::Refused(refusal.clone());
        }
        let header = source.and_then(|source| source.downcast_ref::<ProxyHeaderError>());
        if let Some(why) = header {
            return Self::ProxyHeader(why.to_string());
        }
        if let Some(cleartext) = source.and_then(|source| source.downcast_ref::<UnsecuredRequest>())
        {
            return match cleartext {
                UnsecuredRequest::Connect => Self::CleartextConnect,
                UnsecuredRequest::Request => Self::CleartextRequest,
            };
        }
        if OldHello::is_in(error) {
            return Self::Version;
        }
        match source.and_then(|source| source.downcast_ref::<Error>()) {
            Some(error) => Self::of_tls(error),
            None => match error.kind() {
                io::ErrorKind::TimedOut => Self::Timeout,
                io::ErrorKind::UnexpectedEof
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionAborted
                // A stream of the user's own that failed: TLS has none of this kind without one of rustls's within it.
                | io::ErrorKind::Other => Self::Gone,
                _ => Self::Other(error.to_string()),
            },
        }
    }
    pub(in crate::server) fn of_tls(error: &Error) -> Self {
        match error {
            Error::InvalidMessage(why) => Self::of_message(why),
            Error::PeerIncompatible(why) => Self::of_offer(why),
            Error::NoApplicationProtocol => Self::Protocol,
            Error::NoCertificatesPresented => Self::NoCertificate,
            Error::InvalidCertificate(_) => Self::Certificate(CertificateFault::of(error)),
            // An end without a fault (RFC 8446 section 6.1).
            Error::AlertReceived(AlertDescription::CloseNotify) => Self::Gone,
            Error::AlertReceived(alert) => Self::Alert((*alert).into()),
            Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
                Self::Unexpected(error.to_string())
            }
            Error::DecryptError => Self::Undecryptable,
            Error::PeerSentOversizedRecord => Self::TooLong,
            other => Self::Other(other.to_string()),
        }
    }
    /// A message or a record that TLS refused as it was read.
    fn of_message(why: &InvalidMessage) -> Self {
        match why {
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion => {
                Self::NotTls
            }
            InvalidMessage::UnexpectedMessage(_) | InvalidMessage::InvalidCcs => {
                Self::Unexpected(format!("{why:?}"))
            }
            InvalidMessage::MessageTooLarge
            | InvalidMessage::HandshakePayloadTooLarge
            | InvalidMessage::CertificatePayloadTooLarge => Self::TooLong,
            _ => Self::Malformed(format!("{why:?}")),
        }
    }
    /// Nothing that the client offers is served.
    fn of_offer(why: &PeerIncompatible) -> Self {
        match why {
            PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls13RequiredForQuic
            | PeerIncompatible::SupportedVersionsExtensionRequired
            | PeerIncompatible::Tls12NotOfferedOrEnabled => Self::Version,
            PeerIncompatible::NoCipherSuitesInCommon => Self::Cipher,
            PeerIncompatible::NoKxGroupsInCommon => Self::KeyExchange,
            PeerIncompatible::NoSignatureSchemesInCommon => Self::Signature,
            other => Self::Other(Error::PeerIncompatible(other.clone()).to_string()),
        }
    }
}

impl fmt::Display for HandshakeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("the TLS handshake took too long"),
            Self::Gone => f.write_str("the client left during the TLS handshake"),
            Self::NotTls => f.write_str("the client does not speak TLS"),
            Self::CleartextRequest => {
                f.write_str("the client does not speak TLS: it sent a request of HTTP in cleartext")
            }
            Self::CleartextConnect => f.write_str(
                "the client does not speak TLS: it sent a CONNECT in cleartext, as to a proxy",
            ),
            Self::Version => f.write_str("the client knows no version of TLS that is served"),
            Self::Cipher => f.write_str("the client knows no cipher suite that is served"),
            Self::KeyExchange => {
                f.write_str("the client knows no group for the exchange of keys that is served")
            }
            Self::Signature => {
                f.write_str("the client verifies no signature of the server's certificates")
            }
            Self::Protocol => f.write_str("the client speaks no protocol that is offered by ALPN"),
            Self::NoCertificate => f.write_str("the client is not admitted: it sent no certificate"),
            Self::Certificate(fault) => write!(f, "the client is not admitted: {fault}"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Alert(number) => {
                write!(f, "the client ended the TLS handshake with alert {number}")
            }
            Self::ProxyHeader(why) => f.write_str(why),
            Self::Unexpected(why) => write!(f, "the client broke the TLS handshake: {why}"),
            Self::Malformed(why) => write!(f, "the client broke the TLS handshake: it sent a malformed message: {why}"),
            Self::TooLong => f.write_str("the client broke the TLS handshake: it sent a record or a message that is too long"),
            Self::Undecryptable => f.write_str("the client broke the TLS handshake: it sent a record that cannot be decrypted"),
            Self::Other(why) => write!(f, "the TLS handshake failed: {why}"),
        }
    }
}
