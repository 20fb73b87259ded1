use super::*;
use http::HeaderValue;

#[test]
fn only_the_part_that_was_asked_for_goes_behind_what_is_there() {
    for (status, range, expected) in [
        (206, "bytes 5-9/10", Some(false)),
        (206, "bytes 0-9/10", None),
        (206, "bytes 50-99/100", None),
        (206, "", None),
        (416, "bytes */5", Some(true)),
        (416, "bytes */4", None),
        (416, "", Some(true)),
        (200, "", None),
        (404, "", None),
    ] {
        let mut headers = HeaderMap::new();
        if !range.is_empty() {
            headers.insert(CONTENT_RANGE, HeaderValue::from_static(range));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        let whole = is_whole(status, &headers, Some(9), 5).ok();
        assert_eq!(whole, expected, "{status} {range}");
    }
    let all = |length| is_whole(StatusCode::OK, &HeaderMap::new(), length, 5).ok();
    assert_eq!(
        (all(Some(5)), all(Some(4)), all(None)),
        (Some(true), None, None)
    );
}

#[test]
fn an_offset_is_a_number_or_the_end_of_the_file() {
    assert_eq!(offset("-"), Ok(Offset::End));
    assert_eq!(offset("17"), Ok(Offset::At(17)));
    for text in ["", "-1", "1k"] {
        assert!(offset(text).is_err(), "{text:?}");
    }
    assert!(matches!(start(Some(Offset::End), None), Ok(0)));
}
