use crate::error::Violation;
use crate::http::{Fields, RequestHead, Token, Version};

fn asks(authority: &str) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"GET");
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, authority.as_bytes());
    fields.push(Token::PATH, b"/");
    RequestHead::from_fields(fields, Version::Http2).unwrap()
}

#[test]
fn a_request_is_for_the_host_of_its_authority_whatever_the_port_and_the_case() {
    for authority in ["a.test", "a.test:8443", "A.Test", "a.test.", "a.test.:443"] {
        assert!(asks(authority).is_for("a.test"), "{authority}");
    }
    assert!(asks("[::1]:8443").is_for("[::1]"));
    assert!(asks("[::1]").is_for("[::1]"));
}

#[test]
fn a_request_is_not_for_a_host_that_only_looks_like_it() {
    for authority in ["b.a.test", "a.test.evil", "xa.test", "a.tes", "a", "[::1]"] {
        assert!(!asks(authority).is_for("a.test"), "{authority}");
    }
}

#[test]
fn an_ipv6_address_without_brackets_is_an_authority_of_http2_alone() {
    for authority in ["::1", "::1:8443", "fe80::1:443", "1:2:3:4:5:6:7:8:443"] {
        assert!(asks(authority).is_for_address(), "{authority}");
        let mut fields = Fields::new();
        fields.push(Token::METHOD, b"GET");
        fields.push(Token::SCHEME, b"http");
        fields.push(Token::AUTHORITY, authority.as_bytes());
        fields.push(Token::PATH, b"/");
        fields.push_named(b"host", b"a");
        let refused = RequestHead::from_fields(fields, Version::Http11).unwrap_err();
        assert_eq!(refused, Violation::AuthorityInvalid, "{authority}");
    }
    for authority in ["::1:70000", "::1:a:x", "::1/", "::1@a", "::g"] {
        let mut fields = Fields::new();
        fields.push(Token::METHOD, b"GET");
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::AUTHORITY, authority.as_bytes());
        fields.push(Token::PATH, b"/");
        let refused = RequestHead::from_fields(fields, Version::Http2).unwrap_err();
        assert_eq!(refused, Violation::AuthorityInvalid, "{authority}");
    }
}
