use super::*;
use http::HeaderValue;

fn stays(name: &'static str) -> bool {
    let mut fields = HeaderMap::new();
    for _ in 0..2 {
        let value = HeaderValue::from_static("x");
        fields.append(HeaderName::from_static(name), value);
    }
    remove(&mut fields);
    assert!(matches!(fields.get_all(name).iter().count(), 0 | 2));
    !fields.is_empty()
}

/// CVE-2024-30260: proxy-authorization was left beside the others.
#[test]
fn credentials_do_not_go_to_another_origin_and_other_fields_do() {
    for name in [
        "authorization",
        "proxy-authorization",
        "cookie",
        "cookie2",
        "host",
        "x-api-key",
        "apikey",
        "x-auth-token",
        "private-token",
        "x-amz-security-token",
        "x-goog-iap-jwt-assertion-token",
        "x-csrf-token",
        "x-session-id",
        "x-hub-signature-256",
        "client-secret",
    ] {
        assert!(!stays(name), "{name}");
    }
    for name in [
        "accept",
        "accept-language",
        "user-agent",
        "range",
        "if-none-match",
        "content-type",
        "x-request-id",
        "traceparent",
    ] {
        assert!(stays(name), "{name}");
    }
}
