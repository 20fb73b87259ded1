#![expect(
    clippy::disallowed_methods,
    reason = "a test's time starts somewhere; everything after is relative"
)]

use super::*;
use crate::pool::Protocols;

fn origin(host: &str) -> Origin {
    Origin::new(Scheme::Https, host, 443, Protocols::H2AndH1)
}

fn parse(value: &str) -> Option<AltSvc> {
    AltSvc::parse(value.as_bytes(), "example.org")
}

fn http3(port: u16, seconds: u64) -> Option<AltSvc> {
    Some(AltSvc::Http3 {
        port,
        max_age: Duration::from_secs(seconds),
    })
}

#[test]
fn http_3_on_the_same_host_is_found_with_its_age() {
    for (value, expected) in [
        ("h3=\":443\"; ma=86400", http3(443, 86400)),
        ("h3=\":8443\"", http3(8443, 86400)),
        ("h3=\":443\" ;\tma=60; persist=1", http3(443, 60)),
        ("h3=\"Example.org:443\";ma=\"5\"", http3(443, 5)),
        (
            "h2=\":443\", h3=\":444\"; ma=7 , h3=\":445\"",
            http3(444, 7),
        ),
        (" h3-29=\":1\",h3=\":2\" ", http3(2, 86400)),
    ] {
        assert_eq!(parse(value), expected, "{value}");
    }
}

#[test]
fn what_we_cannot_use_is_nothing_and_still_an_answer() {
    for value in [
        "h2=\":443\"",
        "h3=\"other.example:443\"",
        "h3=\":0\"",
        "h3=\":65536\"",
        "h3=\":443\"; ma=0",
        "h3=\"443\"",
    ] {
        assert_eq!(parse(value), Some(AltSvc::Nothing), "{value}");
    }
    assert_eq!(parse("clear"), Some(AltSvc::Clear));
    assert_eq!(parse(" clear\t"), Some(AltSvc::Clear));
}

#[test]
fn what_cannot_be_read_says_nothing_at_all() {
    for value in [
        "",
        "h3",
        "h3=",
        "h3=\":443",
        "h3=\":443\" h2=\":443\"",
        "h3=\":443\"; ma",
        "h3=\":443\"; ma=soon",
        "h3=\":443\",",
        "=\":443\"",
        "Clear it",
    ] {
        assert_eq!(parse(value), None, "{value}");
    }
    assert_eq!(AltSvc::parse(b"h3=\":443\"\xff", "example.org"), None);
}

#[test]
fn a_value_cut_anywhere_never_panics() {
    let value = "h2=\":443\"; ma=1, h3=\"example.org:443\" ; ma=86400; persist=1, x=y";
    for cut in 0..value.len() {
        let _ = parse(&value[..cut]);
    }
}

#[test]
fn an_alternative_is_used_until_it_ends_and_no_longer() {
    let (now, origin) = (Instant::now(), origin("example.org"));
    let mut known = Alternatives::new();
    assert!(known.learn(now, &origin, b"h3=\":444\"; ma=10"));
    assert!(
        !known.learn(now, &origin, b"h3=\":444\"; ma=10"),
        "known already"
    );
    assert_eq!(
        known.http3_port(now + Duration::from_secs(9), &origin),
        Some(444)
    );
    assert_eq!(
        known.http3_port(now + Duration::from_secs(10), &origin),
        None
    );
    assert_eq!(known.http3_port(now, &self::origin("example.com")), None);
}

#[test]
fn clear_and_a_field_without_http_3_both_take_it_back() {
    let (now, origin) = (Instant::now(), origin("example.org"));
    for value in ["clear", "h2=\":443\""] {
        let mut known = Alternatives::new();
        known.learn(now, &origin, b"h3=\":443\"");
        known.learn(now, &origin, b"not ; readable");
        assert_eq!(known.http3_port(now, &origin), Some(443));
        known.learn(now, &origin, value.as_bytes());
        assert_eq!(known.http3_port(now, &origin), None, "{value}");
        assert!(known.is_empty());
    }
}

#[test]
fn nothing_is_learned_without_tls() {
    let now = Instant::now();
    let plain = Origin::new(Scheme::Http, "example.org", 80, Protocols::H2AndH1);
    let mut known = Alternatives::new();
    assert!(!known.learn(now, &plain, b"h3=\":443\""));
    assert!(known.is_empty());
}

#[test]
fn an_alternative_that_fails_is_left_alone_twice_as_long_each_time() {
    let (start, origin) = (Instant::now(), origin("example.org"));
    let mut known = Alternatives::new();
    known.learn(start, &origin, b"h3=\":443\"; ma=2592000");
    let mut now = start;
    for wait in [60, 120, 240] {
        known.handle_failed(now, &origin);
        let almost = now + Duration::from_secs(wait - 1);
        assert_eq!(known.http3_port(almost, &origin), None);
        assert!(
            !known.learn(almost, &origin, b"h3=\":443\""),
            "broken is not news"
        );
        now += Duration::from_secs(wait);
        assert_eq!(known.http3_port(now, &origin), Some(443));
    }
    known.handle_connected(&origin);
    known.handle_failed(now, &origin);
    assert!(known.http3_port(now + BROKEN_FIRST, &origin).is_some());
}

#[test]
fn the_wait_after_failures_has_an_end() {
    let (now, origin) = (Instant::now(), origin("example.org"));
    let mut known = Alternatives::new();
    known.learn(now, &origin, b"h3=\":443\"; ma=2592000");
    for _ in 0..100 {
        known.handle_failed(now, &origin);
    }
    assert!(known.http3_port(now + BROKEN_MAX, &origin).is_some());
}

#[test]
fn no_more_origins_are_remembered_than_the_limit_and_the_first_to_end_goes_first() {
    let now = Instant::now();
    let mut known = Alternatives::new();
    let short = origin("short.example");
    known.learn(now, &short, b"h3=\":443\"; ma=1");
    for number in 0..ORIGINS_MAX {
        let host = format!("host{number}.example");
        known.learn(now, &origin(&host), b"h3=\":443\"");
    }
    assert_eq!(known.len(), ORIGINS_MAX);
    assert_eq!(known.http3_port(now, &short), None);
    assert!(known.http3_port(now, &origin("host0.example")).is_some());
}

#[test]
fn another_network_gives_every_alternative_a_new_chance() {
    let start = Instant::now();
    let here = origin("example.org");
    let mut alternatives = Alternatives::new();
    alternatives.learn(start, &here, b"h3=\":443\"");
    alternatives.handle_failed(start, &here);
    assert_eq!(alternatives.http3_port(start, &here), None);
    alternatives.handle_network_change();
    assert_eq!(alternatives.http3_port(start, &here), Some(443));
}

#[test]
fn an_https_record_counts_as_long_as_its_ttl_and_not_where_quic_has_just_failed() {
    let start = Instant::now();
    let here = origin("example.org");
    let mut alternatives = Alternatives::new();
    alternatives.learn_record(start, &here, 8443, Duration::from_secs(10));
    assert_eq!(alternatives.http3_port(start, &here), Some(8443));
    let later = start + Duration::from_secs(10);
    assert_eq!(alternatives.http3_port(later, &here), None);
    alternatives.learn_record(later, &here, 8443, Duration::from_secs(600));
    alternatives.handle_failed(later, &here);
    alternatives.learn_record(later, &here, 8443, Duration::from_secs(600));
    assert_eq!(alternatives.http3_port(later, &here), None);
    let healed = later + Duration::from_secs(60);
    assert_eq!(alternatives.http3_port(healed, &here), Some(8443));
}
