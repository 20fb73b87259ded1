//! URLs as users write them, in the form that is sent: the rules of the WHATWG URL standard.

use crate::error::Error;
use http::Uri;

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
