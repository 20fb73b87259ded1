use super::{BoxError, credentials_apart, joined, normalized};

/// Where the crate `url` is there to compare with, it must agree.
#[cfg(feature = "url")]
fn agrees(ours: &Result<String, BoxError>, theirs: &Result<String, BoxError>, what: &str) {
    assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{what}");
}
#[cfg(not(feature = "url"))]
fn agrees(_: &Result<String, BoxError>, (): &(), _: &str) {}

#[cfg(feature = "url")]
use crate::client::settings::url::whatwg;

/// Without the crate `url` its answers are not there.
#[cfg(not(feature = "url"))]
mod whatwg {
    pub(super) fn normalized(_: &str) {}
    pub(super) fn joined(_: &str, _: &str) {}
}

#[test]
fn urls_with_ascii_hosts_become_what_browsers_send() {
    for url in [
        "https://example.org",
        "HTTPS://Example.ORG/A",
        "https://example.org/ä b",
        "https://example.org/a/../b/./c",
        "https://example.org/a/%2E%2e/b",
        "https://example.org/a/..",
        "https://example.org/a/b/.",
        "https://example.org/../..",
        "https://example.org//a//../b",
        "https://example.org/?q=ü&r=a b",
        "https://example.org?q=a/../b",
        "https://example.org/a#part",
        "  https://example.org/a\n",
        "https://[::1]:8443/{a}",
        "https://[::1]:443/",
        "http://example.org:80/é",
        "http://example.org:443/é",
        "http://user:pass@example.org/é",
        "http://example.org/a:b",
        "",
        "ä",
        "https://",
        "https://exa mple.org/",
    ] {
        agrees(&normalized(url), &whatwg::normalized(url), url);
    }
    let sent = normalized("https://example.org/ä b/../{c}?q=ü#part").ok();
    let expected = "https://example.org/%7Bc%7D?q=%C3%BC";
    assert_eq!(sent.as_deref(), Some(expected));
}

#[test]
fn references_are_resolved_as_section_5_4_of_rfc_3986_has_them() {
    let base = "http://a/b/c/d;p?q";
    for (reference, expected) in [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"),
        (";x", "http://a/b/c/;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("https://other/x", "https://other/x"),
        ("a:b", ""),
    ] {
        let ours = joined(base, reference);
        let expected = Some(expected).filter(|text| !text.is_empty());
        assert_eq!(ours.as_deref().ok(), expected, "{reference}");
        if expected.is_some() {
            agrees(&ours, &whatwg::joined(base, reference), reference);
        }
    }
}

#[test]
fn a_host_of_another_script_is_refused_with_the_feature_that_takes_it() {
    let error = normalized("https://bücher.example/").unwrap_err();
    assert!(error.to_string().contains("feature url"), "{error}");
}

#[test]
fn credentials_are_taken_from_before_the_last_at_sign() {
    let apart = credentials_apart("http://u:p%3A@q@a.example/x@y").unwrap();
    assert_eq!(apart.url, "http://a.example/x@y");
    assert_eq!((&*apart.user, &*apart.password), ("u", "p%3A@q"));
}
