//! Handshakes over QUIC.

use super::retry_after_alert;
use crate::error::Retry;
use quinn_proto::ConnectionError;
use std::error::Error;

/// After a handshake over QUIC, which carries alerts in its codes (RFC 9001 section 4.8).
pub(crate) fn retry_after_quic(error: &ConnectionError) -> Retry {
    match alert_of(error) {
        Some(alert) => retry_after_alert(alert),
        None => Retry::Safe,
    }
}

/// Whether a handshake over QUIC failed because we refused the peer's certificate: the alert by which we said so.
pub(crate) fn refuses_certificate_over_quic(error: &ConnectionError) -> bool {
    // bad_certificate to certificate_unknown, and unknown_ca (RFC 8446 section 6.2).
    let is_ours = matches!(error, ConnectionError::TransportError(_));
    is_ours && matches!(alert_of(error), Some(42..=46 | 48))
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

/// The alert of the peer that a connection ended with, if `failure` is of QUIC.
pub(super) fn received_alert(failure: &(dyn Error + 'static)) -> Option<u8> {
    match failure.downcast_ref::<ConnectionError>()? {
        error @ ConnectionError::ConnectionClosed(_) => alert_of(error),
        _ => None,
    }
}
