//! Names of broken rules that programs of node:http test: codes of llhttp.

use rustls::InvalidMessage;
use std::borrow::Cow;
use std::io;
use trunkline::core::error::Violation;
use trunkline::core::http::Refused;

/// The code of llhttp for a request that was refused: where a head as a whole cannot be read, its first
/// line says whether that is the culprit. Empty: llhttp takes it, and node:http refuses it without an error.
pub(crate) fn llhttp_code(refused: &Refused) -> &'static str {
    let head = refused.packet.get(refused.parsed..).unwrap_or_default();
    match refused.violation {
        Violation::HeadInvalid => of_line_end(head).unwrap_or_else(|| of_line(head)),
        Violation::FieldValueInvalid => of_line_end(head).unwrap_or("HPE_INVALID_HEADER_TOKEN"),
        Violation::FieldNameInvalid if begins_with_blank(head) => "HPE_UNEXPECTED_SPACE",
        Violation::HostMissing => "",
        Violation::ContentLengthConflict if names_coding(head) => "HPE_INVALID_TRANSFER_ENCODING",
        violation => llhttp_code_of(violation),
    }
}

/// The code of OpenSSL for what breaks the TLS of an established connection, or the number of the peer's alert; `None`: it is another
/// failure.
pub(crate) fn openssl_code(error: &io::Error) -> Option<Cow<'static, str>> {
    let broken = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match broken {
        rustls::Error::AlertReceived(alert) => Cow::Owned(u8::from(*alert).to_string()),
        rustls::Error::DecryptError => "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC".into(),
        rustls::Error::PeerSentOversizedRecord
        | rustls::Error::InvalidMessage(InvalidMessage::MessageTooLarge) => {
            "ERR_SSL_ENCRYPTED_LENGTH_TOO_LONG".into()
        }
        rustls::Error::InvalidMessage(
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
        ) => "ERR_SSL_WRONG_VERSION_NUMBER".into(),
        _ => "ERR_SSL_UNEXPECTED_MESSAGE".into(),
    })
}

/// The code of llhttp for a rule of HTTP/1.1.
pub(crate) fn llhttp_code_of(violation: Violation) -> &'static str {
    match violation {
        Violation::MethodInvalid | Violation::TlsInCleartext => "HPE_INVALID_METHOD",
        Violation::PathInvalid | Violation::AuthorityInvalid | Violation::SchemeInvalid => {
            "HPE_INVALID_URL"
        }
        Violation::VersionUnsupported => "HPE_INVALID_VERSION",
        Violation::ContentLengthInvalid => "HPE_INVALID_CONTENT_LENGTH",
        Violation::ContentLengthConflict => "HPE_UNEXPECTED_CONTENT_LENGTH",
        Violation::TransferEncodingInvalid | Violation::TransferEncodingUnsupported => {
            "HPE_INVALID_TRANSFER_ENCODING"
        }
        Violation::HeadTooLarge
        | Violation::TargetTooLong
        | Violation::FieldsTooMany
        | Violation::FieldSectionTooLarge => "HPE_HEADER_OVERFLOW",
        Violation::ChunkInvalid => "HPE_INVALID_CHUNK_SIZE",
        Violation::ChunkExtensionTooLarge => "HPE_CHUNK_EXTENSIONS_OVERFLOW",
        Violation::HeadTimeout | Violation::BodyTimeout | Violation::BodyTooSlow => {
            "ERR_HTTP_REQUEST_TIMEOUT"
        }
        Violation::BodyTruncated => "HPE_INVALID_EOF_STATE",
        _ => "HPE_INVALID_HEADER_TOKEN",
    }
}

/// The error of a head in whose fields a CR or an LF stands alone.
fn of_line_end(head: &[u8]) -> Option<&'static str> {
    let first = head.windows(2).position(|pair| pair == b"\r\n")?;
    let fields = &head[first..];
    let pairs = fields.windows(2);
    pairs
        .take_while(|pair| *pair != b"\n\r")
        .find_map(|pair| match (pair[0], pair[1]) {
            (b'\r', behind) if behind != b'\n' => Some("HPE_LF_EXPECTED"),
            (b'\n', b'\n') => Some("HPE_INVALID_HEADER_TOKEN"),
            (before, b'\n') if before != b'\r' => Some("HPE_CR_EXPECTED"),
            _ => None,
        })
}

/// The error of a head whose first line may be what is wrong: the first of its parts that llhttp does not take.
fn of_line(head: &[u8]) -> &'static str {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let (line, is_ended) = match line.strip_suffix(b"\r") {
        Some(line) => (line, true),
        None => (line, false),
    };
    let mut words = line.split(|&byte| byte == b' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let is_method = |method: &[u8]| {
        !method.is_empty()
            && method
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || *byte == b'-')
    };
    match (method, target, version) {
        (Some(method), ..) if !is_method(method) => "HPE_INVALID_METHOD",
        (_, None, _) => "HPE_INVALID_METHOD",
        (_, Some(target), _) if !is_target(target) => "HPE_INVALID_URL",
        (_, _, Some(version)) if version.starts_with(b"HTTP/") => {
            of_version(&version[5..], is_ended && words.next().is_none())
        }
        _ => "HPE_INVALID_CONSTANT",
    }
}

/// Whether a target begins as one and has no byte that none has (RFC 3986 section 2).
fn is_target(target: &[u8]) -> bool {
    let is_begun =
        matches!(target.first(), Some(b'/' | b'*')) || target.windows(3).any(|part| part == b"://");
    is_begun && target.iter().all(u8::is_ascii_graphic)
}

/// The error of the text behind `HTTP/`. `is_ended`: CR and LF, and nothing else, follow it.
fn of_version(version: &[u8], is_ended: bool) -> &'static str {
    match version {
        [b'1', b'.', b'0' | b'1'] if is_ended => "HPE_INVALID_HEADER_TOKEN",
        [b'1', b'.', b'0' | b'1', b'\r', ..] => "HPE_STRICT",
        _ => "HPE_INVALID_VERSION",
    }
}

/// Whether the line behind the first begins with a blank.
fn begins_with_blank(head: &[u8]) -> bool {
    let at = head.windows(2).position(|pair| pair == b"\r\n");
    at.is_some_and(|at| head.get(at + 2) == Some(&b' '))
}

/// Whether a head has a transfer-encoding.
fn names_coding(head: &[u8]) -> bool {
    const NAME: &[u8] = b"transfer-encoding:";
    head.windows(NAME.len())
        .any(|part| part.eq_ignore_ascii_case(NAME))
}

#[cfg(test)]
#[path = "broken_test.rs"]
mod broken_test;
