//! Why a peer's certificate is refused, by OpenSSL's codes.

use rustls::{CertificateError, Error, OtherError};
use std::fmt;
use std::sync::Arc;

/// A check that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainFault {
    SelfSignedLeaf,
    SelfSignedInChain,
    LeafUnverified,
    NoIssuer,
    NoIssuerLocally,
    ChainTooLong,
    Expired,
    NotYetValid,
    Signature,
    KeyUsage,
    WeakAlgorithm,
    NotAuthority,
    PathTooLong,
    Purpose,
    Constraints,
    UnknownCriticalExtension,
    Revoked,
    Name,
    Untrusted,
}

/// The code and the words of each, as Node.js has them: `UNSPECIFIED` where it has no code for OpenSSL's.
const CODES: [(ChainFault, &str, &str); 19] = [
    (
        ChainFault::SelfSignedLeaf,
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        "self-signed certificate",
    ),
    (
        ChainFault::SelfSignedInChain,
        "SELF_SIGNED_CERT_IN_CHAIN",
        "self-signed certificate in certificate chain",
    ),
    (
        ChainFault::LeafUnverified,
        "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
        "unable to verify the first certificate",
    ),
    (
        ChainFault::NoIssuer,
        "UNABLE_TO_GET_ISSUER_CERT",
        "unable to get issuer certificate",
    ),
    (
        ChainFault::NoIssuerLocally,
        "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        "unable to get local issuer certificate",
    ),
    (
        ChainFault::ChainTooLong,
        "CERT_CHAIN_TOO_LONG",
        "certificate chain too long",
    ),
    (
        ChainFault::Expired,
        "CERT_HAS_EXPIRED",
        "certificate has expired",
    ),
    (
        ChainFault::NotYetValid,
        "CERT_NOT_YET_VALID",
        "certificate is not yet valid",
    ),
    (
        ChainFault::Signature,
        "CERT_SIGNATURE_FAILURE",
        "certificate signature failure",
    ),
    (
        ChainFault::WeakAlgorithm,
        "UNSPECIFIED",
        "CA signature digest algorithm too weak",
    ),
    (
        ChainFault::NotAuthority,
        "INVALID_CA",
        "invalid CA certificate",
    ),
    (
        ChainFault::PathTooLong,
        "PATH_LENGTH_EXCEEDED",
        "path length constraint exceeded",
    ),
    (
        ChainFault::Purpose,
        "INVALID_PURPOSE",
        "unsuitable certificate purpose",
    ),
    (
        ChainFault::Constraints,
        "UNSPECIFIED",
        "permitted subtree violation",
    ),
    (
        ChainFault::UnknownCriticalExtension,
        "UNSPECIFIED",
        "unhandled critical extension",
    ),
    (
        ChainFault::KeyUsage,
        "UNSPECIFIED",
        "key usage does not include certificate signing",
    ),
    (ChainFault::Revoked, "CERT_REVOKED", "certificate revoked"),
    (
        ChainFault::Name,
        "ERR_TLS_CERT_ALTNAME_INVALID",
        "Hostname/IP does not match certificate's altnames",
    ),
    (
        ChainFault::Untrusted,
        "CERT_UNTRUSTED",
        "certificate not trusted",
    ),
];

/// Why a certificate was refused by [`ClientTls::openssl_rules`](crate::client::ClientTls::openssl_rules), where it is a
/// source of the error of the request, or by
/// [`ClientCertificates::openssl_rules`](crate::ClientCertificates::openssl_rules).
#[derive(Clone, PartialEq, Eq)]
pub struct CertificateRefusal {
    code: &'static str,
    text: String,
}

impl CertificateRefusal {
    pub(super) fn new(fault: ChainFault, detail: &str) -> Self {
        let (code, words) = CODES.iter().find(|(one, ..)| *one == fault).map_or(
            ("CERT_UNTRUSTED", "certificate not trusted"),
            |(_, code, words)| (code, words),
        );
        let text = match detail {
            "" => words.to_owned(),
            detail => format!("{words}: {detail}"),
        };
        Self { code, text }
    }

    /// OpenSSL's name for it, or Node.js's `ERR_TLS_CERT_ALTNAME_INVALID` for a certificate of another host.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The refusal in the text of an error of QUIC: quinn-proto hands on the text of an error of TLS alone.
    pub(crate) fn in_text(text: &str) -> Option<Self> {
        let (_, marked) = text.split_once(MARK)?;
        let (code, text) = marked.split_once(": ")?;
        let (_, code, _) = CODES.iter().find(|(_, known, _)| *known == code)?;
        let text = text.strip_suffix("))").unwrap_or(text).to_owned();
        Some(Self { code, text })
    }

    /// The refusal in an error of TLS.
    pub(in crate::tls) fn of_tls(error: &CertificateError) -> Option<&Self> {
        match error {
            CertificateError::Other(OtherError(why)) => why.downcast_ref(),
            _ => None,
        }
    }

    pub(super) fn into_tls(self) -> Error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(self))))
    }
}

const MARK: &str = "certificate refused, ";

impl fmt::Display for CertificateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// rustls prints the cause of a refusal by its `Debug`.
impl fmt::Debug for CertificateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}{}: {}", self.code, self.text)
    }
}

impl std::error::Error for CertificateRefusal {}

/// The fault that webpki found where OpenSSL's checks found none.
pub(super) fn of_webpki(error: &Error) -> ChainFault {
    use CertificateError as Why;
    let Error::InvalidCertificate(why) = error else {
        return ChainFault::Untrusted;
    };
    match why {
        Why::Expired | Why::ExpiredContext { .. } => ChainFault::Expired,
        Why::NotValidYet | Why::NotValidYetContext { .. } => ChainFault::NotYetValid,
        Why::Revoked => ChainFault::Revoked,
        Why::BadSignature => ChainFault::Signature,
        Why::InvalidPurpose | Why::InvalidPurposeContext { .. } => ChainFault::Purpose,
        Why::UnhandledCriticalExtension => ChainFault::UnknownCriticalExtension,
        Why::NotValidForName | Why::NotValidForNameContext { .. } => ChainFault::Name,
        Why::UnknownIssuer => ChainFault::NoIssuerLocally,
        _ => ChainFault::Untrusted,
    }
}
