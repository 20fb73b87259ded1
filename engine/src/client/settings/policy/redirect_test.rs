//! The request that follows a redirect.

use super::{RedirectAction, RedirectPolicy, Redirected};
use crate::error::ErrorKind;
use http::header::{HeaderMap, HeaderValue, LOCATION};
use http::request::Parts;
use http::{Method, Request, StatusCode, Uri};

const FIELDS: [&str; 10] = [
    "accept",
    "authorization",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
];

fn request(method: &Method, uri: &str) -> Parts {
    let mut request = Request::builder().method(method).uri(uri);
    for name in FIELDS {
        request = request.header(name, "x");
    }
    request.body(()).unwrap().into_parts().0
}

/// Method, URL, names of fields, and whether the body is sent again.
type Next = (Method, String, Vec<String>, bool);

fn follow(status: u16, location: &str, mut parts: Parts) -> Result<Option<Next>, crate::Error> {
    let mut headers = HeaderMap::new();
    headers.insert(
        LOCATION,
        HeaderValue::from_bytes(location.as_bytes()).unwrap(),
    );
    let previous = [parts.uri.clone()];
    let status = StatusCode::from_u16(status).unwrap();
    let policy = RedirectPolicy::default();
    let found = Redirected::of(&policy, &parts, &previous, (status, &headers), true)?;
    Ok(found.map(|redirected| {
        let keeps = redirected.apply(&mut parts);
        let names = parts.headers.keys().map(ToString::to_string).collect();
        (parts.method, parts.uri.to_string(), names, keeps)
    }))
}

#[test]
fn the_method_changes_as_browsers_change_it() {
    let methods = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::DELETE,
    ];
    for method in methods {
        for status in [300, 301, 302, 303, 304, 305, 306, 307, 308] {
            let parts = request(&method, "https://a.example/x");
            let next = follow(status, "/y", parts).unwrap();
            let expected = match (status, &method) {
                (300 | 304 | 305 | 306, _) => None,
                (303, &Method::HEAD) => Some((Method::HEAD, true)),
                (303, &Method::GET) => Some((Method::GET, true)),
                (303, _) | (301 | 302, &Method::POST) => Some((Method::GET, false)),
                (_, method) => Some((method.clone(), true)),
            };
            let got = next.map(|(method, _, names, keeps)| {
                let of_body = names.iter().any(|name| name.starts_with("content-"));
                assert_eq!(of_body, keeps, "{method} {status}");
                (method, keeps)
            });
            assert_eq!(got, expected, "{method} {status}");
        }
    }
}

#[test]
fn credentials_stay_with_their_origin() {
    let secret = ["authorization", "cookie", "host", "proxy-authorization"];
    for (location, stays) in [
        ("/y", true),
        ("https://a.example/y", true),
        ("https://A.EXAMPLE:443/y", true),
        ("//a.example/y", true),
        ("http://a.example/y", false),
        ("https://a.example:444/y", false),
        ("https://b.a.example/y", false),
        ("https://b.example/y", false),
    ] {
        let parts = request(&Method::GET, "https://a.example/x");
        let (_, _, names, _) = follow(302, location, parts).unwrap().unwrap();
        for name in secret {
            assert_eq!(names.iter().any(|n| n == name), stays, "{location} {name}");
        }
        assert!(names.iter().any(|name| name == "accept"));
    }
}

#[test]
fn a_location_is_relative_to_the_url_that_was_requested() {
    for (location, url) in [
        ("y", "https://a.example/d/y"),
        ("?q=1", "https://a.example/d/x?q=1"),
        ("../y", "https://a.example/y"),
        ("/ä b", "https://a.example/%C3%A4%20b"),
        ("#f", "https://a.example/d/x"),
        ("//b.example", "https://b.example/"),
        ("http://b.example/y#f", "http://b.example/y"),
    ] {
        let parts = request(&Method::GET, "https://a.example/d/x");
        let (_, got, _, _) = follow(301, location, parts).unwrap().unwrap();
        assert_eq!(got, url, "{location}");
    }
}

#[test]
fn bytes_of_a_location_that_are_no_utf_8_are_sent_as_they_are() {
    let mut headers = HeaderMap::new();
    let location = HeaderValue::from_bytes(b"/caf\xe9?q=\xff%20x").unwrap();
    headers.insert(LOCATION, location);
    let parts = request(&Method::GET, "https://a.example/");
    let answer = (StatusCode::FOUND, &headers);
    let next = Redirected::of(&RedirectPolicy::default(), &parts, &[], answer, true);
    let next = next.unwrap().unwrap();
    assert_eq!(next.uri, "https://a.example/caf%E9?q=%FF%20x");
}

#[test]
fn a_redirect_to_what_is_no_http_url_is_an_error_that_names_it() {
    for location in [
        "ftp://a.example/",
        "file:///etc/passwd",
        "http://",
        "data:,x",
    ] {
        let parts = request(&Method::GET, "https://a.example/");
        let error = follow(302, location, parts).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Redirect);
        assert!(error.to_string().contains(location), "{error}");
    }
    let parts = request(&Method::GET, "https://a.example/");
    let error = follow(302, "https://user:pw@b.example/", parts).unwrap_err();
    assert!(!error.to_string().contains("pw"), "{error}");
}

#[test]
fn a_policy_says_how_many_are_followed_and_which() {
    let mut headers = HeaderMap::new();
    headers.insert(LOCATION, HeaderValue::from_static("/y"));
    let answer = (StatusCode::FOUND, &headers);
    let parts = request(&Method::GET, "https://a.example/");
    let uris = |count| vec![Uri::from_static("https://a.example/"); count];
    let of = |policy: &RedirectPolicy, count: usize| {
        Redirected::of(policy, &parts, &uris(count), answer, true)
    };
    let limited = RedirectPolicy::limited(2);
    assert!(of(&limited, 1).unwrap().is_some());
    assert!(of(&limited, 2).unwrap().is_some());
    let error = of(&limited, 3).unwrap_err();
    assert!(
        error.to_string().contains("there were 2 before it"),
        "{error}"
    );
    assert!(of(&RedirectPolicy::default(), 10).unwrap().is_some());
    assert!(of(&RedirectPolicy::default(), 11).is_err());
    assert!(of(&RedirectPolicy::none(), 1).unwrap().is_none());
    assert!(of(&RedirectPolicy::limited(0), 1).is_err());
    let stops = RedirectPolicy::custom(|attempt| match attempt.next.path() {
        "/y" => RedirectAction::Stop,
        _ => RedirectAction::Follow,
    });
    assert!(of(&stops, 1).unwrap().is_none());
}

#[test]
fn a_policy_of_ones_own_ends_the_chain_at_a_url_of_another_scheme() {
    let parts = request(&Method::GET, "https://a.example/");
    let previous = [parts.uri.clone()];
    let policy = RedirectPolicy::custom(|attempt| match attempt.next.scheme_str() {
        Some("app") => RedirectAction::Stop,
        _ => RedirectAction::Follow,
    });
    let of = |policy: &RedirectPolicy, location| {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_static(location));
        let answer = (StatusCode::FOUND, &headers);
        Redirected::of(policy, &parts, &previous, answer, true)
    };
    let stopped = of(&policy, "app://signed-in?code=7").unwrap();
    assert!(stopped.is_none(), "the redirect is the response");
    for (policy, location) in [
        (&policy, "ftp://a.example/"),
        (&RedirectPolicy::default(), "app://signed-in?code=7"),
    ] {
        let error = of(policy, location).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Redirect, "{location}");
        assert!(
            error.to_string().contains("must be http or https"),
            "{error}"
        );
    }
}

#[test]
fn a_body_that_cannot_be_sent_again_leaves_the_redirect_as_the_response() {
    let mut headers = HeaderMap::new();
    headers.insert(LOCATION, HeaderValue::from_static("/y"));
    let parts = request(&Method::POST, "https://a.example/");
    let previous = [parts.uri.clone()];
    for (status, follows) in [(302, true), (303, true), (307, false), (308, false)] {
        let answer = (StatusCode::from_u16(status).unwrap(), &headers);
        let policy = RedirectPolicy::default();
        let next = Redirected::of(&policy, &parts, &previous, answer, false).unwrap();
        assert_eq!(next.is_some(), follows, "{status}");
    }
}
