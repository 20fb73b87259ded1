use super::*;
use crate::client::settings::policy::cookies::CookieStore as _;
use http::Uri;

fn sent(jar: &Jar, url: &str) -> Option<String> {
    let url: Uri = url.parse().unwrap();
    let value = jar.cookies(&url)?;
    Some(value.to_str().unwrap().to_owned())
}

#[test]
fn a_file_that_was_written_gives_the_same_cookies_again() {
    let jar = Jar::default();
    jar.add("host=1", "http://a.example/p/q");
    jar.add(
        "all=2; Domain=a.example; Path=/; Max-Age=3600",
        "http://a.example/",
    );
    jar.add("safe=3; Secure; HttpOnly; Path=/", "https://a.example/");
    jar.add("gone=4; Max-Age=0", "http://a.example/");
    let text = jar.to_netscape();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert_eq!(lines[1], "a.example\tFALSE\t/p\tFALSE\t0\thost\t1");
    assert!(
        lines[2].starts_with(".a.example\tTRUE\t/\tFALSE\t"),
        "{text}"
    );
    assert_eq!(lines[3], "#HttpOnly_a.example\tFALSE\t/\tTRUE\t0\tsafe\t3");
    let again = Jar::default();
    again.add_netscape(&text);
    for url in [
        "http://a.example/p/x",
        "https://a.example/",
        "http://b.a.example/",
        "http://b.example/",
    ] {
        assert_eq!(sent(&again, url), sent(&jar, url), "{url}");
    }
    assert_eq!(
        sent(&again, "http://b.a.example/").as_deref(),
        Some("all=2")
    );
}

#[test]
fn lines_that_are_no_cookie_and_old_cookies_are_passed_over() {
    let jar = Jar::default();
    jar.add_netscape(
        "# a comment\n\nno cookie\na.example\tFALSE\t/\tFALSE\tsoon\tbad\t1\r\n\
         a.example\tFALSE\t/\tFALSE\t1\told\t1\n\
         a.example\tFALSE\t/\tFALSE\t0\tempty\t\n\
         a.example\tFALSE\t/\tFALSE\t0\tnone\n",
    );
    assert_eq!(
        sent(&jar, "http://a.example/").as_deref(),
        Some("empty=; none=")
    );
}
