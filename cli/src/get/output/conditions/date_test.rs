use super::parse;
use std::time::{Duration, SystemTime};

#[test]
fn dates_are_read_in_all_forms_of_curl() {
    let same = [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "06 Nov 1994 08:49:37",
        "nov 6 08:49:37 1994 gmt",
        "1994 Nov 6 08:49:37",
        "08:49:37 06-Nov-94",
        "94 6 Nov 08:49:37",
        "19941106 08:49:37",
        "Sun, 06 Nov 1994 09:49:37 +0100",
        "Sun, 06 Nov 1994 03:49:37 EST",
        "Nov 6 1994 10:49:37 CEST",
    ];
    for text in same {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(parse(text), Some(time), "{text}");
    }
    let midnight = SystemTime::UNIX_EPOCH + Duration::from_secs(951_782_400);
    assert_eq!(parse("29 Feb 2000"), Some(midnight));
    assert_eq!(parse("Feb 29 00"), Some(midnight));
    assert_eq!(parse("1 Jan 1960"), Some(SystemTime::UNIX_EPOCH));
}

#[test]
fn texts_that_are_no_dates_are_none() {
    for text in [
        "",
        "file",
        "page.html",
        "Nov 1994",
        "32 Nov",
        "6 Nov 1994 25:00",
        "6 Nov 1994 08:49:37 XYZ",
        "6 Nov Nov 1994",
        "20001301",
        "6 Nov 1200",
        "99999999999999999999 Nov 6",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}
