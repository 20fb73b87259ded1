//! Verifies client certificates by OpenSSL's rules, and by webpki's where it judges the shape of the chain.

use super::certificate::KeyPurpose;
use super::peer::{PeerCertificates, TrustedCertificates};
use super::refusal::CertificateRefusal;
use super::signature;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use std::sync::Arc;

/// Judges in front of webpki, to which every issuer is an authority, whatever its certificate says: one that has
/// expired, that may not issue, or that another authority has issued.
#[derive(Debug)]
pub(in crate::tls) struct OpensslClients {
    pub(in crate::tls) webpki: Arc<dyn ClientCertVerifier>,
    pub(in crate::tls) issuers: TrustedCertificates,
    /// webpki alone reads revocation lists: with them it judges every chain.
    pub(in crate::tls) has_lists: bool,
    pub(in crate::tls) provider: Arc<CryptoProvider>,
}

impl OpensslClients {
    fn algorithms(&self) -> &WebPkiSupportedAlgorithms {
        &self.provider.signature_verification_algorithms
    }

    /// Whether webpki judges the chain too.
    fn judge(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<bool, Error> {
        let certificates = PeerCertificates::read(leaf, intermediates, &self.issuers)
            .ok_or(CertificateError::BadEncoding)?;
        let chain = certificates
            .judge(KeyPurpose::Clients, now, self.algorithms())
            .map_err(CertificateRefusal::into_tls)?;
        Ok(self.has_lists || !chain.is_beyond_webpki())
    }
}

impl ClientCertVerifier for OpensslClients {
    fn client_auth_mandatory(&self) -> bool {
        self.webpki.client_auth_mandatory()
    }
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.webpki.root_hint_subjects()
    }
    fn verify_client_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match self.judge(leaf, intermediates, now)? {
            true => self.webpki.verify_client_cert(leaf, intermediates, now),
            false => Ok(ClientCertVerified::assertion()),
        }
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        signature::verify_tls12(message, leaf, signed, self.algorithms())
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        signature::verify_tls13(message, leaf, signed, self.algorithms())
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}

#[cfg(test)]
#[path = "clients_test.rs"]
mod clients_test;
