//! Questions about an error that a program asks first.

use super::{Error, ErrorKind, Fault, Progress, Retry};
use http::StatusCode;
use std::error::Error as _;
use std::io;
use trunkline_core::error::{H2Code, Misuse, Violation};

// Codes of gRPC (`grpc-status`).
const CANCELLED: i32 = 1;
const UNKNOWN: i32 = 2;
const DEADLINE_EXCEEDED: i32 = 4;
const PERMISSION_DENIED: i32 = 7;
const RESOURCE_EXHAUSTED: i32 = 8;
const UNIMPLEMENTED: i32 = 12;
const INTERNAL: i32 = 13;
const UNAVAILABLE: i32 = 14;
const UNAUTHENTICATED: i32 = 16;

/// The code of gRPC for a response without one ("HTTP to gRPC Status Code Mapping").
pub(crate) fn grpc_code_of(status: StatusCode) -> i32 {
    match status.as_u16() {
        400 => INTERNAL,
        401 => UNAUTHENTICATED,
        403 => PERMISSION_DENIED,
        404 => UNIMPLEMENTED,
        429 | 502 | 503 | 504 => UNAVAILABLE,
        _ => UNKNOWN,
    }
}

impl Error {
    /// Whether no connection was had: the name, the address, the proxy or TLS failed.
    pub fn is_connect(&self) -> bool {
        let failed = matches!(
            self.kind,
            ErrorKind::Resolve | ErrorKind::Connect | ErrorKind::Proxy | ErrorKind::Tls
        );
        failed && !self.was_sent
    }
    /// Whether this side refused the server's certificate, over TCP or QUIC: it is of no trusted root, of another name, out of
    /// date or revoked.
    pub fn is_certificate(&self) -> bool {
        self.refuses_certificate
    }
    /// Whether a deadline passed: one of the request or of a connection that was being opened, ours or the system's
    /// (`ETIMEDOUT`). [`is_connect`](Self::is_connect) tells them apart.
    pub fn is_timeout(&self) -> bool {
        self.kind == ErrorKind::Timeout || self.timed_out || self.system_timed_out()
    }
    fn system_timed_out(&self) -> bool {
        let first = self.source();
        let mut causes = std::iter::successors(first, |&cause| cause.source());
        causes.any(|cause| {
            let system = cause.downcast_ref::<io::Error>();
            system.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
        })
    }
    /// Whether there was no response to the request: whatever is not a setting, a status, a redirect or a response's
    /// body. A body that was given and failed is one of these.
    pub fn is_request(&self) -> bool {
        let of_response = self.is_body() && self.kind != ErrorKind::Body || self.is_decode();
        !(self.is_config() || self.is_status() || self.is_redirect() || of_response)
    }
    /// Whether a response has a status that was asked for as an error
    /// ([`error_for_status`](crate::client::ResponseExt::error_for_status)).
    pub fn is_status(&self) -> bool {
        matches!(self.kind, ErrorKind::Status(_))
    }
    /// Whether a response's body is not what it was read as: other JSON, a content coding that does not
    /// decompress, more bytes than were allowed.
    pub fn is_decode(&self) -> bool {
        self.kind == ErrorKind::Body && self.fault == Fault::Peer
    }
    /// Whether a redirect is not followed.
    pub fn is_redirect(&self) -> bool {
        self.kind == ErrorKind::Redirect
    }
    /// Whether a body failed: one that was given, one of a response that did not come to its end, or one that is
    /// not what it was read as.
    pub fn is_body(&self) -> bool {
        self.kind == ErrorKind::Body || self.progress() == Some(Progress::ReceivingBody)
    }
    /// How far the request had come where it failed; `None`: it was on no connection.
    fn progress(&self) -> Option<Progress> {
        self.attempts.last().map(|attempt| attempt.progress)
    }
    /// Whether a setting or a part of the request cannot be used: nothing was sent.
    pub fn is_config(&self) -> bool {
        self.kind == ErrorKind::Config
    }
    /// The code of gRPC for it: of a reset by its code (the table of gRPC over HTTP/2), UNAVAILABLE (14) where no
    /// connection was had or one ended, or the peer left the request unprocessed, DEADLINE_EXCEEDED (4) for a timeout, CANCELLED (1) for our
    /// own side's end, RESOURCE_EXHAUSTED (8) for a head that is larger than the server says it takes, else INTERNAL (13). `tonic::Code::from` takes it.
    pub fn grpc_code(&self) -> i32 {
        match self.kind {
            ErrorKind::StreamReset(H2Code::REFUSED_STREAM) => UNAVAILABLE,
            // Behind a GOAWAY, whatever its code: that is one of the connection.
            ErrorKind::StreamReset(_) if self.retry == Retry::Safe => UNAVAILABLE,
            ErrorKind::StreamReset(H2Code::CANCEL) | ErrorKind::Cancelled => CANCELLED,
            ErrorKind::StreamReset(H2Code::ENHANCE_YOUR_CALM)
            | ErrorKind::Message(Misuse::Invalid(Violation::FieldSectionTooLarge)) => {
                RESOURCE_EXHAUSTED
            }
            ErrorKind::StreamReset(H2Code::INADEQUATE_SECURITY) => PERMISSION_DENIED,
            ErrorKind::Timeout => DEADLINE_EXCEEDED,
            ErrorKind::Resolve
            | ErrorKind::Connect
            | ErrorKind::Proxy
            | ErrorKind::Tls
            | ErrorKind::Refused
            | ErrorKind::TransportClosed
            | ErrorKind::ConnectionClosed(_) => UNAVAILABLE,
            ErrorKind::Status(status) => grpc_code_of(status),
            _ => INTERNAL,
        }
    }
    /// The status of a response that was asked for as an error
    /// ([`error_for_status`](crate::client::ResponseExt::error_for_status)).
    pub fn status(&self) -> Option<StatusCode> {
        match self.kind {
            ErrorKind::Status(status) => Some(status),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "classify_test.rs"]
mod classify_test;
