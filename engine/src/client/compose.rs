//! Between the `http` crate's types and the core's heads. A request is composed before it is known
//! which version it will go out on, so it must meet the strictest rules: those of HTTP/2.

use crate::body::Body;
use crate::error::Error;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode, Version as HttpVersion};
use http_body::Body as _;
use std::io::Write;
use trunkline_core::error::Misuse;
use trunkline_core::http::{Fields, RequestHead, ResponseHead, Token, Version};

/// The head of a request.
pub(super) fn request_head(parts: &Parts, body: &Body) -> Result<RequestHead, Error> {
    let mut fields = Fields::new();
    let uri = &parts.uri;
    fields.push(Token::METHOD, parts.method.as_str().as_bytes());
    fields.push(
        Token::SCHEME,
        uri.scheme_str().unwrap_or_default().as_bytes(),
    );
    let authority = match parts.headers.get(HOST) {
        // RFC 9113 section 8.3.1: the authority stands in for the host field.
        Some(host) => host.as_bytes(),
        None => uri.authority().map_or("", |a| a.as_str()).as_bytes(),
    };
    fields.push(Token::AUTHORITY, authority);
    let path = match (uri.path_and_query(), &parts.method) {
        (Some(path), &Method::OPTIONS) if path == "*" => "*",
        (Some(path), _) if path.as_str().starts_with('/') => path.as_str(),
        _ => "/",
    };
    push_path(&mut fields, path, uri.query());
    for (name, value) in &parts.headers {
        // The framing is the machine's; both fields do not exist in HTTP/2.
        let framing = name == TRANSFER_ENCODING || (name == CONNECTION && value == "keep-alive");
        if name != HOST && !framing {
            fields.push_named(name.as_str().as_bytes(), value.as_bytes());
        }
    }
    if !parts.headers.contains_key(CONTENT_LENGTH) {
        push_length(&mut fields, &parts.method, body);
    }
    for token in [Token::AUTHORIZATION, Token::PROXY_AUTHORIZATION] {
        fields.mark_sensitive(token);
    }
    RequestHead::from_fields(fields, Version::Http2)
        .map_err(|violation| Error::misuse(Misuse::Invalid(violation)))
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
    if length > 0 || anticipates {
        let mut digits = [0; 20];
        let mut rest = &mut digits[..];
        // Twenty digits hold every u64.
        let _ = write!(rest, "{length}");
        let unused = rest.len();
        fields.push(Token::CONTENT_LENGTH, &digits[..20 - unused]);
    }
}

/// A response with the body that belongs to it. Gives the head's memory back.
pub(super) fn response<B>(head: ResponseHead, version: Version, body: B) -> (Response<B>, Fields) {
    let mut response = Response::new(body);
    // The head is valid: its status is from 100 to 599, its names and values are fields.
    *response.status_mut() =
        StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.version_mut() = match version {
        Version::Http10 => HttpVersion::HTTP_10,
        Version::Http11 => HttpVersion::HTTP_11,
        Version::Http2 => HttpVersion::HTTP_2,
        Version::Http3 => HttpVersion::HTTP_3,
    };
    let headers = response.headers_mut();
    headers.reserve(head.fields().len());
    for field in head.fields() {
        append(headers, field.name, field.value);
    }
    (response, head.into_fields())
}

/// A trailer section for the user.
pub(super) fn trailers(fields: &Fields) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(fields.len());
    for field in fields.iter() {
        append(&mut map, field.name, field.value);
    }
    map
}

/// A trailer section for the wire.
pub(super) fn trailer_fields(map: &HeaderMap) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in map {
        fields.push_named(name.as_str().as_bytes(), value.as_bytes());
    }
    fields
}

fn append(headers: &mut HeaderMap, name: &[u8], value: &[u8]) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
        headers.append(name, value);
    }
}
