//! Exit codes of `get`, which are curl's, for scripts that know them.

use crate::failure::Failure;
use crate::serve::in_full;
use std::fmt::Display;
use std::io;
use trunkline::{Error, ErrorKind, Fault};

/// A URL that cannot be read.
pub(super) const URL: u8 = 3;
/// The scheme is none of ours.
pub(super) const SCHEME: u8 = 1;
/// The body ended before its end.
const CUT: u8 = 18;
/// The status was an error, with -f.
pub(super) const STATUS: u8 = 22;
/// A file to be sent cannot be read.
const UNREAD: u8 = 26;
/// The server gives no such part of the content.
pub(super) const RANGE: u8 = 33;
/// More redirects than --max-redirs.
pub(super) const REDIRECTS: u8 = 47;
/// A content coding that cannot be decoded.
pub(super) const CODING: u8 = 61;

/// A file to be sent cannot be read.
pub(super) fn unread(path: impl Display, error: &dyn Display) -> Failure {
    Failure::new(UNREAD, format_args!("{path} cannot be read: {error}"))
}

/// The failure of an exchange; `has_head`: its response had begun.
pub(super) fn of(error: &Error, has_head: bool) -> Failure {
    let code = match error.kind() {
        _ if error.fault() == Fault::Config => return Failure::usage(in_full(error)),
        _ if error.is_decode() => CODING,
        ErrorKind::Resolve => 6,
        ErrorKind::Proxy => 97,
        ErrorKind::Timeout => 28,
        ErrorKind::Tls if is_certificate(error) => 60,
        ErrorKind::Tls => 35,
        ErrorKind::Connect => 7,
        ErrorKind::Violation(_) | ErrorKind::TransportClosed if has_head => CUT,
        ErrorKind::Violation(_) => 8,
        ErrorKind::TransportClosed => 52,
        ErrorKind::StreamReset(_) => 92,
        ErrorKind::ConnectionClosed(_) => 16,
        _ => 56,
    };
    Failure::new(code, in_full(error))
}

/// Whether the server's certificate was refused.
fn is_certificate(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let inner = match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(inner) => inner.downcast_ref(),
            None => error.downcast_ref(),
        };
        if let Some(rustls::Error::InvalidCertificate(_)) = inner {
            return true;
        }
        cause = error.source();
    }
    false
}
