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

/// Whether the leaf contains the public key, which stands in every certificate as it is (RFC 5280 section 4.1.2.7).
fn contains_its_key(identity: &CertifiedKey) -> bool {
    let (Some(leaf), Some(key)) = (identity.cert.first(), identity.key.public_key()) else {
        return false;
    };
    leaf.windows(key.len().max(1))
        .any(|window| window == &key[..])
}

#[cfg(test)]
#[path = "certified_test.rs"]
mod certified_test;
