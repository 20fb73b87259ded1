use super::*;

#[test]
fn every_token_round_trips() {
    for token in Token::all() {
        assert_eq!(Token::from_name(token.as_str().as_bytes()), Some(token));
        assert_eq!(token.as_str().to_ascii_lowercase(), token.as_str());
        assert_eq!(token.is_pseudo(), token.as_str().starts_with(':'));
    }
}

#[test]
fn what_is_no_token_has_none() {
    for token in Token::all() {
        let name = token.as_str();
        for near in [
            name.to_ascii_uppercase(),
            format!("{name}x"),
            format!("x{name}"),
            name[1..].into(),
        ] {
            let found = Token::from_name(near.as_bytes());
            assert!(found.is_none_or(|found| found.as_str() == near), "{near}");
        }
    }
    for name in [&b""[..], b"x", b"\0", b"x-own", &[0xff; 300]] {
        assert_eq!(Token::from_name(name), None);
    }
}

/// RFC 7541 appendix A.
const HPACK_STATIC_NAMES: &str = ":authority :method :path :scheme :status accept-charset \
    accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow \
    authorization cache-control content-disposition content-encoding content-language \
    content-length content-location content-range content-type cookie date etag expect expires \
    from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified \
    link location max-forwards proxy-authenticate proxy-authorization range referer refresh \
    retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via \
    www-authenticate";

/// RFC 9204 appendix A, those that HPACK does not have.
const QPACK_STATIC_NAMES: &str = "access-control-allow-headers access-control-allow-credentials \
    access-control-allow-methods access-control-expose-headers access-control-request-headers \
    access-control-request-method alt-svc content-security-policy early-data expect-ct forwarded \
    origin purpose timing-allow-origin upgrade-insecure-requests x-content-type-options \
    x-forwarded-for x-frame-options x-xss-protection";

#[test]
fn every_static_name_has_a_token() {
    assert_eq!(HPACK_STATIC_NAMES.split_whitespace().count(), 52);
    for name in HPACK_STATIC_NAMES
        .split_whitespace()
        .chain(QPACK_STATIC_NAMES.split_whitespace())
    {
        assert!(Token::from_name(name.as_bytes()).is_some(), "{name}");
    }
}
