//! Fields with a meaning for the framing or the connection, by name.

use crate::http::field::Token;

/// A field's rule beyond its syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Rule {
    /// Any value, in heads and in trailers.
    Plain,
    /// Forbidden in HTTP/2 and HTTP/3 (RFC 9113 section 8.2.2).
    ConnectionSpecific,
    /// One number, once (RFC 9110 section 8.6).
    ContentLength,
    /// Asks the next hop to agree before the body (RFC 9110 section 10.1.1).
    Expect,
    /// Once at most (RFC 9110 section 7.2).
    Host,
    /// Says how urgent the exchange is (RFC 9218 section 5).
    Priority,
    /// Only `trailers` in HTTP/2 and HTTP/3 (RFC 9113 section 8.2.2).
    Te,
    /// Allowed in heads only.
    Trailer,
    /// Frames an HTTP/1.1 message (RFC 9112 section 6.1), forbidden elsewhere.
    TransferEncoding,
}

/// The rule for fields of this name.
pub(super) fn rule_of(token: Token) -> Rule {
    RULES[token.index()]
}

static RULES: [Rule; Token::COUNT] = {
    let mut rules = [Rule::Plain; Token::COUNT];
    rules[Token::CONNECTION.index()] = Rule::ConnectionSpecific;
    rules[Token::PROXY_CONNECTION.index()] = Rule::ConnectionSpecific;
    rules[Token::KEEP_ALIVE.index()] = Rule::ConnectionSpecific;
    rules[Token::UPGRADE.index()] = Rule::ConnectionSpecific;
    rules[Token::TRANSFER_ENCODING.index()] = Rule::TransferEncoding;
    rules[Token::TE.index()] = Rule::Te;
    rules[Token::TRAILER.index()] = Rule::Trailer;
    rules[Token::EXPECT.index()] = Rule::Expect;
    rules[Token::PRIORITY.index()] = Rule::Priority;
    rules[Token::HOST.index()] = Rule::Host;
    rules[Token::CONTENT_LENGTH.index()] = Rule::ContentLength;
    rules
};
