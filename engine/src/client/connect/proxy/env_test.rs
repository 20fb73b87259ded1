use super::{Proxies, env};
use crate::error::Error;
use std::ffi::OsString;
use trunkline_core::pool::Scheme;

type Variables<'a> = &'a [(&'a str, &'a str)];

fn read(variables: Variables<'_>) -> Result<Proxies, Error> {
    env::proxies(|name| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| OsString::from(value))
    })
}

/// The proxies of an http and of an https origin.
fn chosen(variables: Variables<'_>) -> [Option<String>; 2] {
    let proxies = read(variables).unwrap();
    [Scheme::Http, Scheme::Https].map(|scheme| {
        let proxy = proxies.choose(scheme, "a.test", scheme.default_port());
        proxy.map(|proxy| proxy.host.to_string())
    })
}

#[test]
fn each_scheme_has_its_variables_and_small_letters_win() {
    let table: &[(&str, Variables<'_>, [Option<&str>; 2])] = &[
        ("none", &[], [None, None]),
        ("http alone", &[("http_proxy", "p")], [Some("p"), None]),
        (
            "http in capitals",
            &[("HTTP_PROXY", "p"), ("ALL_PROXY", "q")],
            [Some("p"), Some("q")],
        ),
        ("https alone", &[("https_proxy", "p")], [None, Some("p")]),
        (
            "https in capitals",
            &[("HTTPS_PROXY", "p")],
            [None, Some("p")],
        ),
        (
            "both spellings",
            &[("HTTPS_PROXY", "big"), ("https_proxy", "small")],
            [None, Some("small")],
        ),
        ("all", &[("ALL_PROXY", "p")], [Some("p"), Some("p")]),
        (
            "all, and one of its own",
            &[("all_proxy", "p"), ("http_proxy", "q")],
            [Some("q"), Some("p")],
        ),
        (
            "empty is not set",
            &[("https_proxy", ""), ("HTTPS_PROXY", "p")],
            [None, Some("p")],
        ),
        (
            "an exception",
            &[("ALL_PROXY", "p"), ("NO_PROXY", "a.test:443")],
            [Some("p"), None],
        ),
        (
            "exceptions in small letters win",
            &[
                ("ALL_PROXY", "p"),
                ("NO_PROXY", "*"),
                ("no_proxy", "b.test"),
            ],
            [Some("p"), Some("p")],
        ),
    ];
    for (sentence, variables, expected) in table {
        let expected = expected.map(|host| host.map(str::to_owned));
        assert_eq!(chosen(variables), expected, "{sentence}");
    }
}

#[test]
fn a_proxy_that_a_cgi_client_could_set_is_not_used() {
    let cgi = ("REQUEST_METHOD", "GET");
    assert_eq!(chosen(&[("HTTP_PROXY", "evil"), cgi]), [None, None]);
    let others = [("HTTP_PROXY", "evil"), cgi, ("all_proxy", "p")];
    assert_eq!(chosen(&others), [Some("p".into()), Some("p".into())]);
}

#[test]
fn a_variable_that_cannot_be_used_is_named() {
    for (variable, value) in [
        ("http_proxy", "gopher://p"),
        ("HTTPS_PROXY", "http://p:99999"),
        ("all_proxy", "socks5://u:%01@p"),
        ("no_proxy", "10.0.0.0/99"),
    ] {
        let text = read(&[(variable, value)]).unwrap_err().to_string();
        assert!(text.starts_with(&format!("{variable}: ")), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_text_is_named() {
    use std::os::unix::ffi::OsStringExt;
    let outcome = env::proxies(|name| {
        (name == "https_proxy").then(|| OsString::from_vec(b"http://\xff".to_vec()))
    });
    let text = outcome.unwrap_err().to_string();
    assert!(
        text.starts_with("https_proxy: ") && text.contains("UTF-8"),
        "{text}"
    );
}
