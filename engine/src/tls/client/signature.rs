//! Signatures of a handshake, by webpki.

pub(super) use rustls::crypto::verify_tls12_signature as verify_tls12;
pub(super) use rustls::crypto::verify_tls13_signature as verify_tls13;
