//! Handshakes over QUIC.

use super::HandshakeFailure;
use crate::tls::alert_of;
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
                42..=46 | 48 | 51 | 116 => Self::Certificate(error.reason.clone()),
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
