//! Certificates and private keys from PEM, in files and in text (RFC 7468).

use crate::error::Error;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;

type Chain = Vec<CertificateDer<'static>>;

/// A chain and its key from PEM files, which may be one.
pub(super) fn read_pem_files(
    certificate: &Path,
    key: &Path,
) -> Result<(Chain, PrivateKeyDer<'static>), Error> {
    let chain = certificates(certificate)?;
    let key_der =
        PrivateKeyDer::from_pem_file(key).map_err(|error| pem_error("the key file", key, error))?;
    Ok((chain, key_der))
}

/// A chain and its key from PEM text.
pub(super) fn read_pem(
    certificate: &[u8],
    key: &[u8],
) -> Result<(Chain, PrivateKeyDer<'static>), Error> {
    let chain = read_certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| unusable("key", error))?;
    Ok((chain, key))
}

/// The certificates in PEM text, at least one.
pub(super) fn read_certificates(text: &[u8]) -> Result<Chain, Error> {
    CertificateDer::pem_slice_iter(text)
        .collect::<Result<Chain, _>>()
        .and_then(|chain| match chain.is_empty() {
            true => Err(pem::Error::NoItemsFound),
            false => Ok(chain),
        })
        .map_err(|error| unusable("certificate", error))
}

pub(super) fn unusable(what: &str, error: pem::Error) -> Error {
    Error::config(match &error {
        pem::Error::NoItemsFound => format!("the text of the {what} has no such PEM section"),
        _ => format!("the text of the {what} is not valid PEM"),
    })
    .with_source(error)
}

/// The certificates of a PEM file, at least one.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| pem_error("the certificate file", path, error))?;
    if certificates.is_empty() {
        return Err(Error::config(format!(
            "the certificate file {} has no CERTIFICATE section",
            path.display()
        )));
    }
    Ok(certificates)
}

pub(super) fn pem_error(what: &str, path: &Path, error: pem::Error) -> Error {
    let text = match &error {
        pem::Error::NoItemsFound => format!("{what} {} has no such PEM section", path.display()),
        pem::Error::Io(_) => format!("{what} {} cannot be read", path.display()),
        _ => format!("{what} {} is not valid PEM", path.display()),
    };
    Error::config(text).with_source(error)
}
