//! Verifies certificates by OpenSSL's rules, with its error codes: servers' here, clients' in `clients.rs`.
//!
//! A chain has to be accepted twice: by OpenSSL's checks as `chain.rs` has them, and by webpki. Only the shapes
//! that webpki does not judge, named in `CheckedChain::is_beyond_webpki`, go by the first alone.

mod certificate;
mod chain;
pub(in crate::tls) mod clients;
mod names;
pub(in crate::tls) mod peer;
mod refusal;

pub(in crate::tls) use certificate::signature;
pub use refusal::CertificateRefusal;

use certificate::{Certificate, KeyPurpose};
use peer::{PeerCertificates, TrustedCertificates};
use refusal::{ChainFault, of_webpki};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

#[derive(Debug)]
pub(in crate::tls) struct OpensslRules {
    /// Judges by the platform's roots, if they count.
    platform: Option<Arc<dyn ServerCertVerifier>>,
    /// Trusted beside them.
    given: TrustedCertificates,
    store: RootCertStore,
    provider: Arc<CryptoProvider>,
}

impl OpensslRules {
    pub(in crate::tls) fn new(
        platform: Option<Arc<dyn ServerCertVerifier>>,
        given: &[CertificateDer<'static>],
        provider: Arc<CryptoProvider>,
    ) -> Self {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(given.iter().cloned());
        Self {
            platform,
            given: TrustedCertificates::new(given),
            store,
            provider,
        }
    }

    fn algorithms(&self) -> &WebPkiSupportedAlgorithms {
        &self.provider.signature_verification_algorithms
    }

    /// By the certificates that were given.
    fn judge(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), CertificateRefusal> {
        let Some(certificates) = PeerCertificates::read(leaf, intermediates, &self.given) else {
            return Err(CertificateRefusal::new(
                ChainFault::Untrusted,
                "it cannot be read",
            ));
        };
        let presented = &certificates.presented;
        let chain = certificates.judge(KeyPurpose::Servers, now, self.algorithms())?;
        let parsed = ParsedCertificate::try_from(leaf);
        let webpki = parsed.as_ref().map_err(Error::clone).and_then(|leaf| {
            let algorithms = self.algorithms().all;
            verify_server_cert_signed_by_trust_anchor(
                leaf,
                &self.store,
                intermediates,
                now,
                algorithms,
            )
        });
        if let Err(error) = webpki
            && !chain.is_beyond_webpki()
        {
            let fault = match of_webpki(&error) {
                ChainFault::Untrusted if chain.is_limited() => ChainFault::Constraints,
                fault => fault,
            };
            return Err(CertificateRefusal::new(fault, &presented[0].subject()));
        }
        let is_named = parsed.is_ok_and(|leaf| verify_server_name(&leaf, host).is_ok());
        if is_named {
            return Ok(());
        }
        // An authority that is limited to names has not limited what is in CN.
        names::check(&presented[0].names(), host, !chain.is_limited())
            .map_err(|why| CertificateRefusal::new(ChainFault::Name, &why))
    }
}

impl ServerCertVerifier for OpensslRules {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let by_platform = self
            .platform
            .as_ref()
            .map(|platform| platform.verify_server_cert(leaf, intermediates, host, ocsp, now));
        if let Some(Ok(verified)) = by_platform {
            return Ok(verified);
        }
        let Err(refusal) = self.judge(leaf, intermediates, host, now) else {
            return Ok(ServerCertVerified::assertion());
        };
        // A chain that ends at a root of the platform has another fault than the missing issuer that it has here.
        let refusal = match by_platform {
            Some(Err(error)) if !is_unknown(&error) => by_roots(&error, leaf, host),
            _ => refusal,
        };
        Err(refusal.into_tls())
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
        self.algorithms().supported_schemes()
    }
}

/// Whether the platform's roots have nothing to do with a chain, or its verifier did not come to them.
fn is_unknown(error: &Error) -> bool {
    use CertificateError as Why;
    match error {
        Error::InvalidCertificate(why) => !matches!(
            why,
            Why::Expired
                | Why::ExpiredContext { .. }
                | Why::NotValidYet
                | Why::NotValidYetContext { .. }
                | Why::NotValidForName
                | Why::NotValidForNameContext { .. }
                | Why::Revoked
        ),
        _ => true,
    }
}

/// The refusal of a chain that ends at a root of the platform.
fn by_roots(error: &Error, leaf: &CertificateDer<'_>, host: &ServerName<'_>) -> CertificateRefusal {
    let fault = of_webpki(error);
    let certificate = Certificate::read(leaf);
    let detail = certificate.map(|one| match fault {
        ChainFault::Name => names::check(&one.names(), host, false)
            .err()
            .unwrap_or_default(),
        _ => format!("{}, issued by {}", one.subject(), one.issuer()),
    });
    CertificateRefusal::new(fault, &detail.unwrap_or_default())
}

#[cfg(test)]
#[path = "openssl_test.rs"]
mod openssl_test;
