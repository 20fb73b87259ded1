//! Whether a handshake that failed would fail again.

use crate::error::Retry;
use quinn_proto::ConnectionError;
use rustls::Error;
use std::io;

/// After a handshake over TCP. Nothing was sent in it that could be processed.
pub(crate) fn retry_after(error: &io::Error) -> Retry {
    let tls = error
        .get_ref()
        .and_then(|error| error.downcast_ref::<Error>());
    tls.map_or(Retry::Safe, retry_after_tls)
}

fn retry_after_tls(error: &Error) -> Retry {
    match error {
        // What was shown or offered is what will be shown and offered.
        Error::InvalidCertificate(_)
        | Error::InvalidCertRevocationList(_)
        | Error::NoCertificatesPresented
        | Error::UnsupportedNameType
        | Error::PeerIncompatible(_)
        | Error::PeerMisbehaved(_)
        | Error::InvalidMessage(_)
        | Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. }
        | Error::NoApplicationProtocol => Retry::Never,
        Error::AlertReceived(alert) => retry_after_alert(u8::from(*alert)),
        _ => Retry::Safe,
    }
}

/// After a handshake over QUIC, which carries alerts in its codes (RFC 9001 section 4.8).
pub(crate) fn retry_after_quic(error: &ConnectionError) -> Retry {
    match alert_of(error) {
        Some(alert) => retry_after_alert(alert),
        None => Retry::Safe,
    }
}

/// The alert that a QUIC connection ended with, on either side.
pub(crate) fn alert_of(error: &ConnectionError) -> Option<u8> {
    const CRYPTO_FIRST: u64 = 0x100;
    const CRYPTO_LAST: u64 = 0x1ff;
    let code = match error {
        ConnectionError::TransportError(error) => u64::from(error.code),
        ConnectionError::ConnectionClosed(frame) => u64::from(frame.error_code),
        _ => return None,
    };
    matches!(code, CRYPTO_FIRST..=CRYPTO_LAST).then_some(code as u8)
}

/// RFC 8446 section 6.2.
fn retry_after_alert(alert: u8) -> Retry {
    match alert {
        // handshake_failure; bad_certificate to access_denied but for none between;
        // protocol_version, insufficient_security; missing_extension, unsupported_extension,
        // unrecognized_name; certificate_required; no_application_protocol.
        40 | 42..=49 | 70 | 71 | 109 | 110 | 112 | 116 | 120 => Retry::Never,
        // close_notify, decode errors, internal_error, user_canceled: of this attempt alone.
        _ => Retry::Safe,
    }
}

#[cfg(test)]
#[path = "failure_test.rs"]
mod failure_test;
