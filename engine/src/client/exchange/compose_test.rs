use super::{ReasonPhrase, request_head, response};
use crate::body::Body;
use http::{HeaderValue, Request};
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
