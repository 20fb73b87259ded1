//! Verifies a peer's handshake signature. webpki refuses to parse a certificate of version 1 or
//! with an unknown critical extension; the key of such a certificate is extracted here. The chain
//! is verified elsewhere.

use super::{Certificate, Signature, verify};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error};

pub(in crate::tls) fn verify_tls12(
    message: &[u8],
    leaf: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
    algorithms: &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error> {
    let Some(unread) = beyond_webpki(leaf) else {
        return verify_tls12_signature(message, leaf, signed, algorithms);
    };
    let schemes = algorithms.mapping.iter();
    let offered = schemes.filter(|(scheme, _)| *scheme == signed.scheme);
    let fitting = offered.flat_map(|(_, algorithms)| algorithms.iter().copied());
    match verify(fitting, unread.key(), message, signed.signature()) {
        Signature::Valid => Ok(HandshakeSignatureValid::assertion()),
        Signature::Invalid | Signature::Unsupported => Err(CertificateError::BadSignature.into()),
    }
}

pub(in crate::tls) fn verify_tls13(
    message: &[u8],
    leaf: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
    algorithms: &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error> {
    let Some(unread) = beyond_webpki(leaf) else {
        return verify_tls13_signature(message, leaf, signed, algorithms);
    };
    let key = unread.key().raw.into();
    verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
}

fn beyond_webpki<'a>(leaf: &'a CertificateDer<'_>) -> Option<Certificate<'a>> {
    match ParsedCertificate::try_from(leaf) {
        Ok(_) => None,
        Err(_) => Certificate::read(leaf),
    }
}
