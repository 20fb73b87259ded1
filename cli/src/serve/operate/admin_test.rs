use super::*;

fn asked(host: &str) -> Request<()> {
    let request = Request::get("/metrics").header(HOST, host);
    request.body(()).expect("a request")
}

#[test]
fn a_name_that_another_site_resolves_to_loopback_is_no_local_host() {
    for host in [
        "127.0.0.1:9901",
        "[::1]:9901",
        "localhost",
        "LOCALHOST:1",
        "10.0.0.1",
    ] {
        assert!(is_local_host(&asked(host)), "{host}");
    }
    for host in [
        "evil.example:9901",
        "localhost.evil.example",
        "",
        "127.0.0.1.evil.example",
    ] {
        assert!(!is_local_host(&asked(host)), "{host}");
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
fn an_admin_address_that_others_reach_needs_a_token() {
    let place = |text: &str| text.parse::<ListenAddress>().expect("a place");
    for text in ["0.0.0.0:0", "[::]:0", "192.0.2.1:9901"] {
        let refused = AdminOptions::of(Some(&place(text)), None);
        let why = refused.expect_err(text).to_string();
        assert!(why.contains("--admin-token-file"), "{why}");
    }
    for text in ["127.0.0.1:0", "[::1]:0", "localhost:0", "unix:/tmp/a"] {
        let allowed = AdminOptions::of(Some(&place(text)), None);
        assert!(allowed.is_ok_and(|it| it.is_some()), "{text}");
    }
}
