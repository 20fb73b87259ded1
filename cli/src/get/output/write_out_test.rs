use super::*;

fn facts() -> Facts {
    let mut fields = HeaderMap::new();
    fields.insert("content-type", "text/plain".parse().expect("a value"));
    Facts {
        head: Some((Version::HTTP_2, StatusCode::NOT_FOUND, fields)),
        method: "GET".to_owned(),
        redirects: 2,
        body_bytes: 5,
        exit_code: 22,
        ..Facts::new(Uri::from_static("https://a.test/x"))
    }
}

#[test]
fn variables_have_their_values_and_escapes_are_letters() {
    for (format, expected) in [
        ("%{http_code} %{http_version}\\n", "404 2\n"),
        ("%{response_code}%%", "404%"),
        ("%{url_effective}\\t%{scheme}", "https://a.test/x\tHTTPS"),
        ("%{num_redirects}/%{size_download}/%{exitcode}", "2/5/22"),
        (
            "%{content_type}|%header{Content-Type}|%header{none}",
            "text/plain|text/plain|",
        ),
        ("%{remote_ip}:%{remote_port}", ":0"),
        ("100% \\x %{open", "100% \\x %{open"),
        ("", ""),
    ] {
        assert_eq!(
            filled(format, &facts()),
            (expected.to_owned(), vec![]),
            "{format}"
        );
    }
    let without_head = Facts::new(Uri::from_static("http://a.test/"));
    assert_eq!(filled("%{http_code}", &without_head).0, "000");
}

#[test]
fn times_are_seconds_with_six_digits() {
    let (text, _) = filled("%{time_total}", &facts());
    let (seconds, rest) = text.split_once('.').expect("a point");
    assert!(seconds.parse::<u64>().is_ok() && rest.len() == 6, "{text}");
    assert_eq!(filled("%{time_connect}", &facts()).0, "0.000000");
}

#[test]
fn a_variable_that_is_not_known_is_named() {
    let (text, unknown) = filled("a%{nothing}b", &facts());
    assert_eq!((text.as_str(), unknown), ("ab", vec!["nothing".to_owned()]));
}
