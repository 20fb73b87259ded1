//! Requests of HTTP/1.1 that came in cleartext in place of a TLS handshake, recognized by their first five bytes, the
//! length of a record's header.

use rustls::{Error, InvalidMessage};
use std::{error, fmt};

/// First bytes of requests: the methods of RFC 9110 section 9 and RFC 5789 except for CONNECT.
const REQUESTS: [&[u8]; 8] = [
    b"GET ", b"POST ", b"HEAD ", b"PUT ", b"OPTIO", b"DELET", b"PATCH", b"TRACE",
];
const CONNECT: &[u8] = b"CONNE";

/// A request in cleartext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsecuredRequest {
    /// A CONNECT.
    Connect,
    /// Any other.
    Request,
}

impl UnsecuredRequest {
    /// The request that `bytes` begin, where `error` refused them as no TLS.
    pub(super) fn refused(bytes: &[u8], error: &Error) -> Option<Self> {
        match error {
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::of(bytes),
            _ => None,
        }
    }
    fn of(bytes: &[u8]) -> Option<Self> {
        let begins = |start: &&[u8]| bytes.starts_with(start);
        match bytes {
            _ if bytes.starts_with(CONNECT) => Some(Self::Connect),
            _ if REQUESTS.iter().any(begins) => Some(Self::Request),
            _ => None,
        }
    }
}

impl fmt::Display for UnsecuredRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are a request in cleartext")
    }
}

impl error::Error for UnsecuredRequest {}
