//! One self-signed certificate (ECDSA P-256) for every peer of a run.

use rcgen::PublicKeyData;
use std::fs;
use std::path::{Path, PathBuf};

/// A certificate for localhost and 127.0.0.1 with its key, as PEM files.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate's file.
    pub chain: PathBuf,
    /// The key's file.
    pub key: PathBuf,
    /// The certificate as DER: what a client must trust.
    pub der: Vec<u8>,
    /// Its public key as DER (SubjectPublicKeyInfo), by whose hash a browser can be made to trust
    /// it.
    pub public_key: Vec<u8>,
}

impl Certificate {
    /// Writes a fresh one into `folder`.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn write(folder: &Path) -> Result<Self, String> {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let signed = rcgen::generate_simple_self_signed(names)
            .map_err(|error| format!("no certificate can be made: {error}"))?;
        let made = Self {
            chain: folder.join("certificate.pem"),
            key: folder.join("key.pem"),
            der: signed.cert.der().to_vec(),
            public_key: signed.signing_key.subject_public_key_info(),
        };
        let write = |path: &Path, text: String| {
            fs::write(path, text)
                .map_err(|error| format!("{} cannot be written: {error}", path.display()))
        };
        write(&made.chain, signed.cert.pem())?;
        write(&made.key, signed.signing_key.serialize_pem())?;
        Ok(made)
    }
}
