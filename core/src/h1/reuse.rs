//! The reasons why a connection takes no further exchange (RFC 9112 section 9.3).

use crate::error::{Closed, H2Code, TransportEnd, Violation};
use crate::http::{Field, Token, Version};
use std::fmt;

/// Why a connection ends with its current exchange. The first reason found is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The peer sent `connection: close`.
    PeerAskedClose,
    /// The peer speaks HTTP/1.0 and did not ask for keep-alive.
    Http10WithoutKeepAlive,
    /// We sent `connection: close`: our owner's head said so.
    WeAskedClose,
    /// The body had no other end than the end of the connection.
    BodyUntilClose,
    /// The response was complete before the request was: the end of the request's body is unknown.
    RequestUnread,
    /// The request's body broke a rule, and its owner answered it: the end of the body is unknown.
    BodyLost(Violation),
    /// The client waits for 100 and was answered with a final response: whether its body follows
    /// is unknown (RFC 9110 section 10.1.1).
    ExpectationUnmet,
    /// CONNECT was refused: what the client sent behind it may be meant for the tunnel.
    ConnectRefused,
    /// Client: an upgrade was refused, perhaps by a program that reads no more of HTTP on the connection.
    UpgradeRefused,
    /// The owner gave an exchange up before it was complete.
    ExchangeReset,
    /// `requests_per_connection_max` is reached.
    RequestsExhausted,
    /// The peer has ended its side: no request follows.
    PeerEnded,
    /// The connection drains.
    ShutDown,
}

impl CloseReason {
    /// The event for the owner when the last exchange is over.
    pub fn closed(self) -> Closed {
        match self {
            Self::PeerAskedClose | Self::Http10WithoutKeepAlive | Self::BodyUntilClose => {
                Closed::ByPeer(H2Code::NO_ERROR)
            }
            Self::PeerEnded => Closed::Transport(TransportEnd::InOrder),
            Self::BodyLost(violation) => Closed::ByUs(violation),
            Self::WeAskedClose
            | Self::RequestUnread
            | Self::ExpectationUnmet
            | Self::ConnectRefused
            | Self::UpgradeRefused
            | Self::ExchangeReset
            | Self::RequestsExhausted
            | Self::ShutDown => Closed::Drained,
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PeerAskedClose => "the peer sent connection: close",
            Self::Http10WithoutKeepAlive => "the peer speaks HTTP/1.0 without keep-alive",
            Self::WeAskedClose => "we sent connection: close",
            Self::BodyUntilClose => "the body ends with the connection",
            Self::RequestUnread => "the response was complete before the request",
            Self::BodyLost(_) => "the request's body broke a rule",
            Self::ExpectationUnmet => "the client waits for 100 Continue and did not get it",
            Self::ConnectRefused => "a CONNECT request was refused",
            Self::UpgradeRefused => "an upgrade was refused",
            Self::ExchangeReset => "an exchange was given up before it was complete",
            Self::RequestsExhausted => "the connection served as many requests as it may",
            Self::PeerEnded => "the peer has ended its side",
            Self::ShutDown => "the connection drains",
        })
    }
}

/// Whether the sender of a head keeps the connection open (RFC 9112 section 9.3), and if not, why.
pub(super) fn persistence<'a>(
    version: Version,
    fields: impl Iterator<Item = Field<'a>>,
) -> Option<CloseReason> {
    let mut keep_alive = false;
    for field in fields.filter(|field| field.token == Some(Token::CONNECTION)) {
        if has_option(field.value, b"close") {
            return Some(CloseReason::PeerAskedClose);
        }
        keep_alive |= has_option(field.value, b"keep-alive");
    }
    (version == Version::Http10 && !keep_alive).then_some(CloseReason::Http10WithoutKeepAlive)
}

/// How many seconds the sender of these fields says that it waits for the next request: the first
/// `timeout` parameter of its `keep-alive` fields, which are one list (RFC 9110 section 5.3). A hint
/// that no RFC in force defines, and that nearly every server sends; some put a unit behind the
/// number (`timeout=5s`).
pub fn keep_alive_seconds<'a>(fields: impl Iterator<Item = Field<'a>>) -> Option<u32> {
    let text = fields
        .filter(|field| field.token == Some(Token::KEEP_ALIVE))
        .flat_map(|field| field.value.split(|&byte| byte == b','))
        .find_map(|item| {
            let at = item.iter().position(|&byte| byte == b'=')?;
            let name = item[..at].trim_ascii();
            name.eq_ignore_ascii_case(b"timeout")
                .then(|| item[at + 1..].trim_ascii())
        })?;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = text.split_at(digits);
    if !unit.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// Whether a comma-separated list holds `option`, in any case.
pub(super) fn has_option(list: &[u8], option: &[u8]) -> bool {
    list.split(|&byte| byte == b',')
        .any(|item| item.trim_ascii().eq_ignore_ascii_case(option))
}
