//! The options of TLS that the commands with a client share.

use aws_lc_rs::digest::{SHA256, digest};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject as _;
use std::path::PathBuf;
use trunkline::Error;
use trunkline::client::ClientTls;

/// Trust in servers, and the identity that they may ask for.
#[derive(Args, Debug)]
pub(crate) struct TlsOptions {
    /// Do not verify the server's certificate.
    #[arg(short = 'k', long)]
    insecure: bool,
    /// TLS 1.2 and newer: done in any case.
    #[arg(long = "tlsv1.2", overrides_with = "only_tls13")]
    tls12: bool,
    /// TLS 1.3 alone.
    #[arg(long = "tlsv1.3")]
    only_tls13: bool,
    /// The newest version of TLS: 1.2 is that alone, 1.3 is so in any case.
    #[arg(long, value_name = "VERSION", value_parser = ["default", "1.2", "1.3"], conflicts_with = "only_tls13")]
    tls_max: Option<String>,
    /// Believe the certificates in this PEM file too, by OpenSSL's rules: a server's own certificate may be among them.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Believe only a server that has one of these keys: `sha256//HASH;sha256//HASH` in base64, or a file with a public key in PEM or DER.
    #[arg(long, value_name = "HASHES or FILE", value_parser = pins)]
    pinnedpubkey: Option<Pins>,
    /// Our certificate chain in this PEM file, and its key if --key names no other file.
    #[arg(short = 'E', long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// The private key of --cert, in a PEM file.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
}

/// SHA-256 of keys of servers.
#[derive(Clone, Debug)]
struct Pins(Vec<[u8; 32]>);

/// Hashes, or the key in a file.
fn pins(text: &str) -> Result<Pins, String> {
    const HASH: &str = "sha256//";
    if !text.starts_with(HASH) {
        let bytes = std::fs::read(text).map_err(|error| format!("{text}: {error}"))?;
        let key = SubjectPublicKeyInfoDer::from_pem_slice(&bytes);
        let key = key.unwrap_or_else(|_| SubjectPublicKeyInfoDer::from(bytes));
        let hash = digest(&SHA256, &key);
        let pin = hash.as_ref().try_into();
        return Ok(Pins(vec![pin.expect("SHA-256 has 32 bytes")]));
    }
    let pin = |hash: &str| {
        let bytes = BASE64_STANDARD.decode(hash.strip_prefix(HASH)?).ok()?;
        <[u8; 32]>::try_from(bytes).ok()
    };
    let pins = text.split(';').map(pin).collect::<Option<_>>();
    pins.map(Pins)
        .ok_or_else(|| format!("it must be {HASH} and 32 bytes in base64, further ones behind ;"))
}

/// The part of TLS that a file was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsPart {
    /// --cacert.
    Roots,
    /// --cert and --key.
    Identity,
}

impl TlsOptions {
    /// The settings that they name.
    ///
    /// # Errors
    /// If a file cannot be read, or has no certificate or key in PEM.
    pub(crate) fn client_tls(&self) -> Result<ClientTls, (TlsPart, Box<Error>)> {
        let mut tls = ClientTls::new();
        if self.insecure {
            tls = tls.insecure();
        }
        if self.only_tls13 {
            tls = tls.only_tls13();
        }
        if let Some(Pins(pins)) = &self.pinnedpubkey {
            tls = tls.pinned_keys(pins.iter().copied());
        }
        if self.tls_max.as_deref() == Some("1.2") {
            tls = tls.only_tls12();
        }
        if let Some(path) = &self.cacert {
            // One that `openssl req -x509` has made says that it is an authority.
            let roots = tls.roots_from_pem_file(path);
            tls = roots
                .map_err(|error| (TlsPart::Roots, Box::new(error)))?
                .openssl_rules();
        }
        if let Some(path) = &self.cert {
            let identity = tls.identity_from_pem_files(path, self.key.as_ref().unwrap_or(path));
            tls = identity.map_err(|error| (TlsPart::Identity, Box::new(error)))?;
        }
        Ok(tls)
    }
}
