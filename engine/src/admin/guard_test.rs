use super::*;

fn asked(host: &str) -> Request<()> {
    let request = Request::get("/metrics").header(HOST, host);
    request.body(()).expect("a request")
}

#[test]
fn a_name_that_another_site_resolves_to_loopback_is_no_local_host() {
    let guard = Guard::new(None, true).expect("a guard");
    for host in [
        "127.0.0.1:9901",
        "[::1]:9901",
        "localhost",
        "LOCALHOST:1",
        "10.0.0.1",
    ] {
        assert!(guard.admits_host(&asked(host)), "{host}");
    }
    for host in [
        "evil.example:9901",
        "localhost.evil.example",
        "",
        "127.0.0.1.evil.example",
    ] {
        assert!(!guard.admits_host(&asked(host)), "{host}");
    }
}

#[test]
fn tokens_are_the_same_or_not() {
    assert!(is_same("abc", "abc"));
    for other in ["", "ab", "abd", "abcd"] {
        assert!(!is_same(other, "abc"), "{other}");
    }
}

#[test]
fn a_button_is_pressed_by_the_page_itself_alone() {
    let guard = Guard::new(None, true).expect("a guard");
    let secret = guard.page_secret().to_owned();
    let admits = |fields: &[(&str, &str)]| {
        let mut request = asked("127.0.0.1:9901");
        for (name, value) in fields {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            let value = value.parse().expect("a value");
            request.headers_mut().insert(name, value);
        }
        guard.admits_action(request.headers())
    };
    let own = ("trunkline-page", secret.as_str());
    assert!(admits(&[own]));
    assert!(admits(&[
        own,
        ("origin", "http://127.0.0.1:9901"),
        ("sec-fetch-site", "same-origin")
    ]));
    for fields in [
        &[][..],
        &[("trunkline-page", "0123456789abcdef0123456789abcdef")],
        &[own, ("sec-fetch-site", "cross-site")],
        &[own, ("sec-fetch-site", "same-site")],
        &[own, ("sec-fetch-site", "none")],
        &[own, ("origin", "http://evil.example")],
        &[own, ("origin", "http://127.0.0.1:9902")],
        &[own, ("origin", "null")],
    ] {
        assert!(!admits(fields), "{fields:?}");
    }
    let other = Guard::new(None, true).expect("a guard");
    assert_ne!(other.page_secret(), secret);
}
