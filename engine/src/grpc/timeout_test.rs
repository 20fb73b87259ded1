//! Values of `grpc-timeout`.

use super::of;
use http::HeaderValue;
use std::time::Duration;

#[test]
fn a_timeout_is_up_to_eight_digits_and_a_unit() {
    for (value, time) in [
        ("1H", Some(Duration::from_secs(3600))),
        ("2M", Some(Duration::from_secs(120))),
        ("99999999S", Some(Duration::from_secs(99_999_999))),
        ("300m", Some(Duration::from_millis(300))),
        ("5u", Some(Duration::from_micros(5))),
        ("0n", Some(Duration::ZERO)),
        ("", None),
        ("S", None),
        ("1", None),
        ("1s", None),
        ("-1S", None),
        ("+1S", None),
        ("1.5S", None),
        ("1 S", None),
        ("100000000S", None),
    ] {
        let value = HeaderValue::from_static(value);
        assert_eq!(of(&value), time, "{value:?}");
    }
    let umlaut = HeaderValue::from_bytes("1ä".as_bytes()).unwrap();
    assert_eq!(of(&umlaut), None);
}
