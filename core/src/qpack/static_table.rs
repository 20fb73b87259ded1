//! The static table (RFC 9204 section 3.1 and Appendix A), both ways: by index for the decoder,
//! by token for the encoder. The rows of one token are not all together.

use crate::http::Token;

/// How many entries; the first has index 0.
pub(super) const LEN: usize = 99;

/// The rows in the order of their indices.
pub(super) static ROWS: [(Token, &str); LEN] = [
    (Token::AUTHORITY, ""),
    (Token::PATH, "/"),
    (Token::AGE, "0"),
    (Token::CONTENT_DISPOSITION, ""),
    (Token::CONTENT_LENGTH, "0"),
    (Token::COOKIE, ""),
    (Token::DATE, ""),
    (Token::ETAG, ""),
    (Token::IF_MODIFIED_SINCE, ""),
    (Token::IF_NONE_MATCH, ""),
    (Token::LAST_MODIFIED, ""),
    (Token::LINK, ""),
    (Token::LOCATION, ""),
    (Token::REFERER, ""),
    (Token::SET_COOKIE, ""),
    (Token::METHOD, "CONNECT"),
    (Token::METHOD, "DELETE"),
    (Token::METHOD, "GET"),
    (Token::METHOD, "HEAD"),
    (Token::METHOD, "OPTIONS"),
    (Token::METHOD, "POST"),
    (Token::METHOD, "PUT"),
    (Token::SCHEME, "http"),
    (Token::SCHEME, "https"),
    (Token::STATUS, "103"),
    (Token::STATUS, "200"),
    (Token::STATUS, "304"),
    (Token::STATUS, "404"),
    (Token::STATUS, "503"),
    (Token::ACCEPT, "*/*"),
    (Token::ACCEPT, "application/dns-message"),
    (Token::ACCEPT_ENCODING, "gzip, deflate, br"),
    (Token::ACCEPT_RANGES, "bytes"),
    (Token::ACCESS_CONTROL_ALLOW_HEADERS, "cache-control"),
    (Token::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
    (Token::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (Token::CACHE_CONTROL, "max-age=0"),
    (Token::CACHE_CONTROL, "max-age=2592000"),
    (Token::CACHE_CONTROL, "max-age=604800"),
    (Token::CACHE_CONTROL, "no-cache"),
    (Token::CACHE_CONTROL, "no-store"),
    (Token::CACHE_CONTROL, "public, max-age=31536000"),
    (Token::CONTENT_ENCODING, "br"),
    (Token::CONTENT_ENCODING, "gzip"),
    (Token::CONTENT_TYPE, "application/dns-message"),
    (Token::CONTENT_TYPE, "application/javascript"),
    (Token::CONTENT_TYPE, "application/json"),
    (Token::CONTENT_TYPE, "application/x-www-form-urlencoded"),
    (Token::CONTENT_TYPE, "image/gif"),
    (Token::CONTENT_TYPE, "image/jpeg"),
    (Token::CONTENT_TYPE, "image/png"),
    (Token::CONTENT_TYPE, "text/css"),
    (Token::CONTENT_TYPE, "text/html; charset=utf-8"),
    (Token::CONTENT_TYPE, "text/plain"),
    (Token::CONTENT_TYPE, "text/plain;charset=utf-8"),
    (Token::RANGE, "bytes=0-"),
    (Token::STRICT_TRANSPORT_SECURITY, "max-age=31536000"),
    (
        Token::STRICT_TRANSPORT_SECURITY,
        "max-age=31536000; includesubdomains",
    ),
    (
        Token::STRICT_TRANSPORT_SECURITY,
        "max-age=31536000; includesubdomains; preload",
    ),
    (Token::VARY, "accept-encoding"),
    (Token::VARY, "origin"),
    (Token::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (Token::X_XSS_PROTECTION, "1; mode=block"),
    (Token::STATUS, "100"),
    (Token::STATUS, "204"),
    (Token::STATUS, "206"),
    (Token::STATUS, "302"),
    (Token::STATUS, "400"),
    (Token::STATUS, "403"),
    (Token::STATUS, "421"),
    (Token::STATUS, "425"),
    (Token::STATUS, "500"),
    (Token::ACCEPT_LANGUAGE, ""),
    (Token::ACCESS_CONTROL_ALLOW_CREDENTIALS, "FALSE"),
    (Token::ACCESS_CONTROL_ALLOW_CREDENTIALS, "TRUE"),
    (Token::ACCESS_CONTROL_ALLOW_HEADERS, "*"),
    (Token::ACCESS_CONTROL_ALLOW_METHODS, "get"),
    (Token::ACCESS_CONTROL_ALLOW_METHODS, "get, post, options"),
    (Token::ACCESS_CONTROL_ALLOW_METHODS, "options"),
    (Token::ACCESS_CONTROL_EXPOSE_HEADERS, "content-length"),
    (Token::ACCESS_CONTROL_REQUEST_HEADERS, "content-type"),
    (Token::ACCESS_CONTROL_REQUEST_METHOD, "get"),
    (Token::ACCESS_CONTROL_REQUEST_METHOD, "post"),
    (Token::ALT_SVC, "clear"),
    (Token::AUTHORIZATION, ""),
    (
        Token::CONTENT_SECURITY_POLICY,
        "script-src 'none'; object-src 'none'; base-uri 'none'",
    ),
    (Token::EARLY_DATA, "1"),
    (Token::EXPECT_CT, ""),
    (Token::FORWARDED, ""),
    (Token::IF_RANGE, ""),
    (Token::ORIGIN, ""),
    (Token::PURPOSE, "prefetch"),
    (Token::SERVER, ""),
    (Token::TIMING_ALLOW_ORIGIN, "*"),
    (Token::UPGRADE_INSECURE_REQUESTS, "1"),
    (Token::USER_AGENT, ""),
    (Token::X_FORWARDED_FOR, ""),
    (Token::X_FRAME_OPTIONS, "deny"),
    (Token::X_FRAME_OPTIONS, "sameorigin"),
];

/// The index of the first row with this name.
pub(super) fn find_name(token: Token) -> Option<usize> {
    let first = FIRST[token.index()];
    (first != NONE).then_some(usize::from(first))
}

/// The index of the row that equals this field.
pub(super) fn find(token: Token, value: &[u8]) -> Option<usize> {
    let mut row = FIRST[token.index()];
    while row != NONE {
        if ROWS[usize::from(row)].1.as_bytes() == value {
            return Some(usize::from(row));
        }
        row = NEXT[usize::from(row)];
    }
    None
}

const NONE: u8 = u8::MAX;

/// The first row of each token.
static FIRST: [u8; Token::COUNT] = CHAINS.0;
/// The next row of the same token.
static NEXT: [u8; LEN] = CHAINS.1;

const CHAINS: ([u8; Token::COUNT], [u8; LEN]) = {
    let mut first = [NONE; Token::COUNT];
    let mut next = [NONE; LEN];
    let mut row = LEN;
    while row > 0 {
        row -= 1;
        let token = ROWS[row].0.index();
        next[row] = first[token];
        first[token] = row as u8;
    }
    (first, next)
};

#[cfg(test)]
#[path = "static_table_test.rs"]
mod static_table_test;
