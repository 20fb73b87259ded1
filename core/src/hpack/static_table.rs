//! The static table (RFC 7541 section 2.3.1 and Appendix A), both ways: by index for the
//! decoder, by token for the encoder.

use crate::http::Token;

/// How many entries; index 62 is the newest entry of the dynamic table.
pub(super) const LEN: usize = 61;

/// Index 1 is the first row.
pub(super) static ROWS: [(Token, &str); LEN] = [
    (Token::AUTHORITY, ""),
    (Token::METHOD, "GET"),
    (Token::METHOD, "POST"),
    (Token::PATH, "/"),
    (Token::PATH, "/index.html"),
    (Token::SCHEME, "http"),
    (Token::SCHEME, "https"),
    (Token::STATUS, "200"),
    (Token::STATUS, "204"),
    (Token::STATUS, "206"),
    (Token::STATUS, "304"),
    (Token::STATUS, "400"),
    (Token::STATUS, "404"),
    (Token::STATUS, "500"),
    (Token::ACCEPT_CHARSET, ""),
    (Token::ACCEPT_ENCODING, "gzip, deflate"),
    (Token::ACCEPT_LANGUAGE, ""),
    (Token::ACCEPT_RANGES, ""),
    (Token::ACCEPT, ""),
    (Token::ACCESS_CONTROL_ALLOW_ORIGIN, ""),
    (Token::AGE, ""),
    (Token::ALLOW, ""),
    (Token::AUTHORIZATION, ""),
    (Token::CACHE_CONTROL, ""),
    (Token::CONTENT_DISPOSITION, ""),
    (Token::CONTENT_ENCODING, ""),
    (Token::CONTENT_LANGUAGE, ""),
    (Token::CONTENT_LENGTH, ""),
    (Token::CONTENT_LOCATION, ""),
    (Token::CONTENT_RANGE, ""),
    (Token::CONTENT_TYPE, ""),
    (Token::COOKIE, ""),
    (Token::DATE, ""),
    (Token::ETAG, ""),
    (Token::EXPECT, ""),
    (Token::EXPIRES, ""),
    (Token::FROM, ""),
    (Token::HOST, ""),
    (Token::IF_MATCH, ""),
    (Token::IF_MODIFIED_SINCE, ""),
    (Token::IF_NONE_MATCH, ""),
    (Token::IF_RANGE, ""),
    (Token::IF_UNMODIFIED_SINCE, ""),
    (Token::LAST_MODIFIED, ""),
    (Token::LINK, ""),
    (Token::LOCATION, ""),
    (Token::MAX_FORWARDS, ""),
    (Token::PROXY_AUTHENTICATE, ""),
    (Token::PROXY_AUTHORIZATION, ""),
    (Token::RANGE, ""),
    (Token::REFERER, ""),
    (Token::REFRESH, ""),
    (Token::RETRY_AFTER, ""),
    (Token::SERVER, ""),
    (Token::SET_COOKIE, ""),
    (Token::STRICT_TRANSPORT_SECURITY, ""),
    (Token::TRANSFER_ENCODING, ""),
    (Token::USER_AGENT, ""),
    (Token::VARY, ""),
    (Token::VIA, ""),
    (Token::WWW_AUTHENTICATE, ""),
];

/// The static rows of one token: they stand one behind the other.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// The index of the first row; 0 means that the token has none.
    pub(super) first: u8,
    /// How many rows.
    pub(super) rows: u8,
}

/// The rows of `token`.
pub(super) fn span(token: Token) -> Span {
    SPANS[token.index()]
}

/// The index of the row that equals this field.
pub(super) fn find(token: Token, value: &[u8]) -> Option<usize> {
    let span = span(token);
    (usize::from(span.first)..usize::from(span.first) + usize::from(span.rows))
        .find(|&index| index != 0 && ROWS[index - 1].1.as_bytes() == value)
}

static SPANS: [Span; Token::COUNT] = spans();

const fn spans() -> [Span; Token::COUNT] {
    let mut spans = [Span { first: 0, rows: 0 }; Token::COUNT];
    let mut index = LEN;
    while index > 0 {
        let span = &mut spans[ROWS[index - 1].0.index()];
        span.first = index as u8;
        span.rows += 1;
        index -= 1;
    }
    spans
}
