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

#[test]
fn fields_keep_their_order_and_their_values() {
    let mut fields = Fields::new();
    fields.push(Token::ACCEPT, b"*/*");
    fields.push_named(b"x-own", b"1");
    fields.push_named(b"cookie", b"");
    fields.push_named(b"x-own", b"2");
    let seen: Vec<_> = fields
        .iter()
        .map(|field| (field.name, field.value))
        .collect();
    let expected: [(&[u8], &[u8]); 4] = [
        (b"accept", b"*/*"),
        (b"x-own", b"1"),
        (b"cookie", b""),
        (b"x-own", b"2"),
    ];
    assert_eq!(seen, expected);
    assert_eq!(fields.at(2).unwrap().token, Some(Token::COOKIE));
    assert_eq!(fields.at(4), None);
    assert_eq!(fields.get_named(b"x-own"), Some(&b"1"[..]), "the first");
    assert_eq!(fields.get(Token::HOST), None);
}

#[test]
fn the_size_counts_32_bytes_for_each_field() {
    let mut fields = Fields::new();
    assert_eq!(fields.size(), 0);
    fields.push(Token::TE, b"trailers");
    fields.push_named(b"x", b"");
    assert_eq!(fields.size(), (2 + 8 + 32) + (1 + 32));
    fields.clear();
    assert_eq!((fields.size(), fields.len()), (0, 0));
}

#[test]
fn sensitive_values_are_not_printed() {
    let mut fields = Fields::new();
    fields.push(Token::AUTHORIZATION, b"secret");
    fields.push(Token::ACCEPT, b"shown");
    fields.mark_sensitive(Token::AUTHORIZATION);
    let printed = format!("{fields:?}");
    assert!(
        !printed.contains("secret") && printed.contains("shown"),
        "{printed}"
    );
}

fn section(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().copied().collect()
}

#[test]
fn the_end_of_a_section_is_appended_as_it_stands_there() {
    let rest = [
        ("host", "a"),
        ("x-own", "1"),
        ("accept", ""),
        ("x-own", "2"),
    ];
    let known = section(&[&[(":method", "GET"), (":path", "/a")], &rest[..]].concat());
    for front in [&[(":method", "GET"), (":path", "/longer")][..], &[]] {
        let mut fields = section(front);
        fields.append_from(&known, 2);
        let whole = section(&[front, &rest[..]].concat());
        assert!(fields.is_twin_of(&whole));
        assert_eq!(fields.size(), whole.size());
        assert!(fields.ends_like(front.len(), &known, 2));
        fields.append_from(&known, 6);
        assert_eq!(fields.len(), whole.len(), "nothing is behind the end");
    }
}

#[test]
fn ends_are_alike_when_each_field_is() {
    let known = section(&[(":path", "/"), ("host", "a"), ("x-own", "1")]);
    let is_like = |pairs: &[(&str, &str)]| section(pairs).ends_like(0, &known, 1);
    assert!(is_like(&[("host", "a"), ("x-own", "1")]));
    for other in [
        &[][..],
        &[("host", "a")],
        &[("host", "a"), ("x-own", "2")],
        &[("host", "a"), ("x-ow", "n1")],
        &[("host", "a"), ("x-own1", "")],
        &[("x-own", "1"), ("host", "a")],
        &[("from", "a"), ("x-own", "1")],
        &[("host", "a"), ("x-own", "1"), ("x-own", "1")],
    ] {
        assert!(!is_like(other), "{other:?}");
    }
    let mut marked = section(&[("host", "a"), ("x-own", "1")]);
    marked.mark_sensitive(Token::HOST);
    assert!(!marked.ends_like(0, &known, 1));
    assert!(section(&[]).ends_like(0, &known, 3));
    assert!(!section(&[("host", "a")]).ends_like(0, &known, 3));
}
