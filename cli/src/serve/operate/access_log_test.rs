use super::*;
use std::time::{Duration, UNIX_EPOCH};

#[test]
fn a_date_is_the_common_formats() {
    let at = UNIX_EPOCH + Duration::from_secs(971_186_136);
    assert_eq!(date(at), "10/Oct/2000:13:55:36 +0000");
}

#[test]
fn a_request_line_has_the_path_on_every_version_and_nothing_that_ends_its_quotes() {
    let line = |method, target: &'static str, version| {
        let target = Uri::from_static(target);
        request_line(Some(&method), Some(&target), version)
    };
    let v2 = Version::HTTP_2;
    assert_eq!(
        line(Method::GET, "https://a.test/b?c=d", v2),
        "GET /b?c=d HTTP/2.0"
    );
    assert_eq!(
        line(Method::CONNECT, "a.test:443", Version::HTTP_11),
        "CONNECT a.test:443 HTTP/1.1"
    );
    assert_eq!(line(Method::GET, "/a\"b", v2), "GET /a\\x22b HTTP/2.0");
    let none = request_line(Some(&Method::PUT), None, v2);
    assert_eq!(none, "PUT - HTTP/2.0");
    assert_eq!(request_line(None, None, Version::HTTP_11), "-");
}

#[test]
fn a_timestamp_is_rfc_3339s() {
    let at = UNIX_EPOCH + Duration::from_millis(971_186_136_042);
    assert_eq!(timestamp(at), "2000-10-10T13:55:36.042Z");
}

#[test]
fn no_byte_of_a_client_can_end_a_line_or_its_quotes() {
    let every: Vec<u8> = (0..=255).collect();
    for least in [b' ', b'!'] {
        let mut line = String::new();
        escape(&every, least, &mut line);
        assert!(
            line.bytes().all(|byte| (0x20..0x7f).contains(&byte)),
            "{line}"
        );
        assert!(!line.contains('"'), "{line}");
        // A backslash begins an escape and nothing else.
        assert_eq!(line.matches('\\').count(), line.matches("\\x").count());
    }
}
