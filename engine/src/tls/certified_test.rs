use super::*;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// A certificate and its key, in DER.
fn made() -> (Vec<u8>, PrivateKeyDer<'static>) {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(signed.signing_key.serialize_der());
    (signed.cert.der().to_vec(), key.into())
}

/// The certificate with the number of another version (RFC 5280 section 4.1.2.1): 0 is version 1.
fn of_version(number: u8, mut certificate: Vec<u8>) -> Vec<u8> {
    const VERSION: [u8; 4] = [0xa0, 0x03, 0x02, 0x01];
    let mut places = certificate.windows(VERSION.len());
    let place = places.position(|window| window == VERSION).unwrap();
    certificate[place + VERSION.len()] = number;
    certificate
}

fn identity(leaf: Vec<u8>, key: PrivateKeyDer<'static>) -> Result<CertifiedKey, Error> {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    certified_key(&provider, vec![CertificateDer::from(leaf)], key)
}

#[test]
fn a_certificate_of_version_1_is_taken_with_its_key_and_refused_with_that_of_another() {
    let (leaf, key) = made();
    let (_, other) = made();
    for number in [0, 2] {
        let leaf = of_version(number, leaf.clone());
        assert!(identity(leaf.clone(), key.clone_key()).is_ok(), "{number}");
        assert!(identity(leaf, other.clone_key()).is_err(), "{number}");
    }
}

#[test]
fn bytes_that_are_no_certificate_are_refused() {
    let (leaf, key) = made();
    for bytes in [Vec::new(), vec![0; 300], leaf[..100].to_vec()] {
        assert!(identity(bytes, key.clone_key()).is_err());
    }
}
