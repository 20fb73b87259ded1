//! Handshakes over QUIC.

use super::HandshakeFailure;
use crate::tls::{CertificateFault, alert_of};
use quinn_proto::ConnectionError;

impl HandshakeFailure {
    /// The failure of a QUIC connection whose handshake was never done; `lost`: why it ended, unless we closed it.
    pub(in crate::server) fn of_quic(lost: Option<&ConnectionError>) -> Self {
        let Some(lost) = lost else {
            return Self::Other("we closed the connection".to_owned());
        };
        match (lost, alert_of(lost)) {
            (ConnectionError::TransportError(error), Some(alert)) => match alert {
                // RFC 8446 section 6.2: the alerts that a server ends the handshake with.
                116 => Self::NoCertificate,
                42..=46 | 48 | 51 => Self::Certificate(fault_of(&error.reason, alert)),
                70 => Self::Version,
                120 => Self::Protocol,
                _ => Self::Other(error.to_string()),
            },
            (ConnectionError::ConnectionClosed(_), Some(alert)) => Self::Alert(alert),
            (ConnectionError::TransportError(error), None) => Self::Other(error.to_string()),
            (ConnectionError::VersionMismatch, _) => Self::Version,
            _ => Self::Gone,
        }
    }
}

/// The fault of a client's certificate: quinn-proto hands on the text and the alert of an error of TLS alone.
fn fault_of(text: &str, alert: u8) -> CertificateFault {
    #[cfg(feature = "openssl-rules")]
    if let Some(refusal) = crate::tls::CertificateRefusal::in_text(text) {
        return CertificateFault::Openssl(refusal);
    }
    match alert {
        44 => CertificateFault::Revoked,
        48 => CertificateFault::UnknownIssuer,
        _ => CertificateFault::Other(text.to_owned()),
    }
}
