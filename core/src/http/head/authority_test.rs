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
