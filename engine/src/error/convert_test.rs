//! Kinds of `io::Error`.

use crate::error::{Error, ErrorKind, Fault, Retry};
use std::io;
use trunkline_core::error::{H2Code, Violation};

#[test]
fn an_error_as_one_of_io_has_the_kind_of_the_systems_error_or_the_nearest_one() {
    let of = |kind| Error::new(kind, Fault::Network, Retry::Never);
    let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
    for (error, kind) in [
        (
            of(ErrorKind::Connect).with_source(refused),
            io::ErrorKind::ConnectionRefused,
        ),
        (of(ErrorKind::Timeout), io::ErrorKind::TimedOut),
        (of(ErrorKind::Config), io::ErrorKind::InvalidInput),
        (
            of(ErrorKind::StreamReset(H2Code::CANCEL)),
            io::ErrorKind::ConnectionReset,
        ),
        (
            of(ErrorKind::TransportClosed),
            io::ErrorKind::ConnectionAborted,
        ),
        (of(ErrorKind::Tls), io::ErrorKind::Other),
        (
            of(ErrorKind::Violation(Violation::BodyTruncated)),
            io::ErrorKind::UnexpectedEof,
        ),
        (
            of(ErrorKind::Violation(Violation::ContentLengthMismatch)),
            io::ErrorKind::UnexpectedEof,
        ),
        (
            of(ErrorKind::Violation(Violation::ChunkInvalid)),
            io::ErrorKind::InvalidData,
        ),
    ] {
        let text = error.to_string();
        let error = io::Error::from(error);
        assert_eq!((error.kind(), error.to_string()), (kind, text));
        let inner = error.get_ref().expect("the error itself");
        assert!(inner.is::<Error>());
    }
}
