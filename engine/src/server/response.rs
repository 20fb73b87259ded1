//! Rules of a server's response: the fields that the server adds to a handler's, those that it leaves
//! out, and the length of the body.

use crate::config::date::with_date;
use http::header::{self, HeaderMap};
use http::{Response, StatusCode};
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::http::{FieldName, Fields, StreamId, Token, Version};

/// Fields that the server adds where the handler did not set them.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerOptions {
    /// The time (RFC 9110 section 6.6.1).
    pub(super) date: bool,
    /// Handlers may answer with interim responses first.
    pub(super) interim: bool,
    /// Handlers of extended CONNECTs may have datagrams.
    pub(super) datagrams: bool,
    /// Where else the origin is served (RFC 7838 section 3).
    pub(super) alt_svc: Option<Arc<str>>,
}

/// The facts of the request that its response depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestFacts {
    /// The stream to answer on.
    pub(super) stream: StreamId,
    /// HEAD: the answer has no body (RFC 9110 section 9.3.2).
    pub(super) head: bool,
    /// CONNECT: a 2xx has no content-length (RFC 9110 section 9.3.6).
    pub(super) connect: bool,
}

/// The body's length and end before any byte of it was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyPlan {
    /// There is none, or none is sent.
    pub(super) nothing: bool,
    /// The result of [`length_of`].
    pub(super) length: Option<u64>,
}

impl AnswerOptions {
    /// The other places where the origin is served (Alt-Svc), for a client that does not use HTTP/3 yet.
    pub(super) fn elsewhere(&self, version: Version) -> Option<&str> {
        let alt_svc = self.alt_svc.as_deref();
        alt_svc.filter(|_| version != Version::Http3)
    }
}

impl BodyPlan {
    /// The plan of `response`.
    pub(super) fn of<B: http_body::Body>(response: &Response<B>, facts: RequestFacts) -> Self {
        let (status, body) = (response.status(), response.body());
        Self {
            nothing: is_bodiless(status, facts) || body.is_end_stream(),
            length: length_of(status.as_u16(), facts, body.size_hint().exact()),
        }
    }
}

/// Makes `fields` those of a handler, without those that belong to the connection.
pub(super) fn copy_fields(
    headers: &HeaderMap,
    status: StatusCode,
    version: Version,
    fields: &mut Fields,
) -> HandlerFields {
    let has = |name| headers.contains_key(name);
    let is_http1 = matches!(version, Version::Http10 | Version::Http11);
    if is_http1 || !has(header::CONNECTION) && !has(header::TE) {
        return copy_fields_but(headers, status, version, &[], fields);
    }
    // RFC 9110 section 7.6.1: the fields that it names are of the connection, too, and `te` is one of requests alone.
    let options = headers.get_all(header::CONNECTION).into_iter();
    let options = options.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut without: Vec<&[u8]> = options.map(<[u8]>::trim_ascii).collect();
    without.push(b"te");
    copy_fields_but(headers, status, version, &without, fields)
}

/// As [`copy_fields`], also without the fields of these names.
fn copy_fields_but(
    headers: &HeaderMap,
    status: StatusCode,
    version: Version,
    without: &[&[u8]],
    fields: &mut Fields,
) -> HandlerFields {
    fields.clear();
    let mut set = HandlerFields::default();
    // axum says the length of every body that it knows, also of the one that a 304 has not: there it would be that of
    // the content which the client keeps (RFC 9110 section 8.6).
    let is_unmodified = status == StatusCode::NOT_MODIFIED;
    for (name, value) in headers {
        if is_unmodified && name == header::CONTENT_LENGTH && value == "0" {
            continue;
        }
        let bytes = name.as_str().as_bytes();
        if without.iter().any(|it| it.eq_ignore_ascii_case(bytes)) {
            continue;
        }
        let name = FieldName::of(bytes);
        if set.note(name, value.as_bytes(), status.as_u16(), version) {
            fields.push_with(name, value.is_sensitive(), |bytes| {
                bytes.extend_from_slice(value.as_bytes());
            });
        }
    }
    set
}

/// Which of the server's own fields the handler has set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HandlerFields {
    /// Where the body has transfer codings, nothing says its length (RFC 9112 section 6.2).
    length: bool,
    date: bool,
    alt_svc: bool,
}

impl HandlerFields {
    /// Notes a field of the handler's. False: it is left out, because it belongs to the connection and
    /// not to the message (framing is the machine's, and HTTP/2 and HTTP/3 have none of the others:
    /// RFC 9113 section 8.2.2), or because an answer of that status has none (RFC 9110 section 8.6).
    pub(super) fn note(
        &mut self,
        name: FieldName<'_>,
        value: &[u8],
        status: u16,
        version: Version,
    ) -> bool {
        let FieldName::Token(token) = name else {
            return true;
        };
        let is_http1 = matches!(version, Version::Http10 | Version::Http11);
        match token {
            Token::CONTENT_LENGTH if matches!(status, 100..=199 | 204) => return false,
            Token::CONTENT_LENGTH => self.length = true,
            Token::DATE => self.date = true,
            Token::ALT_SVC => self.alt_svc = true,
            // Codings of the body's bytes, which the machine names in front of its own.
            Token::TRANSFER_ENCODING => {
                let is_coded = version == Version::Http11 && names_coding(value);
                self.length |= is_coded;
                return is_coded;
            }
            Token::CONNECTION | Token::KEEP_ALIVE | Token::PROXY_CONNECTION | Token::UPGRADE => {
                return is_http1;
            }
            Token::TE if !value.eq_ignore_ascii_case(b"trailers") => return is_http1,
            _ => {}
        }
        true
    }
}

/// Whether a value of transfer-encoding names another coding than chunked.
fn names_coding(value: &[u8]) -> bool {
    let codings = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    codings
        .into_iter()
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"chunked"))
}

/// The fields that a server adds to a response head where the handler has not set them.
pub(super) struct ServerFields<'a> {
    /// The time of now.
    pub(super) date: bool,
    /// Where else the origin is served.
    pub(super) alt_svc: Option<&'a str>,
    /// The result of [`length_of`].
    pub(super) length: Option<u64>,
}

impl ServerFields<'_> {
    /// Adds it to `fields`, where the handler has not `set` it.
    pub(super) fn add_to(self, fields: &mut Fields, set: HandlerFields, now: Instant) {
        if self.date && !set.date {
            with_date(now, |date| fields.push(Token::DATE, date));
        }
        if let Some(alt_svc) = self.alt_svc.filter(|_| !set.alt_svc) {
            fields.push(Token::ALT_SVC, alt_svc.as_bytes());
        }
        if let Some(length) = self.length.filter(|_| !set.length) {
            let name = FieldName::Token(Token::CONTENT_LENGTH);
            fields.push_with(name, false, |bytes| push_decimal(bytes, length));
        }
    }
}

/// Appends `number` in decimal, without the formatter's detours.
fn push_decimal(bytes: &mut Vec<u8>, mut number: u64) {
    // u64::MAX has 20 digits.
    let mut digits = [0; 20];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    bytes.extend_from_slice(&digits[from..]);
}

/// RFC 9110 sections 9.3.2, 15.2, 15.3.5, 15.4.5.
pub(super) fn is_bodiless(status: StatusCode, facts: RequestFacts) -> bool {
    facts.head || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED
}

/// The content-length to say of a body of `length` bytes (RFC 9110 section 8.6): none with 1xx, 204
/// or a 2xx to CONNECT; of a 304 we do not know it, nor of an answer to HEAD from a handler that gave
/// no body.
pub(super) fn length_of(status: u16, facts: RequestFacts, length: Option<u64>) -> Option<u64> {
    let has_none = matches!(status, 100..=199 | 204 | 304)
        || facts.connect && matches!(status, 200..=299)
        || facts.head && length == Some(0);
    length.filter(|_| !has_none)
}
