//! A certificate chain with its private key, on either side.

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys};

/// The chain and its key. rustls alone would refuse a certificate of version 1, which `openssl x509 -req` makes where no
/// extension is asked for: webpki does not parse one. Neither side has to parse its own certificate.
pub(in crate::tls) fn certified_key(
    provider: &CryptoProvider,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<CertifiedKey, Error> {
    let key = provider.key_provider.load_private_key(key)?;
    let identity = CertifiedKey::new(chain, key);
    match identity.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(identity),
        Err(Error::InvalidCertificate(_)) if contains_its_key(&identity) => Ok(identity),
        Err(error) => Err(error),
    }
}

/// Whether the leaf contains the public key.
fn contains_its_key(identity: &CertifiedKey) -> bool {
    match (identity.cert.first(), identity.key.public_key()) {
        (Some(leaf), Some(key)) => contains_key(leaf, &key),
        _ => false,
    }
}

/// Whether a certificate contains this public key, which stands in every one as it is (RFC 5280 section 4.1.2.7).
pub(in crate::tls) fn contains_key(certificate: &CertificateDer<'_>, key: &[u8]) -> bool {
    let mut windows = certificate.windows(key.len().max(1));
    windows.any(|window| window == key)
}

#[cfg(test)]
#[path = "certified_test.rs"]
mod certified_test;
