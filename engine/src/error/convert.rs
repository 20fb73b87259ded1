//! Our errors as those of other interfaces.

use super::{Error, ErrorKind};
use std::error::Error as StdError;
use std::io;
use trunkline_core::error::Violation;

/// For functions that give `io::Result`: the kind is that of the system's error among the sources, else the
/// nearest one; the error is the inner one.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(io_kind(&error), error)
    }
}

fn io_kind(error: &Error) -> io::ErrorKind {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            return cause.kind();
        }
        source = cause.source();
    }
    match error.kind() {
        ErrorKind::Config | ErrorKind::Message(_) => io::ErrorKind::InvalidInput,
        _ if error.is_timeout() => io::ErrorKind::TimedOut,
        // As std's readers of what ends in front of its end; those of h1, h2 and h3 in this order.
        ErrorKind::Violation(
            Violation::BodyTruncated
            | Violation::ContentLengthMismatch
            | Violation::ResponseIncomplete
            | Violation::RequestIncomplete
            | Violation::FrameTruncated
            | Violation::CapsuleTruncated,
        ) => io::ErrorKind::UnexpectedEof,
        ErrorKind::TransportClosed if error.is_body() => io::ErrorKind::UnexpectedEof,
        ErrorKind::StreamReset(_) => io::ErrorKind::ConnectionReset,
        ErrorKind::TransportClosed | ErrorKind::ConnectionClosed(_) => {
            io::ErrorKind::ConnectionAborted
        }
        ErrorKind::Violation(_) => io::ErrorKind::InvalidData,
        _ => io::ErrorKind::Other,
    }
}

#[cfg(test)]
#[path = "convert_test.rs"]
mod convert_test;
