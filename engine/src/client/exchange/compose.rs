//! Converts between the `http` crate's types and the core's heads. A request is composed before its
//! connection's version is known, so it must meet the strictest rules, those of HTTP/2.

use super::reason_phrase::{ReasonPhrase, ReceivedFields};
use crate::body::Body;
use crate::body::header_map::append_all;
use crate::error::Error;
use crate::tunnel::upgrade::Protocol;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, UPGRADE};
use http::request::Parts;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version as HttpVersion,
};
use http_body::Body as _;
use std::io::Write;
use trunkline_core::error::{Misuse, Violation};
use trunkline_core::http::{FieldName, Fields, RequestHead, ResponseHead, Token, Version};

/// The conditions of a head beside its request.
#[derive(Clone, Copy, Default)]
pub(in crate::client) struct Beside {
    /// It goes to a proxy that forwards it.
    pub(in crate::client) is_forwarded: bool,
    /// A field `accept-encoding`. It is no field of the request, whose map is often empty without it.
    pub(in crate::client) codings: Option<&'static str>,
}

/// The head of a request.
#[cfg(any(test, feature = "websocket"))]
pub(in crate::client) fn request_head(parts: &Parts, body: &Body) -> Result<RequestHead, Error> {
    head_with(parts, body, Beside::default())
}

/// The head of a request, with what is not among its parts.
pub(in crate::client) fn head_with(
    parts: &Parts,
    body: &Body,
    beside: Beside,
) -> Result<RequestHead, Error> {
    let uri = &parts.uri;
    // RFC 9113 section 8.3.1: the authority stands in for the host field. For a proxy that forwards the request it is the
    // URL's, which the proxy puts in the place of a host field (RFC 9112 section 3.2.2).
    let host = match beside.is_forwarded {
        true => None,
        false => parts.headers.get(HOST).map(HeaderValue::as_bytes),
    };
    if parts.method == Method::TRACE && !body.is_end_stream() {
        return Err(Error::config(
            "the method is TRACE and there is a body; TRACE goes without one",
        ));
    }
    let mut fields = Fields::with_capacity(
        parts.headers.len() + EXTRA_FIELDS,
        (parts.headers.len() + EXTRA_FIELDS) * FIELD_BYTES_USUAL,
    );
    fields.push(Token::METHOD, parts.method.as_str().as_bytes());
    let protocol = parts.extensions.get::<Protocol>();
    if let Some(protocol) = protocol.filter(|_| parts.method == Method::CONNECT) {
        fields.push(Token::PROTOCOL, protocol.as_str().as_bytes());
    }
    fields.push(
        Token::SCHEME,
        uri.scheme_str().unwrap_or_default().as_bytes(),
    );
    let of_url = || uri.authority().map_or("", |a| a.as_str()).as_bytes();
    fields.push(Token::AUTHORITY, host.unwrap_or_else(of_url));
    let path = match (uri.path_and_query(), &parts.method) {
        (Some(path), &Method::OPTIONS) if path == "*" => "*",
        (Some(path), _) if path.as_str().starts_with('/') => path.as_str(),
        _ => "/",
    };
    push_path(&mut fields, path, uri.query());
    for (name, value) in &parts.headers {
        // RFC 9110 section 10.1.1: an expectation without a body has no effect.
        let idle = name == EXPECT && body.is_end_stream();
        if name != HOST && !is_of_connection(name, value) && !idle {
            let name = FieldName::of(name.as_str().as_bytes());
            fields.push_with(name, value.is_sensitive(), |bytes| {
                bytes.extend_from_slice(value.as_bytes());
            });
        }
    }
    if let Some(codings) = beside.codings {
        fields.push(Token::ACCEPT_ENCODING, codings.as_bytes());
    }
    // RFC 9110 section 9.3.6: what a CONNECT sends is no content.
    if !parts.headers.contains_key(CONTENT_LENGTH) && parts.method != Method::CONNECT {
        push_length(&mut fields, &parts.method, body);
    }
    for token in [Token::AUTHORIZATION, Token::PROXY_AUTHORIZATION] {
        fields.mark_sensitive(token);
    }
    RequestHead::from_fields(fields, Version::Http2)
        .map_err(|violation| invalid(violation, &parts.headers))
}

/// The error of a head with these fields.
fn invalid(violation: Violation, headers: &HeaderMap) -> Error {
    let error = Error::misuse(Misuse::Invalid(violation));
    let is_wrong = |(name, value): &(&HeaderName, &HeaderValue)| {
        matches!(*name, &CONNECTION | &UPGRADE) && !is_of_connection(name, value)
    };
    match headers.iter().find(is_wrong) {
        Some((name, value)) if violation == Violation::ConnectionFieldForbidden => {
            error.with_text(format!(
                "the field {name} says {value:?}; connections are the pool's, which takes close, keep-alive and te; \
                 Client::websocket opens a WebSocket"
            ))
        }
        _ => error,
    }
}

/// Whether a field says something of the connection, which is the pool's, or of the framing, which is the machine's
/// (RFC 9110 section 7.6.1): it does not exist in HTTP/2. Other options than these ask for what a pool cannot give.
fn is_of_connection(name: &HeaderName, value: &HeaderValue) -> bool {
    match name.as_str() {
        "keep-alive" | "proxy-connection" | "transfer-encoding" => true,
        // RFC 9113 section 8.2.2: nothing else may stand there.
        "te" => !value.as_bytes().eq_ignore_ascii_case(b"trailers"),
        "connection" => options(value).all(|option| {
            let known = [&b"close"[..], b"keep-alive", b"te"];
            known.iter().any(|known| option.eq_ignore_ascii_case(known))
        }),
        _ => false,
    }
}

/// Whether a request asks for the end of its connection (RFC 9112 section 9.6).
pub(in crate::client) fn asks_for_close(headers: &HeaderMap) -> bool {
    let mut options = headers.get_all(CONNECTION).into_iter().flat_map(options);
    options.any(|option| option.eq_ignore_ascii_case(b"close"))
}

/// The options of a field `connection`.
fn options(value: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    let options = value.as_bytes().split(|byte| *byte == b',');
    options.map(<[u8]>::trim_ascii)
}

/// A copy of the head without its `expect` field (RFC 9110 section 10.1.1); `None`: it has none.
pub(in crate::client) fn without_expectation(head: &RequestHead) -> Option<RequestHead> {
    head.get(Token::EXPECT)?;
    let section = head.section();
    let mut fields = Fields::with_capacity(section.len(), section.size());
    for field in section.iter() {
        if field.token != Some(Token::EXPECT) {
            let name = field
                .token
                .map_or(FieldName::Bytes(field.name), FieldName::Token);
            fields.push_with(name, field.sensitive, |bytes| {
                bytes.extend_from_slice(field.value);
            });
        }
    }
    RequestHead::from_fields(fields, Version::Http2).ok()
}

/// A URL like `http://host?query` has no path: it is `/` (RFC 9112 section 3.2.1).
fn push_path(fields: &mut Fields, path: &str, query: Option<&str>) {
    match query {
        Some(query) if path == "/" => {
            let path = format!("/?{query}");
            fields.push(Token::PATH, path.as_bytes());
        }
        _ => fields.push(Token::PATH, path.as_bytes()),
    }
}

fn push_length(fields: &mut Fields, method: &Method, body: &Body) {
    let Some(length) = body.size_hint().exact() else {
        return;
    };
    // RFC 9110 section 8.6: without a body only methods that anticipate one say 0.
    let anticipates = *method == Method::POST || *method == Method::PUT || *method == Method::PATCH;
    // A stream that has no bytes may have trailers yet: its length keeps HTTP/1.1 from chunks, which servers refuse with GET.
    let streams = *method != Method::CONNECT && !body.is_end_stream();
    if length > 0 || anticipates || streams {
        let mut digits = [0; 20];
        let mut rest = &mut digits[..];
        // Twenty digits hold every u64.
        let _ = write!(rest, "{length}");
        let unused = rest.len();
        fields.push(Token::CONTENT_LENGTH, &digits[..20 - unused]);
    }
}

/// A response with the body that belongs to it. Gives the head's memory back.
pub(in crate::client) fn response<B>(
    head: ResponseHead,
    version: Version,
    body: B,
) -> (Response<B>, Fields) {
    let mut response = Response::new(body);
    // The head is valid: its status is from 100 to 999, its names and values are fields.
    *response.status_mut() =
        StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.version_mut() = match version {
        Version::Http11 if head.is_http10() => HttpVersion::HTTP_10,
        Version::Http10 => HttpVersion::HTTP_10,
        Version::Http11 => HttpVersion::HTTP_11,
        Version::Http2 => HttpVersion::HTTP_2,
        Version::Http3 => HttpVersion::HTTP_3,
    };
    // A client has no limit beyond that of a map.
    let _ = append_all(response.headers_mut(), head.fields());
    if let Some(reason) = head.reason() {
        let reason = ReasonPhrase(Bytes::copy_from_slice(reason));
        response.extensions_mut().insert(reason);
    }
    if let Some(fields) = ReceivedFields::of(&head) {
        response.extensions_mut().insert(fields);
    }
    (response, head.into_fields())
}

/// Pseudo-fields, a length, and one to spare.
const EXTRA_FIELDS: usize = 6;
/// Usual size of a field's value, in bytes.
const FIELD_BYTES_USUAL: usize = 24;

#[cfg(test)]
#[path = "compose_test.rs"]
mod compose_test;
