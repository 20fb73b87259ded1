//! Exit codes of `get`, which are curl's, for scripts that know them.

use crate::failure::Failure;
use crate::tls_options::TlsPart;
use std::error::Error as _;
use std::fmt::Display;
use std::io;
use trunkline::client::KeyRefusal;
use trunkline::core::error::Violation;
use trunkline::{Error, ErrorKind, Fault, ProxyRefusal};

/// The scheme or the version of HTTP is none of ours.
pub(super) const SCHEME: u8 = 1;
/// A URL that cannot be read.
pub(super) const URL: u8 = 3;
/// The name of the host has no address.
const RESOLVE: u8 = 6;
/// No connection.
pub(super) const CONNECT: u8 = 7;
/// The server broke a rule of HTTP before its response began.
const RULE: u8 = 8;
/// HTTP/2 or HTTP/3: the server closed the connection.
const CONNECTION_CLOSED: u8 = 16;
/// The body ended before its end.
pub(super) const CUT: u8 = 18;
/// The status was an error, with -f.
pub(super) const STATUS: u8 = 22;
/// A file to be sent cannot be read.
const UNREAD: u8 = 26;
/// The time of -m or --connect-timeout is over.
pub(super) const TIME: u8 = 28;
/// The server gives no such part of the content.
pub(super) const RANGE: u8 = 33;
/// The TLS handshake failed.
const TLS: u8 = 35;
/// The address of --interface is none of this machine.
const INTERFACE: u8 = 45;
/// More redirects than --max-redirs.
pub(super) const REDIRECTS: u8 = 47;
/// The server closed the connection without a response.
const EMPTY: u8 = 52;
/// Receiving failed in another way.
const RECEIVING: u8 = 56;
/// The server's certificate was refused.
const CERTIFICATE: u8 = 60;
/// The file of --cert or --key cannot be used.
const IDENTITY: u8 = 58;
/// The file of --cacert cannot be used.
const ROOTS: u8 = 77;
/// The body is larger than --max-filesize.
pub(super) const LARGE: u8 = 63;
/// A body that cannot be sent a second time.
pub(super) const REWIND: u8 = 65;
/// A content coding that cannot be decoded.
pub(super) const CODING: u8 = 61;
/// The server has none of the keys of --pinnedpubkey.
const KEY: u8 = 90;
/// HTTP/2 or HTTP/3: the server reset the stream.
const STREAM: u8 = 92;
/// The URL has a user in it, which the flags forbid.
pub(super) const LOGIN: u8 = 67;
/// A SOCKS proxy refused.
const PROXY: u8 = 97;

/// Whether another try may have another end; `all`: of every failure that is not of this side.
pub(super) fn can_pass(code: u8, all: bool) -> bool {
    let passes = [
        RESOLVE,
        CONNECT,
        CONNECTION_CLOSED,
        CUT,
        TIME,
        EMPTY,
        RECEIVING,
        STREAM,
    ];
    let others = [RULE, SCHEME, STATUS, TLS, CERTIFICATE, CODING, PROXY];
    passes.contains(&code) || (all && others.contains(&code))
}

/// A file to be sent cannot be read.
pub(super) fn unread(path: impl Display, error: &dyn Display) -> Failure {
    Failure::new(UNREAD, format_args!("{path} cannot be read: {error}"))
}

/// A file of TLS cannot be used.
pub(super) fn of_tls_file(part: TlsPart, error: &Error) -> Failure {
    let code = match part {
        TlsPart::Roots => ROOTS,
        TlsPart::Identity => IDENTITY,
    };
    Failure::new(code, format_args!("{error:#}"))
}

/// Whether the connection ended by an error of the system, and not in order.
fn is_broken(error: &Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| cause.is::<io::Error>())
}

/// Whether the key of the server is none of those that are pinned.
fn is_of_other_key(error: &Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| cause.is::<KeyRefusal>())
}

/// Whether the address to connect from is none of this machine.
fn is_without_address(error: &Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::AddrNotAvailable)
    })
}

/// The failure of an exchange; `has_head`: its response had begun.
pub(super) fn of(error: &Error, has_head: bool) -> Failure {
    // A body whose bytes are counted on the way has it as a cause.
    if error.kind() == ErrorKind::Body
        && let Some(cause) = error.source().and_then(|cause| cause.downcast_ref())
    {
        return of(cause, has_head);
    }
    let code = match (error.kind(), error.proxy_refusal()) {
        // A tunnel by CONNECT is refused by a response.
        (ErrorKind::Proxy, Some(ProxyRefusal::Socks(_))) => PROXY,
        (ErrorKind::Proxy, Some(ProxyRefusal::Handshake)) => TLS,
        (ErrorKind::Proxy, Some(_)) => RECEIVING,
        (kind, _) => return of_kind(kind, error, has_head),
    };
    Failure::new(code, format_args!("{error:#}"))
}

/// The failure of an exchange that no proxy refused.
fn of_kind(kind: ErrorKind, error: &Error, has_head: bool) -> Failure {
    let code = match kind {
        // A request that cannot be sent as the flags have it.
        ErrorKind::Message(_) => return Failure::usage(format_args!("{error:#}")),
        _ if error.fault() == Fault::Config => return Failure::usage(format_args!("{error:#}")),
        _ if error.is_decode() => CODING,
        ErrorKind::Resolve => RESOLVE,
        ErrorKind::Timeout => TIME,
        _ if error.is_connect() && error.is_timeout() => TIME,
        ErrorKind::Tls if is_of_other_key(error) => KEY,
        ErrorKind::Tls if error.is_certificate() => CERTIFICATE,
        ErrorKind::Tls => TLS,
        ErrorKind::Connect if is_without_address(error) => INTERFACE,
        ErrorKind::Connect => CONNECT,
        ErrorKind::TransportClosed if is_broken(error) => RECEIVING,
        ErrorKind::Violation(Violation::ChunkInvalid | Violation::ChunkExtensionTooLarge) => {
            RECEIVING
        }
        ErrorKind::Violation(_) | ErrorKind::TransportClosed if has_head => CUT,
        // A beginning that is no status line of HTTP/1.x is an answer of HTTP/0.9 for curl.
        ErrorKind::Violation(
            Violation::VersionUnsupported | Violation::StatusInvalid | Violation::HeadInvalid,
        ) => SCHEME,
        ErrorKind::Violation(_) => RULE,
        ErrorKind::TransportClosed => EMPTY,
        ErrorKind::StreamReset(_) => STREAM,
        ErrorKind::ConnectionClosed(_) => CONNECTION_CLOSED,
        _ => RECEIVING,
    };
    Failure::new(code, format_args!("{error:#}"))
}
