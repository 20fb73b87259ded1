//! An engine's error for JavaScript: a JSON text, from which `node/src/errors.ts` builds undici's
//! class and code.

mod nghttp2;

pub(crate) use nghttp2::nghttp2_error;
use rustls::CertificateError;
use serde_json::{Value, json};
use std::error::Error as _;
use std::time::Duration;
use std::{fmt, io};
use trunkline::client::WaitReason;
use trunkline::core::error::Scope;
use trunkline::core::http::Version;
use trunkline::core::pool::FailureScope;
use trunkline::{CertificateRefusal, Error, ErrorKind, Progress, ProxyRefusal, SocksRefusal};

/// A function or a stream of JavaScript's failed, which has the error by this number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OwnFailure {
    /// The ticket of the question.
    Lookup(u32),
    /// The ticket of the question, and the requests that fail.
    Dial(u32, FailureScope),
    /// The number of the stream: its `Duplex` failed, or was closed before its end.
    Stream(u32),
}

impl fmt::Display for OwnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lookup(_) => "the function connect.lookup failed",
            Self::Dial(..) => "the function connect failed",
            Self::Stream(_) => "the stream of the connection failed",
        })
    }
}

impl std::error::Error for OwnFailure {}

/// All that an error says.
pub(crate) fn describe(error: &Error) -> Value {
    let ended: Vec<Value> = error
        .attempts()
        .iter()
        .map(|attempt| {
            json!({
                "connection": attempt.connection, "ended": attempt.ended.name(),
                "bytesRead": attempt.bytes_read, "bytesWritten": attempt.bytes_written,
                "version": attempt.version.map(Version::text),
                "waitedFor": attempt.waited_for.map(WaitReason::name),
                "startedAfterMs": attempt.started_after.map(in_ms),
                "endedAfterMs": in_ms(attempt.ended_after),
                "progress": progress(attempt.progress),
            })
        })
        .collect();
    json!({
        "kind": error.kind().name(),
        "message": message(error),
        "causes": causes(error),
        "address": error.address().map(|address| json!({ "ip": address.ip(), "port": address.port() })),
        "system": system_code(error),
        "tls": tls_fault(error),
        "own": own_error(error),
        "detail": detail(error.kind()),
        "broken": broken(error.kind()),
        "proxy": error.proxy_refusal().and_then(proxy_code),
        "attempts": ended,
        "wasSent": error.was_sent(),
        "timelineId": error.timeline_id(),
        "waitReason": error.wait_reason().map(|reason| reason.text()),
    })
}

/// The text of the error without the number of its timeline, which `timelineId` has: programs match messages.
fn message(error: &Error) -> String {
    let text = error.to_string();
    let number = error.timeline_id().map(|id| format!(" (timeline {id})"));
    match number.and_then(|number| text.strip_suffix(&number).map(str::to_owned)) {
        Some(message) => message,
        None => text,
    }
}

fn in_ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// How far an exchange had come.
fn progress(progress: Progress) -> &'static str {
    match progress {
        Progress::Unsent => "unsent",
        Progress::Sending => "sending",
        Progress::AwaitingResponse => "awaitingResponse",
        Progress::ReceivingBody => "receivingBody",
        _ => "answered",
    }
}

/// A refusal that never was an engine's error.
pub(crate) fn refusal(kind: &str, message: &str) -> Value {
    json!({ "kind": kind, "message": message })
}

/// The broken rule's name, or the peer's code.
fn detail(kind: ErrorKind) -> Option<String> {
    match kind {
        ErrorKind::Message(misuse) => Some(format!("{misuse:?}")),
        ErrorKind::Violation(violation) => Some(format!("{violation:?}")),
        ErrorKind::StreamReset(code) | ErrorKind::ConnectionClosed(code) => {
            Some(code.0.to_string())
        }
        _ => None,
    }
}

/// The end that a broken rule of HTTP/2 or HTTP/3 has: of the stream by a code, or of the connection by a number of nghttp2.
fn broken(kind: ErrorKind) -> Option<Value> {
    let ErrorKind::Violation(violation) = kind else {
        return None;
    };
    Some(match violation.scope() {
        Scope::Stream => json!({ "stream": violation.h2_code().0 }),
        Scope::Connection => json!({ "session": nghttp2_error(violation) }),
    })
}

/// Why a proxy gave no connection: `handshake`, `status N`, or undici's code of what a SOCKS5 proxy
/// said.
fn proxy_code(refusal: ProxyRefusal) -> Option<String> {
    Some(match refusal {
        ProxyRefusal::Handshake => "handshake".to_owned(),
        ProxyRefusal::Status(status) => format!("status {status}"),
        ProxyRefusal::Socks(SocksRefusal::Version(_)) => "UND_ERR_SOCKS5_VERSION".to_owned(),
        ProxyRefusal::Socks(SocksRefusal::Method(0xff)) => {
            "UND_ERR_SOCKS5_AUTH_REJECTED".to_owned()
        }
        ProxyRefusal::Socks(SocksRefusal::Method(_)) => "UND_ERR_SOCKS5_AUTH_METHOD".to_owned(),
        ProxyRefusal::Socks(SocksRefusal::Password) => "UND_ERR_SOCKS5_AUTH_FAILED".to_owned(),
        ProxyRefusal::Socks(SocksRefusal::Reply(code)) => format!("UND_ERR_SOCKS5_REPLY_{code}"),
        ProxyRefusal::Socks(SocksRefusal::AddressKind(_)) => "UND_ERR_SOCKS5_ADDR_TYPE".to_owned(),
        _ => return None,
    })
}

pub(crate) fn causes(error: &Error) -> Vec<String> {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes
}

/// The name that Node.js gives the system's error, where one is at the bottom.
fn system_code(error: &Error) -> Option<&'static str> {
    let mut next = error.source();
    let mut code = None;
    while let Some(cause) = next {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            code = code_of(cause.kind()).or(code);
        }
        next = cause.source();
    }
    code
}

/// The error of JavaScript's own that is at the bottom, if there is one: whose it is, and its number.
fn own_error(error: &Error) -> Option<String> {
    let mut next = error.source();
    while let Some(cause) = next {
        let inner = cause
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        if let Some(inner) = inner {
            match inner.downcast_ref::<OwnFailure>() {
                Some(OwnFailure::Lookup(ticket)) => return Some(format!("lookup {ticket}")),
                Some(OwnFailure::Dial(ticket, _)) => return Some(format!("dial {ticket}")),
                Some(OwnFailure::Stream(number)) => return Some(format!("stream {number}")),
                None => {}
            }
        }
        next = cause.source();
    }
    None
}

pub(crate) fn code_of(kind: io::ErrorKind) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    Some(match kind {
        Kind::ConnectionRefused => "ECONNREFUSED",
        Kind::ConnectionReset => "ECONNRESET",
        Kind::ConnectionAborted => "ECONNABORTED",
        Kind::BrokenPipe => "EPIPE",
        Kind::HostUnreachable => "EHOSTUNREACH",
        Kind::NetworkUnreachable => "ENETUNREACH",
        Kind::NetworkDown => "ENETDOWN",
        Kind::AddrInUse => "EADDRINUSE",
        Kind::AddrNotAvailable => "EADDRNOTAVAIL",
        Kind::TimedOut => "ETIMEDOUT",
        Kind::PermissionDenied => "EACCES",
        Kind::IsADirectory => "EISDIR",
        Kind::InvalidInput => "EINVAL",
        Kind::NotFound => "ENOENT",
        _ => return None,
    })
}

/// The cause of a failed TLS handshake: the refusal of a certificate with its code, the number of
/// the peer's alert, or the error in the peer's bytes; never a name of rustls's own.
fn tls_fault(error: &Error) -> Option<Value> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(refusal) = cause.downcast_ref::<CertificateRefusal>() {
            return Some(refused(refusal));
        }
        let of_io = cause.downcast_ref::<io::Error>();
        let tls = of_io
            .and_then(|cause| cause.get_ref())
            .and_then(|cause| cause.downcast_ref::<rustls::Error>())
            .or_else(|| cause.downcast_ref::<rustls::Error>());
        if let Some(tls) = tls {
            return tls_cause(tls);
        }
        next = cause.source();
    }
    None
}

fn refused(refusal: &CertificateRefusal) -> Value {
    json!({ "code": refusal.code(), "text": refusal.to_string() })
}

fn tls_cause(error: &rustls::Error) -> Option<Value> {
    use rustls::Error as Why;
    Some(match error {
        Why::InvalidCertificate(CertificateError::Other(why)) => {
            refused(why.0.downcast_ref::<CertificateRefusal>()?)
        }
        Why::AlertReceived(alert) => json!({ "alert": u8::from(*alert) }),
        Why::InvalidMessage(_) => json!({
            "code": "ERR_SSL_WRONG_VERSION_NUMBER",
            "text": "wrong version number: the bytes of the server are not TLS; does it speak http on this port?",
        }),
        Why::PeerIncompatible(_) => json!({
            "code": "ERR_SSL_UNSUPPORTED_PROTOCOL",
            "text": "unsupported protocol: the server has no version, suite or key of TLS 1.2 or 1.3 in common with this client",
        }),
        Why::PeerMisbehaved(_)
        | Why::InappropriateMessage { .. }
        | Why::InappropriateHandshakeMessage { .. } => json!({
            "code": "ERR_SSL_UNEXPECTED_MESSAGE",
            "text": "unexpected message: the server broke a rule of TLS",
        }),
        _ => return None,
    })
}
