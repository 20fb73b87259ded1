//! Why a TLS handshake failed, as far as others can make use of it.

use crate::tls::TlsRefusal;
use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible};
use std::fmt;
use std::io;

/// A TLS handshake that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeFailure {
    /// It took longer than [`Timeouts::handshake`](crate::Timeouts::handshake).
    Timeout,
    /// The client left, or its connection broke.
    Gone,
    /// What came is not TLS: mostly HTTP in cleartext.
    NotTls,
    /// No version of TLS that both sides know.
    Version,
    /// No cipher suite that both sides know.
    Cipher,
    /// The client speaks nothing that is offered by ALPN.
    Protocol,
    /// The client has shown no certificate, or none that is believed
    /// ([`Tls::client_certificates`](crate::Tls::client_certificates)): why.
    Certificate(String),
    /// Who was asked has refused the client ([`Tls::choose`](crate::Tls::choose)).
    Refused(TlsRefusal),
    /// The client refused, with this alert (RFC 8446 section 6).
    Alert(u8),
    /// Anything else.
    Other(String),
}

impl HandshakeFailure {
    pub(super) fn of(error: &io::Error) -> Self {
        let source = error.get_ref();
        if let Some(refusal) = source.and_then(|source| source.downcast_ref::<TlsRefusal>()) {
            return Self::Refused(refusal.clone());
        }
        let tls = source.and_then(|source| source.downcast_ref::<Error>());
        match tls {
            Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => Self::NotTls,
            Some(Error::PeerIncompatible(
                PeerIncompatible::Tls12NotOffered
                | PeerIncompatible::Tls13RequiredForQuic
                | PeerIncompatible::SupportedVersionsExtensionRequired
                | PeerIncompatible::Tls12NotOfferedOrEnabled,
            )) => Self::Version,
            Some(Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon)) => Self::Cipher,
            Some(Error::NoApplicationProtocol) => Self::Protocol,
            Some(error @ (Error::NoCertificatesPresented | Error::InvalidCertificate(_))) => {
                Self::Certificate(error.to_string())
            }
            Some(Error::AlertReceived(alert)) => Self::Alert(number(*alert)),
            Some(other) => Self::Other(other.to_string()),
            None => match error.kind() {
                io::ErrorKind::TimedOut => Self::Timeout,
                io::ErrorKind::UnexpectedEof
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionAborted => Self::Gone,
                _ => Self::Other(error.to_string()),
            },
        }
    }
}

fn number(alert: AlertDescription) -> u8 {
    alert.into()
}

impl fmt::Display for HandshakeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("the TLS handshake took too long"),
            Self::Gone => f.write_str("the client left during the TLS handshake"),
            Self::NotTls => f.write_str("the client does not speak TLS"),
            Self::Version => f.write_str("the client knows no version of TLS that is served"),
            Self::Cipher => f.write_str("the client knows no cipher suite that is served"),
            Self::Protocol => f.write_str("the client speaks no protocol that is offered by ALPN"),
            Self::Certificate(why) => write!(f, "the client is not admitted: {why}"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Alert(number) => {
                write!(f, "the client ended the TLS handshake with alert {number}")
            }
            Self::Other(why) => write!(f, "the TLS handshake failed: {why}"),
        }
    }
}
