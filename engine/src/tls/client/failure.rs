//! Decides whether a failed handshake would fail again.

#[cfg(feature = "http3")]
pub(crate) mod quic;
#[cfg(not(feature = "http3"))]
mod without_quic;

#[cfg(not(feature = "http3"))]
use without_quic as quic;

use crate::error::Retry;
use rustls::Error;
use std::error::Error as StdError;
use std::io;

/// After a handshake over TCP. Nothing was sent in it that could be processed.
pub(crate) fn retry_after(error: &io::Error) -> Retry {
    let tls = error
        .get_ref()
        .and_then(|error| error.downcast_ref::<Error>());
    tls.map_or(Retry::Safe, retry_after_tls)
}

/// Whether a handshake over TCP failed because we refused the peer's certificate.
pub(crate) fn refuses_certificate(error: &io::Error) -> bool {
    let tls = error
        .get_ref()
        .and_then(|error| error.downcast_ref::<Error>());
    matches!(tls, Some(Error::InvalidCertificate(_)))
}

fn retry_after_tls(error: &Error) -> Retry {
    match error {
        // The settings offered before are those that will be offered.
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

/// The alerts by which a peer refuses us, which it would do again (RFC 8446 section 6.2).
const REFUSALS: [(u8, &str); 18] = [
    (40, "handshake_failure"),
    (42, "bad_certificate"),
    (43, "unsupported_certificate"),
    (44, "certificate_revoked"),
    (45, "certificate_expired"),
    (46, "certificate_unknown"),
    (47, "illegal_parameter"),
    (48, "unknown_ca"),
    (49, "access_denied"),
    // A signature that does not verify, as of a certificate of another issuer with the same name.
    (51, "decrypt_error"),
    (70, "protocol_version"),
    (71, "insufficient_security"),
    (86, "inappropriate_fallback"),
    (109, "missing_extension"),
    (110, "unsupported_extension"),
    (112, "unrecognized_name"),
    (116, "certificate_required"),
    (120, "no_application_protocol"),
];

/// Others, as close_notify, decode_error, internal_error and user_canceled, are of one attempt alone.
fn retry_after_alert(alert: u8) -> Retry {
    match REFUSALS.iter().any(|(number, _)| *number == alert) {
        true => Retry::Never,
        false => Retry::Safe,
    }
}

/// The number and the name of the alert by which the peer refused us, if the transport failed with that.
/// With TLS 1.3 a client learns only behind its own handshake whether the server took its certificate.
pub(crate) fn refusal_in(failure: &(dyn StdError + 'static)) -> Option<(u8, &'static str)> {
    let alert = if let Some(error) = failure.downcast_ref::<io::Error>() {
        match error.get_ref()?.downcast_ref::<Error>()? {
            Error::AlertReceived(alert) => u8::from(*alert),
            _ => return None,
        }
    } else {
        quic::received_alert(failure)?
    };
    REFUSALS.into_iter().find(|(number, _)| *number == alert)
}

#[cfg(test)]
#[path = "failure_test.rs"]
mod failure_test;
