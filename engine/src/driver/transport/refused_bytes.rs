//! Bytes that TLS refused in place of a handshake, by what they are.

use super::cleartext::UnsecuredRequest;
use super::old_hello::OldHello;
use rustls::Error;
use std::io::{self, ErrorKind::InvalidData};

/// The error of a handshake that `bytes` broke.
pub(super) fn refused_by_tls(bytes: &[u8], error: Error) -> io::Error {
    if let Some(cleartext) = UnsecuredRequest::refused(bytes, &error) {
        return io::Error::new(InvalidData, cleartext);
    }
    match OldHello::refused(bytes, &error) {
        Some(old) => io::Error::new(InvalidData, old),
        None => io::Error::new(InvalidData, error),
    }
}
