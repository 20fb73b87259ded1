//! Client certificates (mutual TLS): which a server accepts, and the identity of an accepted
//! client.

use crate::error::Error;
#[cfg(feature = "openssl-rules")]
use crate::tls::openssl::{CertificateRefusal, clients::OpensslClients, peer::TrustedCertificates};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme,
};
use std::fmt;
use std::sync::Arc;

/// The most issuers that are named to clients, so that they choose the right certificate: a longer
/// list helps no client, and is kilobytes in every handshake.
const ISSUERS_NAMED_MAX: usize = 64;

/// Which client certificates a server trusts, and which clients it admits. By default it admits
/// only clients with a certificate of one of the issuers, direct or through intermediates that the
/// client sends too, and with the purpose of client authentication where a purpose is stated.
///
/// Trust comes from the issuer: a certificate that is itself among the issuers is trusted only if
/// it is not an authority's own. Each of the issuers is an authority, also one whose certificate does not say so or
/// has expired: the holder of its key can issue certificates for any name. The method `openssl_rules` of the feature of that
/// name asks more of issuers.
#[derive(Clone, Debug)]
#[must_use]
pub struct ClientCertificates {
    issuers: Vec<CertificateDer<'static>>,
    revoked: Vec<CertificateRevocationListDer<'static>>,
    admitted: Admitted,
    #[cfg(feature = "openssl-rules")]
    by_openssl: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admitted {
    Believed,
    BelievedOrNameless,
    Everybody,
}

impl ClientCertificates {
    /// Trusts certificates issued by these, in PEM.
    ///
    /// # Errors
    /// A text without a certificate, or that is not PEM.
    pub fn issued_by(issuers: &[u8]) -> Result<Self, Error> {
        let issuers = CertificateDer::pem_slice_iter(issuers).collect::<Result<Vec<_>, _>>();
        Ok(Self {
            issuers: some_of(issuers, "the text of the issuers", "CERTIFICATE")?,
            revoked: Vec::new(),
            admitted: Admitted::Believed,
            #[cfg(feature = "openssl-rules")]
            by_openssl: false,
        })
    }
    /// Trusts no certificate: with [`judged_by_handlers`](Self::judged_by_handlers), handlers alone decide.
    pub fn issued_by_none() -> Self {
        Self {
            issuers: Vec::new(),
            revoked: Vec::new(),
            admitted: Admitted::Believed,
            #[cfg(feature = "openssl-rules")]
            by_openssl: false,
        }
    }
    /// Judges chains by OpenSSL's rules too, as Node.js does: an issuer is a root, its own issuer and not expired, and
    /// only an authority has issued what is below it. A client's certificate that is itself an issuer is accepted, also where it says
    /// that it is an authority; so is one of version 1. What is refused is [`CertificateFault::Openssl`].
    #[cfg(feature = "openssl-rules")]
    pub fn openssl_rules(mut self) -> Self {
        self.by_openssl = true;
        self
    }
    /// Refuses certificates that these revocation lists, in PEM, revoke. Every issuer of a chain
    /// must have a list then that has not expired, except for the last.
    ///
    /// # Errors
    /// A text without a list, or that is not PEM.
    pub fn not_revoked_by(mut self, lists: &[u8]) -> Result<Self, Error> {
        let lists = CertificateRevocationListDer::pem_slice_iter(lists);
        let lists = lists.collect::<Result<Vec<_>, _>>();
        let lists = some_of(lists, "the text of the revocation lists", "X509 CRL")?;
        self.revoked.extend(lists);
        Ok(self)
    }
    /// Admits clients that show no certificate too.
    pub fn optional(mut self) -> Self {
        self.admitted = Admitted::BelievedOrNameless;
        self
    }
    /// Admits every client. Handlers read from [`TlsInfo::client`](crate::TlsInfo::client) which
    /// certificate was sent, and whether it is trusted; the client has proved its key either way.
    pub fn judged_by_handlers(mut self) -> Self {
        self.admitted = Admitted::Everybody;
        self
    }
    /// The verifier of each handshake's client certificate, and the judge of resumed sessions.
    pub(in crate::tls) fn verifiers(
        self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<(Arc<dyn ClientCertVerifier>, Judge), Error> {
        #[cfg(feature = "openssl-rules")]
        let (issuers, has_lists) = (
            self.by_openssl
                .then(|| TrustedCertificates::new(&self.issuers)),
            !self.revoked.is_empty(),
        );
        let mut roots = RootCertStore::empty();
        for (index, issuer) in self.issuers.into_iter().enumerate() {
            roots.add(issuer).map_err(|error| {
                let place = index + 1;
                Error::config(format!("issuer {place} cannot be used to believe clients"))
                    .with_source(error)
            })?;
        }
        let believes = believing(roots, self.revoked, self.admitted, provider)?;
        #[cfg(feature = "openssl-rules")]
        let believes = match issuers {
            Some(issuers) => Arc::new(OpensslClients {
                webpki: believes,
                issuers,
                has_lists,
                provider: Arc::clone(provider),
            }),
            None => believes,
        };
        let judge = Judge {
            believes: Arc::clone(&believes),
            admitted: self.admitted,
        };
        Ok(match self.admitted {
            Admitted::Everybody => (Arc::new(Everybody(believes)), judge),
            Admitted::Believed | Admitted::BelievedOrNameless => (believes, judge),
        })
    }
}

fn some_of<T>(
    found: Result<Vec<T>, pem::Error>,
    what: &str,
    section: &str,
) -> Result<Vec<T>, Error> {
    match found {
        Ok(some) if !some.is_empty() => Ok(some),
        Ok(_) => Err(Error::config(format!("{what} has no {section} section"))),
        Err(error) => Err(Error::config(format!("{what} is not valid PEM")).with_source(error)),
    }
}

/// webpki's verifier. It takes at least one root: without one, a verifier that trusts no certificate.
fn believing(
    roots: RootCertStore,
    revoked: Vec<CertificateRevocationListDer<'static>>,
    admitted: Admitted,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    if roots.is_empty() {
        return Ok(Arc::new(NoIssuer {
            is_mandatory: admitted != Admitted::BelievedOrNameless,
            provider: Arc::clone(provider),
        }));
    }
    let is_long = roots.len() > ISSUERS_NAMED_MAX;
    let mut builder =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .with_crls(revoked)
            .enforce_revocation_expiration();
    if is_long {
        builder = builder.clear_root_hint_subjects();
    }
    if admitted == Admitted::BelievedOrNameless {
        builder = builder.allow_unauthenticated();
    }
    builder
        .build()
        .map_err(|error| Error::config("the revocation lists cannot be used").with_source(error))
}

/// Trusts no certificate, and verifies that the client has the key of the one that it shows.
#[derive(Debug)]
struct NoIssuer {
    is_mandatory: bool,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for NoIssuer {
    fn client_auth_mandatory(&self) -> bool {
        self.is_mandatory
    }
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Err(CertificateError::UnknownIssuer.into())
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// Accepts a client that proves the key of any certificate, or sends none.
#[derive(Debug)]
struct Everybody(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for Everybody {
    fn client_auth_mandatory(&self) -> bool {
        false
    }
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }
    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Judges the certificates that a client has shown.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    believes: Arc<dyn ClientCertVerifier>,
    admitted: Admitted,
}

impl Judge {
    /// The identity of a client that sent `chain`, its own certificate first; `None`: it sent none.
    pub(crate) fn identify(&self, chain: &[CertificateDer<'_>]) -> Option<ClientIdentity> {
        let judged = self.verify(chain)?;
        Some(ClientIdentity {
            certificates: chain.iter().map(|one| one.clone().into_owned()).collect(),
            fault: judged.err().map(|error| CertificateFault::of(&error)),
        })
    }
    /// Checked again for every connection: a resumed handshake verifies no certificate, and one
    /// that was trusted when the session began may have expired since.
    ///
    /// # Errors
    /// Why a client that has shown `chain` is not admitted.
    pub(crate) fn admit(&self, chain: &[CertificateDer<'_>]) -> Result<(), rustls::Error> {
        match (self.admitted, self.verify(chain)) {
            (Admitted::Everybody, _) | (Admitted::BelievedOrNameless, None) => Ok(()),
            (Admitted::Believed, None) => Err(rustls::Error::NoCertificatesPresented),
            (_, Some(judged)) => judged,
        }
    }
    fn verify(&self, chain: &[CertificateDer<'_>]) -> Option<Result<(), rustls::Error>> {
        let (own, intermediates) = chain.split_first()?;
        let now = UnixTime::now();
        let judged = self.believes.verify_client_cert(own, intermediates, now);
        Some(judged.map(drop))
    }
}

/// The identity of a client, which has proved the key of the first certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientIdentity {
    certificates: Box<[CertificateDer<'static>]>,
    fault: Option<CertificateFault>,
}

impl ClientIdentity {
    /// The certificates sent, in DER: its own, then intermediates.
    pub fn certificates(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.certificates.iter().map(|one| one.as_ref())
    }
    /// Why its certificate is not trusted; `None`: it is.
    pub fn fault(&self) -> Option<&CertificateFault> {
        self.fault.as_ref()
    }
}

/// Why a certificate is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateFault {
    /// No trusted authority has issued it.
    UnknownIssuer,
    /// Its time is over.
    Expired,
    /// Its time has not come.
    NotYetValid,
    /// Its issuer has revoked it.
    Revoked,
    /// There is no list that says whether it is revoked, or none that is still good.
    RevocationUnknown,
    /// A signature in its chain is wrong.
    Signature,
    /// It is for something else.
    Purpose,
    /// OpenSSL's rules refuse it, by [`ClientCertificates::openssl_rules`].
    #[cfg(feature = "openssl-rules")]
    Openssl(CertificateRefusal),
    /// Anything else.
    Other(String),
}

impl CertificateFault {
    pub(crate) fn of(error: &rustls::Error) -> Self {
        use CertificateError as Kind;
        let rustls::Error::InvalidCertificate(kind) = error else {
            return Self::Other(error.to_string());
        };
        #[cfg(feature = "openssl-rules")]
        if let Some(refusal) = CertificateRefusal::of_tls(kind) {
            return Self::Openssl(refusal.clone());
        }
        match kind {
            Kind::UnknownIssuer => Self::UnknownIssuer,
            Kind::Expired | Kind::ExpiredContext { .. } => Self::Expired,
            Kind::NotValidYet | Kind::NotValidYetContext { .. } => Self::NotYetValid,
            Kind::Revoked => Self::Revoked,
            Kind::UnknownRevocationStatus
            | Kind::ExpiredRevocationList
            | Kind::ExpiredRevocationListContext { .. } => Self::RevocationUnknown,
            Kind::BadSignature => Self::Signature,
            Kind::InvalidPurpose | Kind::InvalidPurposeContext { .. } => Self::Purpose,
            other => Self::Other(other.to_string()),
        }
    }
}

impl fmt::Display for CertificateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownIssuer => "nobody who is believed has issued the certificate",
            Self::Expired => "the certificate has expired",
            Self::NotYetValid => "the certificate is not valid yet",
            Self::Revoked => "the certificate is revoked",
            Self::RevocationUnknown => "no list says whether the certificate is revoked",
            Self::Signature => "a signature in the certificate's chain is wrong",
            Self::Purpose => "the certificate is for something else",
            #[cfg(feature = "openssl-rules")]
            Self::Openssl(why) => return write!(f, "the certificate is not believed: {why}"),
            Self::Other(why) => return write!(f, "the certificate is not believed: {why}"),
        })
    }
}

#[cfg(test)]
#[path = "clients_test.rs"]
mod clients_test;
