//! URLs as users write them, in the form that is sent: the rules of the WHATWG URL standard.

use crate::error::Error;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;

/// The URI of a URL. Names of other scripts become Punycode, `..` is resolved, and a character that
/// a request target cannot have is percent-encoded. A fragment is not sent (RFC 9110 section 7.1).
///
/// # Errors
/// Names the URL and what it must be like.
pub(in crate::client) fn uri_of(url: &str) -> Result<Uri, Error> {
    let unparsed = |error: Box<dyn std::error::Error + Send + Sync>| {
        Error::config(format!(
            "the URL {url:?} cannot be parsed; it must be like https://host:port/path"
        ))
        .with_source(error)
    };
    if is_plain(url) {
        return url.parse::<Uri>().map_err(|error| unparsed(error.into()));
    }
    let mut parsed = url::Url::parse(url).map_err(|error| unparsed(error.into()))?;
    parsed.set_fragment(None);
    let uri = parsed.as_str().parse::<Uri>();
    uri.map_err(|error| unparsed(error.into()))
}

/// The URI of a URL without the user and password before its host, and these as an `authorization` of the
/// scheme Basic (RFC 7617), as curl and browsers take them. They are not in the URI that is sent (RFC 9110
/// section 4.2.4).
///
/// # Errors
/// As [`uri_of`].
pub(super) fn uri_and_credentials_of(url: &str) -> Result<(Uri, Option<HeaderValue>), Error> {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#', '\\']).next();
    if !authority.unwrap_or_default().contains('@') {
        return uri_of(url).map(|uri| (uri, None));
    }
    // The error does not repeat the URL, which has a password.
    let unparsed = |_| {
        Error::config(
            "the URL cannot be parsed; it must be like https://user:password@host:port/path",
        )
    };
    let mut parsed = url::Url::parse(url).map_err(unparsed)?;
    let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    let (user, password) = (parsed.username(), parsed.password().unwrap_or_default());
    let pair = [decoded(user), b":".to_vec(), decoded(password)].concat();
    // Neither fails for a URL with a host, and other ones have no place for credentials.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
    let mut value = HeaderValue::from_str(&value).expect("base64 is visible ASCII");
    value.set_sensitive(true);
    Ok((uri_of(parsed.as_str())?, Some(value)))
}

/// Whether the standard's parser would change nothing that matters: most URLs are plain, and that
/// parser allocates.
fn is_plain(url: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(byte);
    url.bytes().all(|byte| plain(&byte)) && !url.contains("/.") && !has_encoded_dots(url)
}

/// `%2e` counts as a dot in a path.
fn has_encoded_dots(url: &str) -> bool {
    let bytes = url.as_bytes();
    bytes
        .windows(3)
        .any(|three| three.eq_ignore_ascii_case(b"%2e"))
}

#[cfg(test)]
#[path = "url_test.rs"]
mod url_test;
