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
            Filled {
                out: expected.to_owned(),
                ..Filled::default()
            },
            "{format}"
        );
    }
    let without_head = Facts::new(Uri::from_static("http://a.test/"));
    assert_eq!(filled("%{http_code}", &without_head).out, "000");
}

#[test]
fn all_variables_and_all_fields_come_as_json() {
    let mut facts = facts();
    let (_, _, fields) = facts.head.as_mut().expect("set");
    fields.append("x-a", "1".parse().expect("a value"));
    fields.append("x-a", "\"2\"".parse().expect("a value"));
    assert_eq!(
        filled("%{header_json}", &facts).out,
        r#"{"content-type":["text/plain"],"x-a":["1","\"2\""]}"#
    );
    let value: Value = serde_json::from_str(&filled("%{json}", &facts).out).expect("JSON");
    let of = |name: &str| value.get(name).expect(name).clone();
    assert_eq!(of("http_code"), 404);
    assert_eq!(of("exitcode"), 22);
    assert_eq!(of("size_download"), 5);
    assert!(of("time_total").is_f64());
    assert_eq!(of("http_version"), "2");
    assert_eq!(of("url_effective"), "https://a.test/x");
    assert_eq!(of("redirect_url"), Value::Null);
    let without_head = Facts::new(Uri::from_static("http://a.test/"));
    assert_eq!(filled("%{header_json}", &without_head).out, "{}");
    assert!(
        filled("%{json}", &without_head)
            .out
            .contains("\"http_code\":0,")
    );
}

#[test]
fn each_variable_of_json_is_known_by_its_name() {
    for name in IN_JSON {
        assert!(facts().value(name).is_some(), "{name}");
    }
}

#[test]
fn times_are_seconds_with_six_digits() {
    let text = filled("%{time_total}", &facts()).out;
    let (seconds, rest) = text.split_once('.').expect("a point");
    assert!(seconds.parse::<u64>().is_ok() && rest.len() == 6, "{text}");
    assert_eq!(filled("%{time_connect}", &facts()).out, "0.000000");
}

#[test]
fn a_variable_that_is_not_known_is_named() {
    let Filled {
        out: text, unknown, ..
    } = filled("a%{nothing}b", &facts());
    assert_eq!((text.as_str(), unknown), ("ab", vec!["nothing".to_owned()]));
}

#[test]
fn parts_of_a_format_go_to_standard_error_or_count_for_a_failure_alone() {
    let failed = filled(
        "a%{stderr}b%{stdout}c%{onerror}d%{stderr}%{exitcode}",
        &facts(),
    );
    assert_eq!((failed.out.as_str(), failed.err.as_str()), ("acd", "b22"));
    let fine = Facts {
        exit_code: 0,
        ..facts()
    };
    assert_eq!(filled("a%{onerror}b", &fine).out, "a");
}
