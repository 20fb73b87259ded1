use super::*;

fn refusal(text: &str) -> String {
    Target::parse(text)
        .expect_err("must be refused")
        .to_string()
}

#[test]
fn a_url_without_a_path_asks_for_the_root() {
    let target = Target::parse("https://a.test").expect("valid");
    assert_eq!(
        (target.tls, target.authority(), target.path()),
        (true, "a.test", "/")
    );
    assert!(!Target::parse("http://a.test/x").expect("valid").tls);
}

#[test]
fn an_ipv6_host_keeps_its_brackets_and_its_port() {
    let target = Target::parse("https://[::1]:8443/a?b=c").expect("valid");
    assert_eq!(
        (target.authority(), target.path()),
        ("[::1]:8443", "/a?b=c")
    );
    assert!(Target::parse("http://[::1]/").is_ok());
}

#[test]
fn a_url_that_cannot_be_requested_is_refused_with_the_reason() {
    assert!(refusal("ftp://a.test/").contains("http or https"));
    assert!(refusal("a.test/x").contains("http://"));
    assert!(refusal("http://u:p@a.test/").contains("credentials"));
    assert!(refusal("http://:80/").contains("host"));
    assert!(refusal("http://a.test:0/").contains("1 to 65535"));
    assert!(refusal("http://a.test:99999/").contains("99999"));
    assert!(refusal("").contains("URL"));
}

#[test]
fn an_authority_has_one_form() {
    for (text, authority) in [
        ("http://a.test:/x?'y'", "a.test"),
        ("http://a.test:80/x?'y'", "a.test"),
        ("http://a.test:443/x?'y'", "a.test:443"),
        ("https://a.test:443/x?'y'", "a.test"),
        ("https://[::1]:443/x?'y'", "[::1]"),
        ("http://127.1:81/x?'y'", "127.0.0.1:81"),
        ("http://0x7f.1/x?'y'", "127.0.0.1"),
        ("http://2130706433:80/x?'y'", "127.0.0.1"),
        ("http://127.0.0.1:81/x?'y'", "127.0.0.1:81"),
        ("http://127.0.0.1./x?'y'", "127.0.0.1."),
        ("http://1.2.3.4.5/x?'y'", "1.2.3.4.5"),
        ("http://7.example/x?'y'", "7.example"),
    ] {
        let target = Target::parse(text).expect(text);
        assert_eq!(
            (target.authority(), target.path()),
            (authority, "/x?'y'"),
            "{text}"
        );
    }
}

#[test]
fn a_url_as_people_write_it_is_sent_as_browsers_send_it() {
    for (text, authority, path) in [
        (
            "https://bücher.test/ä b",
            "xn--bcher-kva.test",
            "/%C3%A4%20b",
        ),
        ("http://a.test/x/../y?q=ü", "a.test", "/y?q=%C3%BC"),
        ("http://a.test/?q=a|b#part", "a.test", "/?q=a|b"),
        ("http://a.test:8080/x#part", "a.test:8080", "/x"),
    ] {
        let target = Target::parse(text).expect(text);
        assert_eq!(
            (target.authority(), target.path()),
            (authority, path),
            "{text}"
        );
    }
    assert!(refusal("http://a b/").contains("URL"));
}

#[test]
fn a_field_needs_a_token_for_a_name_and_a_value_without_controls() {
    assert_eq!(
        field("X-A:  b c ").expect("valid"),
        (
            HeaderName::from_static("x-a"),
            HeaderValue::from_static("b c")
        )
    );
    assert_eq!(field("x-a;").expect("valid").1, "");
    assert!(field("nothing").is_err());
    assert!(field("a b: c").is_err());
    assert!(field("a: b\r\nc: d").is_err());
}

#[test]
fn a_url_as_people_type_it_for_curl_has_a_scheme_and_credentials_apart() {
    for (text, uri, credentials) in [
        ("a.test/x", "http://a.test/x", None),
        ("a.test:81", "http://a.test:81/", None),
        ("https://u:p@a.test/x@y", "https://a.test/x@y", Some("u:p")),
        ("u%40v:p%3aq@a.test", "http://a.test/", Some("u@v:p:q")),
        ("http://u@a.test?q#f", "http://a.test/?q", Some("u:")),
    ] {
        let (target, given) = with_credentials(text).expect(text);
        assert_eq!(target.uri.to_string(), uri, "{text}");
        assert_eq!(given.as_deref(), credentials, "{text}");
    }
    assert!(with_credentials("").is_err());
    assert!(with_credentials("ftp://a.test").is_err());
}

#[test]
fn the_path_of_a_url_can_be_taken_as_it_is_written() {
    for (url, path) in [
        ("http://a.test/x/../y?q#f", "/x/../y?q"),
        ("a.test/./x", "/./x"),
        ("http://a.test", "/"),
        ("http://a.test?q=/", "/"),
    ] {
        assert_eq!(written_path(url), path, "{url}");
    }
}
