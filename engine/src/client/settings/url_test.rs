use super::*;

#[test]
fn a_url_becomes_what_browsers_send() {
    for (url, sent) in [
        (
            "https://example.org/a?b=c%20d",
            "https://example.org/a?b=c%20d",
        ),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://example.org/ä b", "https://example.org/%C3%A4%20b"),
        ("https://example.org/a/../b/./c", "https://example.org/b/c"),
        ("https://example.org/a/%2E%2e/b", "https://example.org/b"),
        (
            "https://example.org/?q=ü&r=a b",
            "https://example.org/?q=%C3%BC&r=a%20b",
        ),
        ("https://example.org/a#part", "https://example.org/a"),
        ("  https://example.org/a\n", "https://example.org/a"),
        ("https://example.org\\a", "https://example.org/a"),
        ("https://[::1]:8443/{a}", "https://[::1]:8443/%7Ba%7D"),
        ("https://example.org/a|b^c", "https://example.org/a|b^c"),
        ("http://example.org:80/é", "http://example.org/%C3%A9"),
    ] {
        let uri = uri_of(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(uri.to_string(), sent, "{url}");
    }
}

#[cfg(feature = "url")]
#[test]
fn scheme_host_and_port_have_one_form_without_a_character_that_is_encoded_too() {
    for (url, sent) in [
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("http://example.org:443/a", "http://example.org:443/a"),
        ("http://example.org:08080/a", "http://example.org:8080/a"),
        ("http://example.org:/a", "http://example.org/a"),
        ("HTTP://Example.ORG/A", "http://example.org/A"),
        ("http://127.1:81/", "http://127.0.0.1:81/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://127.0.0.1:81/", "http://127.0.0.1:81/"),
        ("http://[0:0::1]/a", "http://[::1]/a"),
        ("http:/example.org/a", "http://example.org/a"),
        ("HTTPS:example.org/a", "https://example.org/a"),
        ("http:///example.org/a", "http://example.org/a"),
        ("http://1.example/a", "http://1.example/a"),
        ("http://ex%61mple.org/a", "http://example.org/a"),
        ("http://a.example?B:80", "http://a.example/?B:80"),
        ("http://a.example/'?q='", "http://a.example/'?q=%27"),
    ] {
        let uri = uri_of(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(uri.to_string(), sent, "{url}");
    }
}

#[test]
fn what_is_no_url_is_named() {
    for url in [
        "",
        "https://",
        "ä",
        "https://exa mple.org/",
        "https://a:99999/ä",
    ] {
        let error = uri_of(url).expect_err(url).to_string();
        assert!(error.contains(&format!("{url:?}")), "{url}: {error}");
    }
}

#[test]
fn credentials_before_the_host_become_a_field_and_are_not_in_the_uri() {
    for (url, uri, credentials) in [
        ("http://a.example/x@y", "http://a.example/x@y", None),
        ("http://a.example?x@y", "http://a.example/?x@y", None),
        ("http://u:p@a.example/x", "http://a.example/x", Some("u:p")),
        (
            "https://u@a.example:8443",
            "https://a.example:8443/",
            Some("u:"),
        ),
        (
            "http://a%40b:p%3Aq@a.example/",
            "http://a.example/",
            Some("a@b:p:q"),
        ),
        ("http://u:p@[::1]:80/?q", "http://[::1]/?q", Some("u:p")),
        ("http://:p@a.example/", "http://a.example/", Some(":p")),
        ("http://@a.example/", "http://a.example/", None),
        ("http://:@a.example/", "http://a.example/", None),
        #[cfg(feature = "url")]
        ("http:/u:p@a.example/?q", "http://a.example/?q", Some("u:p")),
    ] {
        let (made, field) = uri_and_credentials_of(url).unwrap();
        assert_eq!(made, uri.parse::<Uri>().unwrap(), "{url}");
        let expected = credentials.map(|pair| format!("Basic {}", BASE64_STANDARD.encode(pair)));
        let field = field.as_ref();
        assert!(field.is_none_or(HeaderValue::is_sensitive), "{url}");
        assert_eq!(
            field.map(|value| value.to_str().unwrap()),
            expected.as_deref()
        );
    }
    let error = uri_and_credentials_of("http://u:secret@a b/").unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[cfg(feature = "url")]
#[test]
fn a_url_that_is_taken_as_it_is_is_the_one_that_the_standard_makes_of_it() {
    let alphabet = "a/.%2eE?\"#<\\^`{| é\t";
    let mut plain = 0;
    let mut paths = vec![String::new()];
    for _ in 0..4 {
        let longer = |path: &String| {
            alphabet
                .chars()
                .map(|next| format!("{path}{next}"))
                .collect::<Vec<_>>()
        };
        paths = paths.iter().flat_map(longer).collect();
        for path in &paths {
            let url = format!("http://example.org/{path}");
            if is_plain(&url) {
                plain += 1;
                assert_eq!(standard::normalized(&url).unwrap(), url);
            }
        }
    }
    assert!(plain > 1_000, "only {plain} URLs were plain");
}
