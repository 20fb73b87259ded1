//! ClientHellos of TLS 1.1 and below, recognized by the first bytes of their record. rustls refuses most of them for an
//! extension that they lack, with the alert `handshake_failure`; `protocol_version` is due (RFC 5246 appendix E.1).

use rustls::{Error, PeerIncompatible};
use std::{error, fmt, io};

/// The alert, in a record whose version the oldest clients take.
pub(crate) const PROTOCOL_VERSION_ALERT: [u8; 7] = [21, 3, 1, 0, 2, 2, 70];

/// Bytes of the headers of a record and of a ClientHello, and of the version.
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
/// The second byte of the version of TLS 1.2 (RFC 5246 section 6.2.1).
const TLS12_MINOR: u8 = 3;

/// A ClientHello whose newest version is TLS 1.1 or older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OldHello;

impl OldHello {
    /// The ClientHello in `bytes`, which `error` refused.
    pub(super) fn refused(bytes: &[u8], error: &Error) -> Option<Self> {
        let lacks = PeerIncompatible::SignatureAlgorithmsExtensionRequired;
        let is_old = *error == Error::PeerIncompatible(lacks)
            && matches!(bytes, [HANDSHAKE, 3, _, _, _, CLIENT_HELLO, _, _, _, 3, minor, ..] if *minor < TLS12_MINOR);
        is_old.then_some(Self)
    }
    /// Whether `error` is one.
    pub(crate) fn is_in(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|source| source.is::<Self>())
    }
}

impl fmt::Display for OldHello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the newest version of TLS that the client speaks is 1.1 or older")
    }
}

impl error::Error for OldHello {}
