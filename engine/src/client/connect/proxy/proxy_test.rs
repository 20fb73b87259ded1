use super::{Credentials, Proxies, Proxy, ProxyKind};
use crate::error::{ErrorKind, Fault};
use std::error::Error as _;
use std::sync::Arc;
use trunkline_core::pool::Scheme;

fn parse(url: &str) -> Proxy {
    Proxy::parse("proxy", url).unwrap()
}

#[test]
fn a_url_names_kind_host_and_port() {
    use ProxyKind::{Http, Https, Socks5, Socks5h};
    let table = [
        (
            "http://p.test:3128",
            Http,
            "p.test",
            3128,
            "http://p.test:3128",
        ),
        ("http://p.test", Http, "p.test", 80, "http://p.test:80"),
        (
            "https://p.test/",
            Https,
            "p.test",
            443,
            "https://p.test:443",
        ),
        (
            "socks5://10.0.0.1",
            Socks5,
            "10.0.0.1",
            1080,
            "socks5://10.0.0.1:1080",
        ),
        (
            "SOCKS5H://P.Test:9",
            Socks5h,
            "p.test",
            9,
            "socks5h://p.test:9",
        ),
        ("p.test:3128", Http, "p.test", 3128, "http://p.test:3128"),
        (
            "http://[2001:DB8::1]:8",
            Http,
            "2001:db8::1",
            8,
            "http://[2001:db8::1]:8",
        ),
        ("http://u:p@p.test:8", Http, "p.test", 8, "http://p.test:8"),
    ];
    for (url, kind, host, port, displayed) in table {
        let proxy = parse(url);
        assert_eq!(proxy.kind, kind, "{url}");
        assert_eq!((&*proxy.host, proxy.port), (host, port), "{url}");
        assert_eq!(&*proxy.displayed, displayed, "{url}");
    }
}

#[test]
fn credentials_are_percent_decoded() {
    let table: [(&str, &[u8], &[u8]); 4] = [
        ("http://aladdin:opensesame@p", b"aladdin", b"opensesame"),
        ("http://a%40b:c%3Ad@p", b"a@b", b"c:d"),
        ("http://only@p", b"only", b""),
        ("http://u:p@ss@p", b"u", b"p@ss"),
    ];
    for (url, user, password) in table {
        let Credentials {
            user: got_user,
            password: got_password,
        } = parse(url).credentials.unwrap();
        assert_eq!((&*got_user, &*got_password), (user, password), "{url}");
    }
    assert!(parse("http://p").credentials.is_none());
}

#[test]
fn basic_is_what_rfc_7617_shows() {
    let proxy = parse("http://Aladdin:open%20sesame@p");
    let basic = proxy.credentials.unwrap().basic();
    assert_eq!(&*basic, b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

#[test]
fn a_url_that_cannot_be_used_is_refused_with_what_is_allowed() {
    let long = format!("socks5://{}:p@h", "u".repeat(256));
    let table = [
        ("ftp://p", "http, https, socks5 or socks5h"),
        ("socks4://p", "http, https, socks5 or socks5h"),
        ("http://p:0", "1 to 65535"),
        ("http://p:65536", "1 to 65535"),
        ("http://p:+80", "1 to 65535"),
        ("http://p:", "1 to 65535"),
        ("http://", "host must be"),
        ("", "host must be"),
        ("http://a b", "host must be"),
        ("http://bücher.test", "ASCII letters"),
        ("http://[::1", "in brackets"),
        ("http://::1", "in brackets"),
        ("http://p/path", "after the host and port"),
        ("http://p?x", "after the host and port"),
        ("http://u:a%0d%0ab@p", "control character"),
        ("http://u%00:b@p", "control character"),
        ("http://a%3Ab:c@p", "colon"),
        ("socks5://u@p", "1 to 255"),
        (&*long, "1 to 255"),
    ];
    for (url, allowed) in table {
        let error = Proxy::parse("proxy", url).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{url}");
        assert_eq!(error.fault(), Fault::Config, "{url}");
        let text = error.to_string();
        assert!(text.starts_with("proxy: "), "{text}");
        assert!(text.contains(allowed), "{url}: {text}");
    }
}

#[test]
fn nothing_shows_a_password() {
    let error = Proxy::parse("proxy", "http://user:hunter2@p:0").unwrap_err();
    let proxy = parse("http://user:hunter2@p");
    let refusal = proxy.error(Fault::Network, crate::Retry::Safe, "refused");
    for text in [
        format!("{error} {error:?}"),
        format!("{proxy:?}"),
        format!("{refusal} {refusal:?} {:?}", refusal.source()),
    ] {
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!text.contains("user:"), "{text}");
    }
    assert!(error.to_string().contains("http://***@p:0"), "{error}");
}

#[test]
fn an_explicit_authorization_takes_the_place_of_credentials() {
    let proxy = Arc::new(parse("http://u:p@p"));
    let mut proxies = Proxies {
        for_http: Some(Arc::clone(&proxy)),
        ..Proxies::default()
    };
    let chosen = proxies.choose(Scheme::Http, "a.test", 80).unwrap();
    let of_url = proxies.authorization(chosen).unwrap();
    assert_eq!(&*of_url, b"Basic dTpw");
    proxies.authorization = Some(b"Bearer x".to_vec().into());
    assert_eq!(&*proxies.authorization(&proxy).unwrap(), b"Bearer x");
    assert!(proxies.choose(Scheme::Https, "a.test", 443).is_none());
}
