use super::quic::{alert_of, refuses_certificate_over_quic, retry_after_quic};
use super::*;
use quinn_proto::{ConnectionClose, ConnectionError, TransportErrorCode};
use rustls::{AlertDescription, CertificateError};

fn over_tcp(error: Error) -> Retry {
    retry_after(&io::Error::new(io::ErrorKind::InvalidData, error))
}

/// A caller that repeats a `Safe` failure until success must not loop for ever.
#[test]
fn what_the_peer_shows_or_refuses_is_not_to_be_tried_again_and_what_broke_is() {
    let never = [
        Error::InvalidCertificate(CertificateError::UnknownIssuer),
        Error::InvalidCertificate(CertificateError::Expired),
        Error::InvalidCertificate(CertificateError::NotValidForName),
        Error::AlertReceived(AlertDescription::CertificateRequired),
        Error::AlertReceived(AlertDescription::UnknownCA),
        Error::AlertReceived(AlertDescription::HandshakeFailure),
        Error::AlertReceived(AlertDescription::UnrecognisedName),
        Error::NoApplicationProtocol,
    ];
    for error in never {
        assert_eq!(over_tcp(error.clone()), Retry::Never, "{error}");
    }
    for error in [
        Error::AlertReceived(AlertDescription::InternalError),
        Error::HandshakeNotComplete,
    ] {
        assert_eq!(over_tcp(error.clone()), Retry::Safe, "{error}");
    }
    for kind in [
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::UnexpectedEof,
        io::ErrorKind::TimedOut,
    ] {
        assert_eq!(retry_after(&kind.into()), Retry::Safe, "{kind}");
    }
}

#[test]
fn the_same_holds_for_alerts_over_quic() {
    let closed = |code: TransportErrorCode| {
        ConnectionError::ConnectionClosed(ConnectionClose {
            error_code: code,
            frame_type: None,
            reason: Vec::new().into(),
        })
    };
    let by_alert = |alert: AlertDescription| closed(TransportErrorCode::crypto(alert.into()));
    let required = by_alert(AlertDescription::CertificateRequired);
    assert_eq!(alert_of(&required), Some(116));
    assert_eq!(retry_after_quic(&required), Retry::Never);
    let internal = by_alert(AlertDescription::InternalError);
    assert_eq!(retry_after_quic(&internal), Retry::Safe);
    let refused = closed(TransportErrorCode::CONNECTION_REFUSED);
    assert_eq!(alert_of(&refused), None);
    assert_eq!(retry_after_quic(&refused), Retry::Safe);
    assert_eq!(retry_after_quic(&ConnectionError::TimedOut), Retry::Safe);
}

#[test]
fn an_alert_of_ours_about_a_certificate_is_its_refusal_and_one_of_the_peers_is_not() {
    let code = |alert: AlertDescription| TransportErrorCode::crypto(alert.into());
    let ours = |alert| {
        ConnectionError::TransportError(quinn_proto::TransportError {
            code: code(alert),
            frame: None,
            reason: String::new(),
        })
    };
    for (alert, is_refusal) in [
        (AlertDescription::UnknownCA, true),
        (AlertDescription::BadCertificate, true),
        (AlertDescription::CertificateExpired, true),
        (AlertDescription::CertificateUnknown, true),
        (AlertDescription::HandshakeFailure, false),
        (AlertDescription::NoApplicationProtocol, false),
    ] {
        assert_eq!(
            refuses_certificate_over_quic(&ours(alert)),
            is_refusal,
            "{alert:?}"
        );
    }
    let theirs = ConnectionError::ConnectionClosed(ConnectionClose {
        error_code: code(AlertDescription::UnknownCA),
        frame_type: None,
        reason: Vec::new().into(),
    });
    assert!(!refuses_certificate_over_quic(&theirs));
}
