//! The secret of a QUIC server. The keys of stateless resets, of tokens and of the worker number in
//! connection ids derive from it. A server restarted with the same secret can reset its
//! predecessor's connections (RFC 9000 section 10.3) and accepts its tokens.

use crate::error::Error;
use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use aws_lc_rs::hmac;
use quinn_proto::crypto::{HandshakeTokenKey, HmacKey};
use std::fmt;
use std::sync::Arc;

/// Fewer bytes could be guessed.
pub(crate) const SECRET_BYTES_MIN: usize = 32;
const KEY_BYTES: usize = 32;

/// The input of the key derivation.
#[derive(Clone)]
pub(crate) struct Secret(Prk);

impl Secret {
    /// From at least [`SECRET_BYTES_MIN`] secret bytes.
    pub(crate) fn new(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() < SECRET_BYTES_MIN {
            return Err(Error::config(format!(
                "the secret for QUIC has {} bytes; it must have at least {SECRET_BYTES_MIN}",
                bytes.len()
            )));
        }
        let salt = Salt::new(HKDF_SHA256, b"trunkline quic");
        Ok(Self(salt.extract(bytes)))
    }
    /// One that ends with this process.
    pub(crate) fn random() -> Result<Self, Error> {
        let mut bytes = [0; SECRET_BYTES_MIN];
        aws_lc_rs::rand::fill(&mut bytes)
            .map_err(|_| Error::config("the system has no random bytes"))?;
        Self::new(&bytes)
    }
    pub(crate) fn reset_key(&self) -> Result<Arc<dyn HmacKey>, Error> {
        let key = self.derive(b"stateless reset")?;
        Ok(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &key)))
    }
    pub(crate) fn token_key(&self) -> Result<Arc<dyn HandshakeTokenKey>, Error> {
        let key = self.derive(b"token")?;
        Ok(Arc::new(Salt::new(HKDF_SHA256, &[]).extract(&key)))
    }
    pub(crate) fn steering_key(&self) -> Result<[u8; KEY_BYTES], Error> {
        self.derive(b"steering")
    }
    fn derive(&self, purpose: &[u8]) -> Result<[u8; KEY_BYTES], Error> {
        let mut key = [0; KEY_BYTES];
        self.0
            .expand(&[purpose], HKDF_SHA256)
            .and_then(|expanded| expanded.fill(&mut key))
            .map_err(|_| Error::config("no key can be derived for QUIC"))?;
        Ok(key)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
#[path = "secret_test.rs"]
mod secret_test;
