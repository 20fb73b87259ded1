//! 32 bytes derived from a private key by HKDF (RFC 5869): equal after a restart with the same key,
//! and useless for computing the key.

use crate::error::Error;
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use rustls::pki_types::PrivateKeyDer;
use std::fmt;

/// Bytes of a seed.
const SEED_BYTES: usize = 32;

/// The input for a server's other secrets where the user gives none.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Seed([u8; SEED_BYTES]);

impl Seed {
    /// From a key as it stands in its file: the same key in another encoding gives other bytes.
    ///
    /// # Errors
    /// When the cryptography refuses, which it does for longer outputs only.
    pub(in crate::tls) fn of(key: &PrivateKeyDer<'_>) -> Result<Self, Error> {
        let mut seed = [0; SEED_BYTES];
        // The salt keeps these bytes apart from whatever else is derived from the key.
        Salt::new(HKDF_SHA256, b"trunkline private key")
            .extract(key.secret_der())
            .expand(&[b"quic secret"], HKDF_SHA256)
            .and_then(|expanded| expanded.fill(&mut seed))
            .map_err(|_| Error::config("no secret can be derived from the private key"))?;
        Ok(Self(seed))
    }
    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed")
    }
}
