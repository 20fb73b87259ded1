//! Several certificates of one name: each client is shown one whose signatures it verifies.

use crate::error::Error;
use crate::tls::certified::{certified_key, contains_key};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ClientHello;
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, ProtocolVersion, SignatureAlgorithm, SignatureScheme};
use std::sync::Arc;

/// OpenSSL's order (`tls12_sigalgs` of its `t1_lib.c`), as far as there are such signatures here.
const OWN_SCHEMES: [SignatureScheme; 10] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED25519,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
];

/// A chain and its key.
pub(super) type Pair = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The certificates of one name, at least one.
#[derive(Clone, Debug)]
pub(super) struct Alternatives(Arc<[Arc<CertifiedKey>]>);

impl Alternatives {
    pub(super) fn new(provider: &CryptoProvider, pairs: Vec<Pair>) -> Result<Self, Error> {
        let unusable = |error: rustls::Error| {
            Error::config("the certificate and its key cannot be used together").with_source(error)
        };
        let certified = pairs.into_iter().map(|(chain, key)| {
            let identity = certified_key(provider, chain, key);
            identity.map(Arc::new).map_err(unusable)
        });
        certified.collect::<Result<_, _>>().map(Self)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &CertifiedKey> {
        self.0.iter().map(|one| &**one)
    }
    /// The first, where none fits: the handshake ends with its own alert then.
    pub(super) fn choose(
        &self,
        hello: &ClientHello<'_>,
        order: &SuiteOrder,
    ) -> Option<Arc<CertifiedKey>> {
        let chosen = match &*self.0 {
            [_] => None,
            all => order.choose(all, hello),
        };
        chosen.or_else(|| self.0.first()).cloned()
    }
}

/// The suites that a server negotiates, which decide about the certificate too.
#[derive(Debug)]
pub(super) struct SuiteOrder {
    /// Best first.
    suites: Vec<(CipherSuite, ProtocolVersion)>,
    prefers_own: bool,
}

impl SuiteOrder {
    pub(super) fn of(provider: &CryptoProvider, prefers_own: bool) -> Self {
        let suites = provider.cipher_suites.iter();
        let suites = suites.map(|suite| (suite.suite(), suite.version().version));
        Self {
            suites: suites.collect(),
            prefers_own,
        }
    }
    fn choose<'a>(
        &self,
        all: &'a [Arc<CertifiedKey>],
        hello: &ClientHello<'_>,
    ) -> Option<&'a Arc<CertifiedKey>> {
        let offered = hello.cipher_suites();
        let is_of_tls13 = self.suites.iter().any(|(suite, version)| {
            *version != ProtocolVersion::TLSv1_2 && offered.contains(suite)
        });
        let schemes = self.schemes(hello, is_of_tls13);
        let fitting = |is_for: &dyn Fn(SignatureAlgorithm) -> bool| {
            schemes.iter().find_map(|scheme| {
                all.iter().find(|one| {
                    is_for(one.key.algorithm()) && one.key.choose_scheme(&[*scheme]).is_some()
                })
            })
        };
        if is_of_tls13 {
            return fitting(&|_| true);
        }
        // The suite goes first, and names the kind of key (RFC 5246 section 7.4.2).
        let own = || self.suites.iter().map(|(suite, _)| suite);
        let common: Vec<&CipherSuite> = match self.prefers_own {
            true => own().filter(|suite| offered.contains(suite)).collect(),
            false => offered
                .iter()
                .filter(|suite| own().any(|one| one == *suite))
                .collect(),
        };
        common
            .into_iter()
            .find_map(|suite| fitting(&|kind| is_signed_by(*suite, kind)))
    }
    /// The schemes of the client, best first.
    fn schemes(&self, hello: &ClientHello<'_>, is_of_tls13: bool) -> Vec<SignatureScheme> {
        let offered = hello.signature_schemes();
        let mut schemes = match self.prefers_own {
            true => OWN_SCHEMES.to_vec(),
            false => offered.to_vec(),
        };
        // RFC 8446 section 4.2.3: signatures of PKCS #1 are those of certificates there.
        schemes.retain(|scheme| offered.contains(scheme) && !(is_of_tls13 && is_pkcs1(*scheme)));
        schemes
    }
}

fn is_pkcs1(scheme: SignatureScheme) -> bool {
    use SignatureScheme as Scheme;
    matches!(
        scheme,
        Scheme::RSA_PKCS1_SHA256 | Scheme::RSA_PKCS1_SHA384 | Scheme::RSA_PKCS1_SHA512
    )
}

/// Whether a handshake with this suite of TLS 1.2 is signed by such a key (RFC 8422 section 2).
fn is_signed_by(suite: CipherSuite, kind: SignatureAlgorithm) -> bool {
    use CipherSuite as Suite;
    let is_of_rsa = matches!(
        suite,
        Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
            | Suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
            | Suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
    );
    is_of_rsa == (kind == SignatureAlgorithm::RSA)
}

/// The chain of each key, in the order of the chains. A single key has all certificates for its chain; of several, each
/// begins one with its certificate, and those that have none are not used.
pub(super) fn pairs_of(
    provider: &CryptoProvider,
    certificates: Vec<CertificateDer<'static>>,
    keys: Vec<PrivateKeyDer<'static>>,
) -> Result<Vec<Pair>, Error> {
    if let [key] = &keys[..] {
        return Ok(vec![(certificates, key.clone_key())]);
    }
    let public = |key: PrivateKeyDer<'static>| {
        let loaded = provider.key_provider.load_private_key(key.clone_key());
        match loaded {
            Ok(loaded) => Ok((loaded.public_key().map(|public| public.to_vec()), key)),
            Err(error) => Err(Error::config("one of the keys cannot be used").with_source(error)),
        }
    };
    let mut keys = keys
        .into_iter()
        .map(public)
        .collect::<Result<Vec<_>, _>>()?;
    let mut pairs: Vec<Pair> = Vec::new();
    for certificate in certificates {
        let own = keys.iter().position(|(public, _)| {
            let public = public.as_deref();
            public.is_some_and(|public| contains_key(&certificate, public))
        });
        match (own, pairs.last_mut()) {
            (Some(at), _) => pairs.push((vec![certificate], keys.swap_remove(at).1)),
            (None, Some((chain, _))) => chain.push(certificate),
            // Not that of a key: the first is taken, and refused for it.
            (None, None) => pairs.push((vec![certificate], keys.remove(0).1)),
        }
    }
    Ok(pairs)
}

#[cfg(test)]
#[path = "alternatives_test.rs"]
mod alternatives_test;
