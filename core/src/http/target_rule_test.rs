use super::{HostRule, SchemeRule, TargetRule};
use crate::http::{Fields, RequestHead, Token, Version};

const RULES: [SchemeRule; 3] = [SchemeRule::Https, SchemeRule::Http, SchemeRule::FromGateway];

fn head(version: Version, parts: &[(Token, &str)]) -> RequestHead {
    let mut fields = Fields::new();
    for (token, value) in parts {
        fields.push(*token, value.as_bytes());
    }
    RequestHead::from_fields(fields, version).unwrap()
}

fn get(version: Version, scheme: Option<&str>, authority: &str) -> RequestHead {
    let mut parts = vec![(Token::METHOD, "GET")];
    if let Some(scheme) = scheme {
        parts.extend([(Token::SCHEME, scheme), (Token::AUTHORITY, authority)]);
    }
    parts.push((Token::PATH, "/"));
    if matches!(version, Version::Http10 | Version::Http11) {
        parts.push((Token::HOST, authority));
    }
    head(version, &parts)
}

/// RFC 9110 section 7.4, on every version, for every kind of connection.
#[test]
fn a_request_has_the_scheme_of_its_connection_or_is_refused() {
    let table = [
        ("https", [true, false, true]),
        ("HTTPS", [true, false, true]),
        ("http", [false, true, true]),
        ("Http", [false, true, true]),
        ("javascript", [false; 3]),
        ("ftp", [false; 3]),
        ("httpss", [false; 3]),
        ("wss", [false; 3]),
    ];
    for version in [
        Version::Http10,
        Version::Http11,
        Version::Http2,
        Version::Http3,
    ] {
        for (scheme, expected) in table {
            for (rule, expected) in RULES.into_iter().zip(expected) {
                let rule = TargetRule::new(rule, HostRule::Any);
                let head = get(version, Some(scheme), "a.test");
                let admitted = rule.admits(&head);
                assert_eq!(admitted, expected, "{version:?} {scheme} {rule:?}");
            }
        }
    }
}

#[test]
fn a_target_without_a_scheme_has_that_of_its_connection() {
    for rule in RULES {
        let rule = TargetRule::new(rule, HostRule::Any);
        assert!(rule.admits(&get(Version::Http11, None, "a.test")));
    }
}

/// RFC 9110 section 9.3.6, RFC 8441 section 4.
#[test]
fn an_ordinary_connect_is_admitted_for_any_host_and_an_extended_one_as_its_uri() {
    let connect = head(
        Version::Http2,
        &[(Token::METHOD, "CONNECT"), (Token::AUTHORITY, "b.test:443")],
    );
    let extended = |scheme, authority| {
        head(
            Version::Http2,
            &[
                (Token::METHOD, "CONNECT"),
                (Token::PROTOCOL, "websocket"),
                (Token::SCHEME, scheme),
                (Token::AUTHORITY, authority),
                (Token::PATH, "/"),
            ],
        )
    };
    let named = HostRule::Named("a.test".into());
    let rule = TargetRule::new(SchemeRule::Https, named);
    assert!(rule.admits(&connect));
    assert!(rule.admits(&extended("https", "a.test")));
    assert!(!rule.admits(&extended("http", "a.test")));
    assert!(!rule.admits(&extended("https", "b.test")));
}

#[test]
fn a_connection_that_named_a_host_is_for_that_host_alone() {
    let rule = TargetRule::new(SchemeRule::Https, HostRule::Named("a.test".into()));
    for version in [Version::Http11, Version::Http2, Version::Http3] {
        assert!(rule.admits(&get(version, Some("https"), "a.test")));
        assert!(!rule.admits(&get(version, Some("https"), "b.test")));
    }
    assert!(!rule.admits(&get(Version::Http11, None, "b.test")));
}

/// A client that says no SNI has not shown what a host asks of its clients.
#[test]
fn a_connection_that_named_no_host_is_for_addresses_alone() {
    let rule = TargetRule::new(SchemeRule::Https, HostRule::Addresses);
    for address in ["127.0.0.1", "127.0.0.1:8443", "[::1]", "[::1]:8443"] {
        assert!(
            rule.admits(&get(Version::Http2, Some("https"), address)),
            "{address}"
        );
    }
    for name in ["a.test", "a.test:8443", "localhost", "127.0.0.1.test", "1"] {
        assert!(
            !rule.admits(&get(Version::Http2, Some("https"), name)),
            "{name}"
        );
    }
}
