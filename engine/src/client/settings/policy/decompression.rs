//! Decompression of responses (RFC 9110 section 8.4) as they are read, by the crate `async-compression`.

mod body;

use crate::body::Body;
use body::{Coding, Decompressed};
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, RANGE,
};
use http::{Response, StatusCode};
use http_body::Body as _;

/// Codings that one response may have, each over the other. More are a waste of CPU that only an attacker has
/// a use for.
const CODINGS_MAX: usize = 5;

/// The codings that a client that decompresses asks for.
const ASKED: &str = "gzip, br, zstd, deflate";

/// The value of the `accept-encoding` to send beside `fields`; `None` where the request says itself what it takes, or
/// wants a part: a part of compressed bytes cannot be decompressed.
pub(super) fn asked(fields: &HeaderMap) -> Option<&'static str> {
    let is_asked = !fields.contains_key(ACCEPT_ENCODING) && !fields.contains_key(RANGE);
    is_asked.then_some(ASKED)
}

/// The response with the bytes that were compressed; unchanged where it has none, or is coded in a way that
/// is not known here.
pub(in crate::client) fn decompress(response: Response<Body>) -> Response<Body> {
    let status = response.status();
    let has_none = status.is_informational()
        || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let is_part =
        status == StatusCode::PARTIAL_CONTENT || response.headers().contains_key(CONTENT_RANGE);
    let Some(codings) = codings(response.headers()) else {
        return response;
    };
    if has_none || is_part || response.body().is_end_stream() {
        return response;
    }
    let (mut parts, mut body) = response.into_parts();
    parts.headers.remove(CONTENT_ENCODING);
    parts.headers.remove(CONTENT_LENGTH);
    for coding in codings.into_iter().rev() {
        body = Body::of_ours(Decompressed::new(body, coding));
    }
    Response::from_parts(parts, body)
}

/// The codings in the order in which they were applied; `None`: there is none, or one is not known.
fn codings(fields: &HeaderMap) -> Option<Vec<Coding>> {
    let mut found = Vec::new();
    for value in fields.get_all(CONTENT_ENCODING) {
        for name in value.to_str().ok()?.split(',') {
            match name.trim().to_ascii_lowercase().as_str() {
                "identity" | "" => {}
                name => found.push(Coding::of(name)?),
            }
        }
    }
    (!found.is_empty() && found.len() <= CODINGS_MAX).then_some(found)
}

#[cfg(test)]
#[path = "decompression_test.rs"]
mod decompression_test;
