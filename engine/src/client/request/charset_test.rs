use super::charset_of;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

#[test]
fn the_charset_of_a_content_type_is_found_by_its_name_in_any_case_and_quoted() {
    for (media_type, name) in [
        ("text/html; charset=iso-8859-1", Some("windows-1252")),
        ("text/html;Charset=\"Shift_JIS\"", Some("Shift_JIS")),
        ("text/html; a=b ; charset = KOI8-R", Some("KOI8-R")),
        ("text/html; charset=utf-8", None),
        ("text/html; charset=klingon", None),
        ("text/html; xcharset=iso-8859-1", None),
        ("text/html", None),
        ("", None),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        let found = charset_of(&headers).map(|encoding| encoding.name());
        assert_eq!(found, name, "{media_type}");
    }
    assert!(charset_of(&HeaderMap::new()).is_none());
}
