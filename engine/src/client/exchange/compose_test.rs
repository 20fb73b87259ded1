use super::{ReasonPhrase, asks_for_close, request_head, response};
use crate::body::Body;
use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use http_body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use trunkline_core::http::{Fields, ResponseHead, Version};

#[test]
fn a_header_value_that_is_marked_sensitive_stays_so_for_the_compressors() {
    let mut token = HeaderValue::from_static("secret");
    token.set_sensitive(true);
    let request = Request::get("https://a/")
        .header("x-token", token)
        .header("x-plain", "a");
    let (parts, body) = request.body(Body::empty()).unwrap().into_parts();
    let head = request_head(&parts, &body).unwrap();
    let of = |name: &str| head.fields().find(|field| field.name == name.as_bytes());
    assert!(of("x-token").unwrap().sensitive);
    assert!(!of("x-plain").unwrap().sensitive);
}

/// No bytes, which only its length says.
struct Nothing;

impl http_body::Body for Nothing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(0)
    }
}

#[test]
fn a_body_of_no_bytes_that_may_have_trailers_has_a_length() {
    for (method, body, length) in [
        (Method::GET, Body::wrap(Nothing), Some("0")),
        (Method::POST, Body::wrap(Nothing), Some("0")),
        (Method::GET, Body::empty(), None),
        (Method::POST, Body::empty(), Some("0")),
    ] {
        let request = Request::builder().method(&method).uri("https://a/");
        let (parts, body) = request.body(body).unwrap().into_parts();
        let head = request_head(&parts, &body).unwrap();
        let mut sent = head.fields().filter(|it| it.name == b"content-length");
        let sent = sent.next().map(|field| field.value.to_vec());
        assert_eq!(sent, length.map(Vec::from), "{method}");
    }
}

#[test]
fn a_reason_phrase_that_is_not_the_usual_one_is_among_the_extensions() {
    let head = || ResponseHead::new(404, Fields::new(), Version::Http11).unwrap();
    let reason = |head: ResponseHead| {
        let (response, _) = response(head, Version::Http11, ());
        let reason = response.extensions().get::<ReasonPhrase>();
        reason.map(|reason| reason.as_bytes().to_vec())
    };
    assert_eq!(reason(head()), None);
    let other = head().with_reason(b"Gone Fishing").unwrap();
    assert_eq!(reason(other), Some(b"Gone Fishing".to_vec()));
}

#[test]
fn fields_about_the_connection_are_left_to_the_pool() {
    for (name, value, closes) in [
        ("connection", "close", true),
        ("connection", "Keep-Alive", false),
        ("connection", "keep-alive, CLOSE , te", true),
        ("keep-alive", "timeout=5", false),
        ("te", "gzip", false),
        ("te", "trailers, deflate;q=0.5", false),
        ("proxy-connection", "keep-alive", false),
        ("transfer-encoding", "chunked", false),
    ] {
        let request = Request::get("https://a/").header(name, value);
        let (parts, body) = request.body(Body::empty()).unwrap().into_parts();
        let head = request_head(&parts, &body).unwrap();
        let sent = head.fields().map(|field| field.name).collect::<Vec<_>>();
        assert_eq!(sent, Vec::<&[u8]>::new(), "{name}: {value}");
        assert_eq!(asks_for_close(&parts.headers), closes, "{name}: {value}");
    }
    // A protocol's switch is not one request's.
    for (name, value) in [("upgrade", "other"), ("connection", "close, upgrade")] {
        let request = Request::get("https://a/").header(name, value);
        let (parts, body) = request.body(Body::empty()).unwrap().into_parts();
        let error = request_head(&parts, &body).unwrap_err().to_string();
        let begins = format!("the field {name} says {value:?}");
        assert!(error.starts_with(&begins), "{error}");
        assert!(error.contains("Client::websocket"), "{error}");
    }
}
