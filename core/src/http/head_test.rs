use super::*;
use crate::error::Violation::{self, *};
use crate::http::{Fields, Token};
use std::borrow::Cow;

type Lines<'a> = &'a [(&'a str, &'a str)];

fn section(lines: Lines<'_>) -> Fields {
    lines.iter().copied().collect()
}

fn request(version: Version, lines: Lines<'_>) -> Result<RequestHead, Violation> {
    RequestHead::from_fields(section(lines), version)
}

fn h2(lines: Lines<'_>) -> Result<RequestHead, Violation> {
    let framed = request(Version::Http2, lines);
    let http3 = request(Version::Http3, lines);
    assert_eq!(
        framed.as_ref().err(),
        http3.as_ref().err(),
        "HTTP/3 has the same rules"
    );
    framed
}

/// A GET with more lines behind.
fn h2_get(more: Lines<'_>) -> Result<RequestHead, Violation> {
    h2(&[&GET[..], more].concat())
}

fn h1(lines: Lines<'_>) -> Result<RequestHead, Violation> {
    request(Version::Http11, lines)
}

fn h1_get(more: Lines<'_>) -> Result<RequestHead, Violation> {
    h1(&[
        &[(":method", "GET"), (":path", "/"), ("host", "example.com")][..],
        more,
    ]
    .concat())
}

const GET: [(&str, &str); 4] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "example.com"),
    (":path", "/a?b"),
];

#[track_caller]
fn refused<T>(result: Result<T, Violation>, expected: Violation) {
    match result {
        Ok(_) => panic!("accepted, expected {expected:?}"),
        Err(violation) => assert_eq!(violation, expected),
    }
}

/// The GET with one of its pseudo-fields replaced.
fn h2_with(name: &str, value: &str) -> Result<RequestHead, Violation> {
    let lines = GET.map(|line| {
        if line.0 == name {
            (line.0, value)
        } else {
            line
        }
    });
    h2(&lines)
}

#[test]
fn a_request_says_what_was_asked() {
    let head = h2_get(&[("accept", "*/*"), ("x-own", ""), ("content-length", "12")]).unwrap();
    assert_eq!(head.method(), b"GET");
    assert_eq!(head.scheme(), Some(&b"https"[..]));
    assert_eq!(head.authority(), Some(&b"example.com"[..]));
    assert_eq!(head.path(), Some(&b"/a?b"[..]));
    assert_eq!(head.protocol(), None);
    assert_eq!(head.content_length(), Some(12));
    assert_eq!(head.fields().len(), 3, "regular fields only");
    assert_eq!(head.get(Token::ACCEPT), Some(&b"*/*"[..]));
    assert_eq!(head.section().len(), 7);
}

#[test]
fn pseudo_fields_may_come_in_any_order_among_themselves() {
    let head = h2(&[
        (":path", "/"),
        (":authority", "a"),
        (":scheme", "http"),
        (":method", "PUT"),
    ])
    .unwrap();
    assert_eq!((head.method(), head.path()), (&b"PUT"[..], Some(&b"/"[..])));
}

#[test]
fn an_unknown_pseudo_field_is_refused() {
    refused(h2_get(&[(":foo", "bar")]), PseudoFieldUnknown);
    refused(h2_get(&[(":", "bar")]), PseudoFieldUnknown);
    refused(h2_get(&[(":status", "200")]), PseudoFieldUnknown);
    refused(h1_get(&[(":protocol", "websocket")]), PseudoFieldUnknown);
}

#[test]
fn a_repeated_pseudo_field_is_refused() {
    for line in GET {
        refused(h2_get(&[line]), PseudoFieldRepeated);
    }
}

#[test]
fn a_pseudo_field_after_a_regular_one_is_refused() {
    for late in 0..4 {
        let mut lines = GET.to_vec();
        let line = lines.remove(late);
        lines.push(("accept", "*/*"));
        lines.push(line);
        refused(h2(&lines), PseudoFieldLate);
    }
}

#[test]
fn a_missing_pseudo_field_is_refused() {
    for missing in 0..4 {
        let mut lines = GET.to_vec();
        lines.remove(missing);
        refused(h2(&lines), PseudoFieldMissing);
    }
    refused(h2(&[]), PseudoFieldMissing);
    refused(h1(&[(":method", "GET"), ("host", "a")]), PseudoFieldMissing);
    refused(h1(&[(":path", "/"), ("host", "a")]), PseudoFieldMissing);
}

#[test]
fn a_field_name_is_a_lower_case_token() {
    for name in [
        "", "Accept", "x own", "x\0", "x\r", "x\n", "x:y", "x\u{e9}", "(x)", "x/y", "x\x7f",
    ] {
        refused(h2_get(&[(name, "1")]), FieldNameInvalid);
        refused(h1_get(&[(name, "1")]), FieldNameInvalid);
    }
    h2_get(&[("!#$%&'*+-.^_`|~09az", "1")]).unwrap();
}

#[test]
fn a_field_value_has_no_control_character_at_any_place() {
    for bad in (0..=0x1f).chain([0x7f]).filter(|&byte| byte != b'\t') {
        for at in 0..20 {
            let mut value = vec![b'v'; 20];
            value[at] = bad;
            for name in [&b"accept"[..], b"x-own"] {
                let mut fields = section(&GET);
                fields.push_named(name, &value);
                refused(
                    RequestHead::from_fields(fields, Version::Http2),
                    FieldValueInvalid,
                );
            }
        }
    }
}

#[test]
fn a_field_value_has_no_space_at_an_end() {
    for value in [" ", "\t", " v", "v ", "\tv", "v\t"] {
        refused(h2_get(&[("x-own", value)]), FieldValueInvalid);
        refused(h1_get(&[("x-own", value)]), FieldValueInvalid);
    }
    for value in ["", "v", "v w", "v\tw", "\u{fc}"] {
        h2_get(&[("x-own", value)]).unwrap();
    }
}

#[test]
fn connection_specific_fields_do_not_exist_in_http_2() {
    for name in [
        "connection",
        "proxy-connection",
        "keep-alive",
        "transfer-encoding",
        "upgrade",
    ] {
        for value in ["", "chunked", "keep-alive"] {
            refused(h2_get(&[(name, value)]), ConnectionFieldForbidden);
            let fields = section(&[(":status", "200"), (name, value)]);
            refused(
                ResponseHead::received(fields, Version::Http2),
                ConnectionFieldForbidden,
            );
            refused(
                ResponseHead::new(200, section(&[(name, value)]), Version::Http2),
                ConnectionFieldForbidden,
            );
        }
        h1_get(&[(name, "chunked")]).unwrap();
    }
}

#[test]
fn te_may_only_say_trailers_in_http_2() {
    for value in ["", "gzip", "trailers, deflate", "trailers;q=1"] {
        refused(h2_get(&[("te", value)]), TeForbidden);
        h1_get(&[("te", value)]).unwrap();
    }
    h2_get(&[("te", "trailers")]).unwrap();
    h2_get(&[("te", "Trailers")]).unwrap();
}

#[test]
fn content_length_is_one_number() {
    let bad = [
        "",
        "+5",
        "-5",
        "5, 5",
        "5,5",
        "0x5",
        "5.0",
        "five",
        "18446744073709551616",
    ];
    for value in bad {
        refused(h2_get(&[("content-length", value)]), ContentLengthInvalid);
        refused(h1_get(&[("content-length", value)]), ContentLengthInvalid);
    }
    for (value, number) in [("0", 0), ("007", 7), ("18446744073709551615", u64::MAX)] {
        let head = h2_get(&[("content-length", value)]).unwrap();
        assert_eq!(head.content_length(), Some(number));
    }
    let twice = [("content-length", "5"), ("content-length", "5")];
    refused(h1_get(&twice), ContentLengthInvalid);
    refused(h2_get(&twice), ContentLengthInvalid);
    let differ = [("content-length", "5"), ("content-length", "6")];
    refused(h1_get(&differ), ContentLengthConflict);
    refused(h2_get(&differ), ContentLengthConflict);
}

#[test]
fn content_length_beside_transfer_encoding_is_refused_in_either_order() {
    let (length, coding) = (("content-length", "5"), ("transfer-encoding", "chunked"));
    refused(h1_get(&[length, coding]), ContentLengthConflict);
    refused(h1_get(&[coding, length]), ContentLengthConflict);
    let fields = section(&[length, coding]);
    refused(
        ResponseHead::new(200, fields, Version::Http11),
        ContentLengthConflict,
    );
}

#[test]
fn http_1_0_has_no_transfer_encoding_and_at_most_one_host() {
    let line = [(":method", "GET"), (":path", "/")];
    let with = |more: Lines<'_>| request(Version::Http10, &[&line[..], more].concat());
    with(&[]).unwrap();
    with(&[("host", "a")]).unwrap();
    refused(with(&[("host", "a"), ("host", "a")]), HostMissing);
    refused(
        with(&[("transfer-encoding", "chunked")]),
        TransferEncodingInvalid,
    );
}

#[test]
fn http_1_1_has_exactly_one_host() {
    refused(h1(&[(":method", "GET"), (":path", "/")]), HostMissing);
    refused(h1_get(&[("host", "example.com")]), HostMissing);
    let absolute = [
        (":method", "GET"),
        (":scheme", "http"),
        (":authority", "a"),
        (":path", "/"),
    ];
    refused(h1(&absolute), HostMissing);
    let empty = h1(&[(":method", "GET"), (":path", "/"), ("host", "")]).unwrap();
    assert_eq!(
        empty.authority(),
        Some(&b""[..]),
        "RFC 9112 section 3.2 allows it"
    );
}

#[test]
fn the_absolute_form_wins_over_the_host_field_of_http_1_1() {
    let head = h1(&[
        (":method", "GET"),
        (":scheme", "http"),
        (":authority", "target.example"),
        (":path", "/"),
        ("host", "other.example"),
    ])
    .unwrap();
    assert_eq!(head.authority(), Some(&b"target.example"[..]));
}

#[test]
fn host_and_authority_say_the_same_in_http_2() {
    h2_get(&[("host", "EXAMPLE.com")]).unwrap();
    refused(h2_get(&[("host", "example.org")]), AuthorityConflict);
    refused(h2_get(&[("host", "example.com:443")]), AuthorityConflict);
    refused(h2_get(&[("host", "")]), AuthorityConflict);
    refused(
        h2_get(&[("host", "example.com"), ("host", "example.com")]),
        AuthorityConflict,
    );
    let alone = h2(&[
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/"),
        ("host", "a.example"),
    ]);
    assert_eq!(alone.unwrap().authority(), Some(&b"a.example"[..]));
}

#[test]
fn an_authority_is_a_host_with_an_optional_port() {
    let bad = [
        "user@example.com",
        "user:secret@example.com",
        "example.com/",
        "example.com?",
        "a#b",
        "a\\b",
        "a b",
        " a",
        "a ",
        "a:b",
        "a:1:2",
        "a:+1",
        "a:65536",
        ":80",
        ":",
        "[::1",
        "::g",
        "[]",
        "[::1]a",
        "[::1]:x",
        "[::1@]",
        "a[",
        "a,b\0",
        "\u{e9}",
        "a<b",
        "",
    ];
    for authority in bad {
        refused(h2_with(":authority", authority), AuthorityInvalid);
    }
    for host in bad.iter().filter(|host| !host.is_empty()) {
        let valid_value = host.trim() == *host && !host.contains('\0');
        let expected = if valid_value {
            AuthorityInvalid
        } else {
            FieldValueInvalid
        };
        refused(
            h1(&[(":method", "GET"), (":path", "/"), ("host", host)]),
            expected,
        );
    }
    for authority in [
        "a",
        "a:",
        "a:0",
        "a:65535",
        "A-_.~",
        "1.2.3.4:80",
        "[::1]",
        "[::1]:443",
        "a%20b",
    ] {
        h2_with(":authority", authority).unwrap();
    }
}

#[test]
fn a_scheme_without_authority_needs_none() {
    let head = h2(&[(":method", "GET"), (":scheme", "urn"), (":path", "/")]).unwrap();
    assert_eq!(head.authority(), None);
}

#[test]
fn a_method_is_a_token() {
    for method in ["", "GE T", "GET ", "GET\r\nhost: x", "G\0", "G/", "\u{e9}"] {
        refused(h2_with(":method", method), MethodInvalid);
        refused(
            h1(&[(":method", method), (":path", "/"), ("host", "a")]),
            MethodInvalid,
        );
    }
    for method in ["get", "M-SEARCH", "!#$%&'*+.^_`|~0"] {
        assert_eq!(
            h2_with(":method", method).unwrap().method(),
            method.as_bytes()
        );
    }
}

#[test]
fn a_scheme_is_a_uri_scheme() {
    for scheme in ["", "1http", "ht tp", "http:", "http://", "h_p", "\u{e9}"] {
        refused(h2_with(":scheme", scheme), SchemeInvalid);
    }
    for scheme in ["http", "HTTPS", "coap+tcp", "x-1.y"] {
        h2_with(":scheme", scheme).unwrap();
    }
}

#[test]
fn a_path_begins_with_a_slash_and_has_no_space() {
    let bad = [
        "",
        "a",
        "?q",
        "http://a/",
        "/a b",
        "/\t",
        "/\r",
        "/\n",
        "/\0",
        "/\x7f",
        "/#f",
        " /",
        "/ ",
        "*",
        "*a",
    ];
    for path in bad {
        refused(h2_with(":path", path), PathInvalid);
        refused(
            h1(&[(":method", "GET"), (":path", path), ("host", "a")]),
            PathInvalid,
        );
    }
    for path in [
        "/",
        "//",
        "/a?b=c&d",
        "/%00",
        "/*",
        "/\u{fc}",
        "/{}|\\^`\"<>",
    ] {
        h2_with(":path", path).unwrap();
    }
}

#[test]
fn the_asterisk_is_for_options_only() {
    let asterisk = |method| {
        h2(&[
            (":method", method),
            (":scheme", "http"),
            (":authority", "a"),
            (":path", "*"),
        ])
    };
    assert_eq!(asterisk("OPTIONS").unwrap().path(), Some(&b"*"[..]));
    refused(asterisk("GET"), PathInvalid);
    refused(asterisk("options"), PathInvalid);
}

#[test]
fn connect_has_a_method_and_an_authority_with_a_port() {
    let connect = [(":method", "CONNECT"), (":authority", "example.com:443")];
    let head = h2(&connect).unwrap();
    assert_eq!((head.path(), head.scheme()), (None, None));
    assert_eq!(head.authority(), Some(&b"example.com:443"[..]));
    refused(
        h2(&[&connect[..], &[(":path", "/")]].concat()),
        ConnectMalformed,
    );
    refused(
        h2(&[&connect[..], &[(":scheme", "https")]].concat()),
        ConnectMalformed,
    );
    refused(h2(&connect[..1]), ConnectMalformed);
    refused(
        h2(&[connect[0], ("host", "example.com:443")]),
        ConnectMalformed,
    );
    refused(
        h2(&[connect[0], (":authority", "example.com")]),
        ConnectMalformed,
    );
    refused(
        h2(&[connect[0], (":authority", "example.com:")]),
        ConnectMalformed,
    );
    h1(&[&connect[..], &[("host", "example.com")]].concat()).unwrap();
    refused(
        h1(&[&connect[..], &[(":path", "/"), ("host", "a")]].concat()),
        ConnectMalformed,
    );
    refused(h1(&connect), HostMissing);
}

#[test]
fn extended_connect_has_every_pseudo_field() {
    let whole = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "https"),
        (":path", "/chat"),
        (":authority", "example.com"),
    ];
    let head = h2(&whole).unwrap();
    assert_eq!(head.protocol(), Some(&b"websocket"[..]));
    assert_eq!(head.path(), Some(&b"/chat"[..]));
    for missing in 2..5 {
        let mut lines = whole.to_vec();
        lines.remove(missing);
        refused(h2(&lines), ConnectMalformed);
    }
    let mut lines = whole;
    lines[1].1 = "";
    refused(h2(&lines), ConnectMalformed);
    lines[1].1 = "web socket";
    refused(h2(&lines), ConnectMalformed);
    let mut lines = whole;
    lines[3].1 = "chat";
    refused(h2(&lines), PathInvalid);
    let mut lines = whole;
    lines[4].1 = "";
    refused(h2(&lines), AuthorityInvalid);
    let mut lines = whole;
    lines[0].1 = "GET";
    refused(h2(&lines), ConnectMalformed);
}

#[test]
fn cookie_crumbs_are_joined() {
    assert_eq!(h2_get(&[]).unwrap().cookie(), None);
    let one = h2_get(&[("cookie", "a=b; c=d")]).unwrap();
    assert!(
        matches!(one.cookie(), Some(Cow::Borrowed(b"a=b; c=d"))),
        "no copy of one"
    );
    let many = h2_get(&[
        ("cookie", "a=b"),
        ("accept", "*/*"),
        ("cookie", "c=d"),
        ("cookie", "e=f"),
    ]);
    assert_eq!(many.unwrap().cookie().unwrap(), &b"a=b; c=d; e=f"[..]);
}

#[test]
fn a_status_is_three_digits_from_100_to_999() {
    let status = |value| ResponseHead::received(section(&[(":status", value)]), Version::Http2);
    for value in ["", "20", "2000", "099", "abc", "2 0", "+20", "-20", "000"] {
        refused(status(value), StatusInvalid);
    }
    for (value, number) in [
        ("100", 100),
        ("200", 200),
        ("599", 599),
        ("600", 600),
        ("999", 999),
    ] {
        assert_eq!(status(value).unwrap().status, number);
    }
    assert!(status("103").unwrap().is_interim());
    assert!(!status("200").unwrap().is_interim());
    for number in [0, 99, 1000, u16::MAX] {
        refused(
            ResponseHead::new(number, Fields::new(), Version::Http11),
            StatusInvalid,
        );
    }
}

#[test]
fn switching_protocols_is_for_http_1_1() {
    ResponseHead::new(101, Fields::new(), Version::Http11).unwrap();
    refused(
        ResponseHead::new(101, Fields::new(), Version::Http2),
        SwitchingProtocolsForbidden,
    );
    let fields = section(&[(":status", "101")]);
    refused(
        ResponseHead::received(fields, Version::Http2),
        SwitchingProtocolsForbidden,
    );
}

#[test]
fn a_response_has_status_and_no_other_pseudo_field() {
    let response = |lines: Lines<'_>| ResponseHead::received(section(lines), Version::Http2);
    let head = response(&[(":status", "200"), ("server", "x"), ("content-length", "3")]).unwrap();
    assert_eq!(head.fields().len(), 2);
    assert_eq!(head.content_length(), Some(3));
    refused(response(&[]), PseudoFieldMissing);
    refused(response(&[("server", "x")]), PseudoFieldMissing);
    refused(
        response(&[("server", "x"), (":status", "200")]),
        PseudoFieldLate,
    );
    refused(
        response(&[(":status", "200"), (":status", "200")]),
        PseudoFieldRepeated,
    );
    refused(
        response(&[(":status", "200"), (":path", "/")]),
        PseudoFieldUnknown,
    );
    let fields = section(&[(":status", "200")]);
    refused(
        ResponseHead::new(200, fields, Version::Http11),
        PseudoFieldUnknown,
    );
}

#[test]
fn a_handler_cannot_split_a_response() {
    for value in ["a\r\nset-cookie: x", "a\nb", "a\rb", "a\0b"] {
        for version in [Version::Http11, Version::Http2] {
            let fields = section(&[("location", value)]);
            refused(ResponseHead::new(302, fields, version), FieldValueInvalid);
        }
    }
}

#[test]
fn a_head_made_in_the_memory_of_another_is_as_one_made_afresh() {
    let fields = |value: &[u8]| {
        let mut fields = Fields::new();
        fields.push(Token::CONTENT_LENGTH, value);
        fields
    };
    let first = ResponseHead::new(200, fields(b"7"), Version::Http11).expect("a valid head");
    let mut first = first.with_reason(b"Fine").expect("a valid reason");
    first.take_fields();
    let again = first.clone().renew(404, fields(b"9"), Version::Http2);
    let again = again.expect("a valid head");
    assert_eq!((again.status, again.content_length()), (404, Some(9)));
    assert_eq!((again.reason(), again.fields().len()), (None, 1));
    let refused = first.clone().renew(200, fields(b"x"), Version::Http2);
    assert!(refused.is_err());
    let refused = first.renew(101, fields(b"9"), Version::Http2);
    assert_eq!(refused.err(), Some(SwitchingProtocolsForbidden));
}

#[test]
fn each_status_of_the_registry_has_its_phrase_and_others_have_none() {
    for (status, phrase) in [
        (200, "OK"),
        (207, "Multi-Status"),
        (413, "Payload Too Large"),
        (418, "I'm a teapot"),
        (451, "Unavailable For Legal Reasons"),
        (511, "Network Authentication Required"),
        (299, ""),
        (512, ""),
        (999, ""),
    ] {
        let head = ResponseHead::new(status, Fields::new(), Version::Http11);
        let head = head.expect("a valid status");
        assert_eq!(head.phrase(), phrase.as_bytes(), "{status}");
    }
}
