//! A jar's rules and bounds.

use super::{COOKIES_MAX, CookieStore, FIELD_BYTES_MAX, Jar, OF_DOMAIN_MAX};
use http::{HeaderValue, Uri};

fn set(jar: &Jar, url: &str, fields: &[&str]) {
    let values: Vec<HeaderValue> = fields
        .iter()
        .map(|field| HeaderValue::from_str(field).unwrap())
        .collect();
    jar.set_cookies(&mut values.iter(), &url.parse::<Uri>().unwrap());
}

fn sent(jar: &Jar, url: &str) -> Option<String> {
    let value = jar.cookies(&url.parse::<Uri>().unwrap())?;
    assert!(value.is_sensitive());
    Some(value.to_str().unwrap().to_owned())
}

#[test]
fn cookies_go_to_their_domain_path_and_scheme() {
    let jar = Jar::default();
    set(
        &jar,
        "https://www.a.example/d/x",
        &[
            "host=1",
            "domain=2; Domain=a.example; Path=/",
            "deep=3; Path=/d/e",
            "safe=4; Secure; Path=/",
        ],
    );
    for (url, expected) in [
        ("https://www.a.example/d/", Some("host=1; domain=2; safe=4")),
        ("https://www.a.example/", Some("domain=2; safe=4")),
        ("http://www.a.example/", Some("domain=2")),
        (
            "https://www.a.example/d/e/f",
            Some("deep=3; host=1; domain=2; safe=4"),
        ),
        ("https://a.example/", Some("domain=2")),
        ("https://other.a.example/d/", Some("domain=2")),
        ("https://b.example/", None),
    ] {
        assert_eq!(sent(&jar, url).as_deref(), expected, "{url}");
    }
}

#[test]
fn a_cookie_is_replaced_and_removed_by_its_server() {
    let jar = Jar::default();
    let url = "http://a.example/";
    set(&jar, url, &["a=1", "b=1"]);
    set(&jar, url, &["a=2"]);
    assert_eq!(sent(&jar, url).as_deref(), Some("a=2; b=1"));
    set(&jar, url, &["a=; Max-Age=0"]);
    assert_eq!(sent(&jar, url).as_deref(), Some("b=1"));
    set(&jar, url, &["a=3"]);
    assert_eq!(sent(&jar, url).as_deref(), Some("b=1; a=3"));
    jar.clear();
    assert_eq!(sent(&jar, url), None);
}

#[test]
fn cookies_that_are_not_the_servers_to_set_are_not_kept() {
    let jar = Jar::default();
    let url = "http://a.example/";
    set(
        &jar,
        url,
        &[
            "x=1; Domain=b.example",
            "y=1; Domain=example",
            "",
            "=",
            "bare",
        ],
    );
    jar.add("z=1", "no url");
    assert_eq!(sent(&jar, "http://b.example/"), None);
    assert_eq!(sent(&jar, "http://c.example/"), None);
    jar.add("mine=1; Path=/p", url);
    assert_eq!(sent(&jar, "http://a.example/p").as_deref(), Some("mine=1"));
}

#[test]
fn the_oldest_cookies_give_way_at_the_bounds() {
    let jar = Jar::default();
    let url = "http://a.example/";
    let long = format!("long={}", "x".repeat(FIELD_BYTES_MAX));
    set(&jar, url, &[&long]);
    assert_eq!(sent(&jar, url), None);
    for number in 0..OF_DOMAIN_MAX + 5 {
        set(&jar, url, &[&format!("n{number}=1")]);
    }
    let all = sent(&jar, url).unwrap();
    assert_eq!(all.split("; ").count(), OF_DOMAIN_MAX);
    assert!(all.starts_with("n5=1; n6=1"), "{all}");
    for host in 0..COOKIES_MAX {
        set(&jar, &format!("http://h{host}.example/"), &["k=1"]);
    }
    assert_eq!(sent(&jar, url), None);
    assert_eq!(sent(&jar, "http://h0.example/").as_deref(), Some("k=1"));
    set(&jar, url, &["again=1"]);
    assert_eq!(sent(&jar, "http://h0.example/"), None);
    assert_eq!(sent(&jar, "http://h1.example/").as_deref(), Some("k=1"));
}

#[test]
fn what_a_jar_prints_has_no_values_in_it() {
    let jar = Jar::default();
    jar.add("secret=hidden", "http://a.example/");
    assert_eq!(format!("{jar:?}"), "Jar { cookies: 1, .. }");
}

#[test]
fn a_cookie_is_what_the_prefix_of_its_name_promises() {
    let jar = Jar::default();
    let url = "https://a.example/d/x";
    set(
        &jar,
        url,
        &[
            "__Host-a=0",
            "__Host-b=0; Secure",
            "__Host-c=0; Secure; Path=/d",
            "__Host-d=0; Secure; Path=/; Domain=a.example",
            "__host-e=0; Path=/",
            "__Secure-f=0; Path=/",
            "__SECURE-g=0",
            "__Host-kept=1; Secure; Path=/",
            "__Secure-kept=2; Secure; Domain=a.example; Path=/",
            "__Hos=3; Path=/",
        ],
    );
    assert_eq!(
        sent(&jar, url).as_deref(),
        Some("__Host-kept=1; __Secure-kept=2; __Hos=3")
    );
    let kept = Jar::default();
    kept.add_netscape(&jar.to_netscape());
    assert_eq!(sent(&kept, url), sent(&jar, url));
    kept.clear();
    kept.add_netscape("a.example\tFALSE\t/\tFALSE\t0\t__Host-a\t0\n");
    assert_eq!(sent(&kept, url), None);
}

#[test]
fn a_cookie_with_a_control_character_is_not_kept() {
    let jar = Jar::default();
    for cookie in ["a=x\ty", "a\tb=x"] {
        set(&jar, "https://a.example/", &[cookie]);
    }
    assert_eq!(jar.to_netscape(), Jar::default().to_netscape());
}

#[test]
fn a_response_in_cleartext_sets_and_replaces_no_cookie_that_is_for_tls_alone() {
    let (tls, cleartext) = ("https://a.example/", "http://a.example/");
    let forged = [
        "s=forged; Secure; Path=/",
        "__Host-s=forged; Secure; Path=/",
        "__Secure-s=forged; Secure; Path=/",
    ];
    let jar = Jar::default();
    set(&jar, cleartext, &forged);
    assert_eq!(sent(&jar, tls), None);
    let own = [
        "s=own; Secure; Path=/",
        "whole=own; Secure; Domain=a.example; Path=/",
        "deep=own; Secure; Path=/d",
    ];
    set(&jar, tls, &own);
    set(&jar, cleartext, &forged);
    set(
        &jar,
        cleartext,
        &[
            "s=forged",
            "s=; Max-Age=0; Path=/",
            "s=forged; Path=/d",
            "whole=forged; Path=/",
            "deep=forged; Path=/d/e",
        ],
    );
    set(
        &jar,
        "http://b.a.example/",
        &["whole=forged; Domain=a.example; Path=/"],
    );
    assert_eq!(
        sent(&jar, "https://a.example/d/e").as_deref(),
        Some("deep=own; s=own; whole=own")
    );
    // Another path or name hides nothing.
    set(&jar, cleartext, &["deep=1; Path=/", "t=1; Path=/"]);
    assert_eq!(
        sent(&jar, "https://a.example/d").as_deref(),
        Some("deep=own; s=own; whole=own; deep=1; t=1")
    );
    // The way to this machine itself is no wire.
    set(&jar, "http://127.0.0.1/", &["l=1; Secure; Path=/"]);
    assert_eq!(sent(&jar, "http://127.0.0.1/").as_deref(), Some("l=1"));
}
