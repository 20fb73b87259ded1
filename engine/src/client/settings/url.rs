//! URLs as users write them, in the form that is sent: by the WHATWG URL standard, or by RFC 3986 where the
//! feature `url` is off.

#[cfg(any(test, not(feature = "url")))]
mod rfc3986;
#[cfg(feature = "url")]
mod whatwg;

#[cfg(not(feature = "url"))]
use rfc3986 as standard;
#[cfg(feature = "url")]
use whatwg as standard;

use crate::error::Error;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::uri::{self, Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use std::error;
use std::net::Ipv4Addr;

type BoxError = Box<dyn error::Error + Send + Sync>;

/// A URL, and the user and password that stood before its host, percent-encoded as they were.
struct CredentialsApart {
    url: String,
    user: String,
    password: String,
}

/// The URI of a URL. Names of other scripts become Punycode, `..` is resolved, and a character that
/// a request target cannot have is percent-encoded. A fragment is not sent (RFC 9110 section 7.1).
///
/// # Errors
/// Names the URL and what it must be like.
pub(in crate::client) fn uri_of(url: &str) -> Result<Uri, Error> {
    let unparsed = |error: BoxError| {
        Error::config(format!(
            "the URL {url:?} cannot be parsed; it must be like https://host:port/path"
        ))
        .with_source(error)
    };
    if is_plain(url) {
        return url.parse::<Uri>().map_err(|error| unparsed(error.into()));
    }
    let uri = standard::normalized(url).map_err(unparsed)?.parse::<Uri>();
    uri.map_err(|error| unparsed(error.into()))
}

/// The URI of `target`, which begins with a slash, at an origin; `None`: it would be sent in another form.
pub(in crate::client) fn uri_at(scheme: Scheme, authority: Authority, target: &str) -> Option<Uri> {
    if target.len() > TARGET_BYTES_MAX || !has_plain_characters(target.as_bytes()) {
        return None;
    }
    let mut parts = uri::Parts::default();
    parts.scheme = Some(scheme);
    parts.authority = Some(authority);
    parts.path_and_query = Some(PathAndQuery::try_from(target).ok()?);
    Uri::from_parts(parts).ok()
}

/// A longer target is parsed with its URL, which knows how long that may be.
const TARGET_BYTES_MAX: usize = 8 * 1024;

/// The URI of a URL without the user and password before its host, and these as an `authorization` of the
/// scheme Basic (RFC 7617), as curl and browsers take them. They are not in the URI that is sent (RFC 9110
/// section 4.2.4).
///
/// # Errors
/// As [`uri_of`].
pub(in crate::client) fn uri_and_credentials_of(
    url: &str,
) -> Result<(Uri, Option<HeaderValue>), Error> {
    // Most have no character of that kind anywhere: one look tells.
    if !url.as_bytes().contains(&b'@') {
        return uri_of(url).map(|uri| (uri, None));
    }
    let authority = url.split_once(':').map_or("", |(_, rest)| rest);
    let authority = authority
        .trim_start_matches(['/', '\\'])
        .split(['/', '?', '#', '\\'])
        .next();
    if !authority.unwrap_or_default().contains('@') {
        return uri_of(url).map(|uri| (uri, None));
    }
    // The error does not repeat the URL, which has a password.
    let unparsed = |_: BoxError| {
        Error::config(
            "the URL cannot be parsed; it must be like https://user:password@host:port/path",
        )
    };
    let apart = standard::credentials_apart(url).map_err(unparsed)?;
    // `http://@host` and `http://:@host` are `http://host` (WHATWG URL, section 4.4).
    if apart.user.is_empty() && apart.password.is_empty() {
        return uri_of(&apart.url).map(|uri| (uri, None));
    }
    let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    let pair = [
        decoded(&apart.user),
        b":".to_vec(),
        decoded(&apart.password),
    ]
    .concat();
    let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
    let mut value = HeaderValue::from_str(&value).expect("base64 is visible ASCII");
    value.set_sensitive(true);
    Ok((uri_of(&apart.url)?, Some(value)))
}

/// The URL that `reference` stands for at `base`, without its fragment (RFC 3986 section 5).
///
/// # Errors
/// Why it is none.
pub(in crate::client) fn joined(base: &str, reference: &str) -> Result<String, BoxError> {
    standard::joined(base, reference)
}

/// Whether the standard's parser would change nothing that matters: most URLs are plain, and that
/// parser allocates.
pub(super) fn is_plain(url: &str) -> bool {
    has_plain_characters(url.as_bytes()) && has_plain_authority(url)
}

/// Whether no character is encoded, and no segment is one of dots.
fn has_plain_characters(bytes: &[u8]) -> bool {
    let mut dots = false;
    for (index, &byte) in bytes.iter().enumerate() {
        match CHARACTERS[usize::from(byte)] {
            Character::Plain => {}
            Character::Foreign => return false,
            Character::Dot => dots |= index > 0 && bytes[index - 1] == b'/',
            Character::Percent => dots |= is_encoded_dot(&bytes[index..]),
        }
    }
    !dots
}

/// Whether the standard leaves scheme, host and port as they are: it writes them in small letters, leaves the scheme's own
/// port out, and turns short and long forms of addresses into one. They become the `host` field and the key of the pool.
fn has_plain_authority(url: &str) -> bool {
    // By bytes, all of which are ASCII here: the searches for characters and texts of `str` cost several times as much.
    let Some((scheme, rest)) = split_at_scheme(url) else {
        // WHATWG: slashes behind the scheme may be missing.
        return !["http:", "https:"].iter().any(|scheme| {
            url.get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
    };
    if rest.starts_with('/') {
        return false;
    }
    let (rest, scheme) = (rest.as_bytes(), scheme.as_bytes());
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?'));
    let authority = &rest[..end.unwrap_or(rest.len())];
    let (host, port) = match authority.iter().position(|&byte| byte == b':') {
        Some(at) => (&authority[..at], Some(&authority[at + 1..])),
        None => (authority, None),
    };
    let is_small = |text: &[u8]| !text.iter().any(u8::is_ascii_uppercase);
    let is_plain_port = |port: &[u8]| match (scheme, port) {
        (b"http", b"80") | (b"https", b"443") => false,
        _ => port.first().is_some_and(|&digit| digit != b'0'),
    };
    // WHATWG: a host whose last label is a number is an IPv4 address.
    let dots = host.iter().rev().take_while(|&&byte| byte == b'.').count();
    let labels = &host[..host.len() - dots];
    let last = labels.iter().rposition(|&byte| byte == b'.');
    let label = labels.get(last.map_or(0, |dot| dot + 1));
    let ends_in_digit = label.is_some_and(u8::is_ascii_digit);
    let is_plain_host = !host.starts_with(b"[") && !host.contains(&b'%') && is_small(host);
    let is_plain_host = is_plain_host && (!ends_in_digit || is_ipv4(host));
    is_plain_host && is_small(scheme) && port.is_none_or(is_plain_port)
}

/// Splits a URL at the first `://`.
fn split_at_scheme(url: &str) -> Option<(&str, &str)> {
    let colon = url.bytes().position(|byte| byte == b':')?;
    let (scheme, rest) = url.split_at(colon);
    match rest.strip_prefix("://") {
        Some(rest) => Some((scheme, rest)),
        None => url.split_once("://"),
    }
}

fn is_ipv4(host: &[u8]) -> bool {
    str::from_utf8(host).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok())
}

/// `%2e` counts as a dot in a path.
fn is_encoded_dot(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', b'2', b'e' | b'E', ..])
}

/// A byte of a URL to the two parsers.
#[derive(Clone, Copy)]
enum Character {
    /// Both leave it as it is.
    Plain,
    /// The standard's parser encodes it, ends the URL there or turns it into another one.
    Foreign,
    /// Behind a slash it may be a segment `.` or `..`.
    Dot,
    Percent,
}

static CHARACTERS: [Character; 256] = {
    let mut table = [Character::Foreign; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        table[byte as usize] = match byte {
            b'"' | b'#' | b'\'' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => {
                Character::Foreign
            }
            b'.' => Character::Dot,
            b'%' => Character::Percent,
            _ => Character::Plain,
        };
        byte += 1;
    }
    table
};

#[cfg(test)]
#[path = "url_test.rs"]
mod url_test;
