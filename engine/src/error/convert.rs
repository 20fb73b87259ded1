//! Our errors as those of other interfaces.

use super::{Error, ErrorKind};
use std::error::Error as StdError;
use std::io;

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
