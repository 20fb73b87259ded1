//! URLs of origins that were asked before.

use super::*;
use crate::client::settings::url::uri_of;
use crate::config::ClientConfig;
use http::Request;

/// The origins of these URLs were asked.
fn asked(urls: &[&str]) -> RecentOrigins {
    let recent = RecentOrigins::default();
    for url in urls {
        let (parts, ()) = Request::get(*url).body(()).unwrap().into_parts();
        let settings = Settings::new(ClientConfig::default());
        recent.find(&parts, false, &settings).unwrap();
    }
    recent
}

#[test]
fn a_url_of_an_origin_that_was_asked_before_is_the_same_uri() {
    let recent = asked(&["https://a.example/", "http://127.0.0.1:8080/first?q"]);
    for url in [
        "https://a.example/",
        "https://a.example/b/c.d?e=f&g=%20",
        "https://a.example//b?..",
        "http://127.0.0.1:8080/a:b@c",
    ] {
        assert_eq!(recent.uri_of(url), Some(uri_of(url).unwrap()), "{url}");
    }
}

#[test]
fn a_url_that_is_sent_in_another_form_is_parsed_whole() {
    let recent = asked(&["https://a.example/", "http://127.0.0.1:8080/"]);
    let long = format!("https://a.example/{}", "b".repeat(8 * 1024));
    for url in [
        "https://a.example/a/../b",
        "https://a.example/a/%2e%2E/b",
        "https://a.example/a b",
        "https://a.example/a#b",
        "https://a.example/\u{e4}",
        "https://a.example/a\\b",
        long.as_str(),
        "https://a.example",
        "https://a.example?b",
        "https://a.example:443/",
        "https://a.example:8443/",
        "https://a.example.org/",
        "https://user@a.example/",
        "https://A.example/",
        "http://a.example/",
        "http://127.0.0.1:80801/",
        "b.example/",
        "",
    ] {
        assert_eq!(recent.uri_of(url), None, "{url}");
    }
}

#[test]
fn an_origin_whose_text_is_sent_in_another_form_is_no_beginning_of_a_url() {
    let urls = [
        "https://A.example/",
        "https://a.example:443/",
        "http://127.1/",
        "http://a.example:080/",
    ];
    let recent = asked(&urls);
    for url in urls {
        assert_eq!(recent.uri_of(url), None, "{url}");
    }
}
