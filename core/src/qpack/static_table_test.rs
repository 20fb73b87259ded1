use super::{LEN, ROWS, find, find_name};
use crate::http::Token;

#[test]
fn every_row_is_found_by_its_field() {
    for (index, (token, value)) in ROWS.iter().enumerate() {
        assert_eq!(find(*token, value.as_bytes()), Some(index));
        assert_eq!(
            find_name(*token).map(|first| ROWS[first].0),
            Some(*token),
            "{token:?}"
        );
    }
    assert_eq!(find(Token::METHOD, b"PATCH"), None);
    assert_eq!(find_name(Token::TE), None);
}

/// Spot checks against RFC 9204 Appendix A; the corpus of foreign encoders knows all the rest.
#[test]
fn the_rows_stand_where_the_rfc_has_them() {
    for (index, name, value) in [
        (0, ":authority", ""),
        (1, ":path", "/"),
        (15, ":method", "CONNECT"),
        (25, ":status", "200"),
        (52, "content-type", "text/html; charset=utf-8"),
        (62, "x-xss-protection", "1; mode=block"),
        (63, ":status", "100"),
        (75, "access-control-allow-headers", "*"),
        (95, "user-agent", ""),
        (LEN - 1, "x-frame-options", "sameorigin"),
    ] {
        assert_eq!((ROWS[index].0.as_str(), ROWS[index].1), (name, value));
    }
}
