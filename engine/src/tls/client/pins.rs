//! Keys of servers that are known before (pinned, RFC 7469 section 2.4).

use super::ClientTls;
use aws_lc_rs::digest::{SHA256, digest};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error as TlsError, OtherError, SignatureScheme,
};
use std::error::Error;
use std::sync::Arc;
use std::{fmt, io};

/// SHA-256 of a SubjectPublicKeyInfo in DER.
pub(super) type Pin = [u8; 32];

impl ClientTls {
    /// Believes only servers whose certificate has one of these keys, each given as SHA-256 of its SubjectPublicKeyInfo
    /// in DER: beside the rules of trust, and alone with [`insecure`](Self::insecure). An error has [`KeyRefusal`] among
    /// its sources. Default: no key is asked for.
    pub fn pinned_keys(mut self, pins: impl IntoIterator<Item = [u8; 32]>) -> Self {
        self.pins = pins.into_iter().collect();
        self
    }
}

/// The certificate of a server has none of the keys of [`ClientTls::pinned_keys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRefusal;

/// The text of rustls's error with [`KeyRefusal`], of which QUIC has nothing else.
#[cfg(feature = "http3")]
const IN_TEXT: &str = "Other(OtherError(KeyRefusal))";

impl fmt::Display for KeyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key of the certificate is none of those that are pinned")
    }
}

impl Error for KeyRefusal {}

impl KeyRefusal {
    /// In an error of a handshake over TCP.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        let error = error.get_ref()?.downcast_ref()?;
        match error {
            TlsError::InvalidCertificate(CertificateError::Other(OtherError(error))) => {
                error.downcast_ref().copied()
            }
            _ => None,
        }
    }
    #[cfg(feature = "http3")]
    pub(crate) fn in_text(text: &str) -> Option<Self> {
        text.contains(IN_TEXT).then_some(Self)
    }
}

/// A verifier that asks another one, and for the key.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) pins: Vec<Pin>,
    pub(super) trust: Arc<dyn ServerCertVerifier>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let verified = self.trust.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )?;
        let key = ParsedCertificate::try_from(end_entity)?.subject_public_key_info();
        let found = digest(&SHA256, key.as_ref());
        match self.pins.iter().any(|pin| pin == found.as_ref()) {
            true => Ok(verified),
            false => Err(TlsError::InvalidCertificate(CertificateError::Other(
                OtherError(Arc::new(KeyRefusal)),
            ))),
        }
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.trust.verify_tls12_signature(message, cert, dss)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.trust.verify_tls13_signature(message, cert, dss)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trust.supported_verify_schemes()
    }
    fn requires_raw_public_keys(&self) -> bool {
        self.trust.requires_raw_public_keys()
    }
    fn root_hint_subjects(&self) -> Option<&[rustls::DistinguishedName]> {
        self.trust.root_hint_subjects()
    }
}
