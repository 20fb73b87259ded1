use super::request_head;
use crate::body::Body;
use http::{HeaderValue, Request};

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
