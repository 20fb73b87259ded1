//! Text of a response in the charset that its `content-type` names (RFC 9110 section 8.3.2).

use encoding_rs::Encoding;
use http::header::{CONTENT_TYPE, HeaderMap};

/// The encoding of `headers`, by the names of the WHATWG standard; `None`: UTF-8, or a name that it does not have.
pub(super) fn charset_of(headers: &HeaderMap) -> Option<&'static Encoding> {
    let media_type = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let mut parameters = media_type.split(';').skip(1);
    let label = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches('"'))
    })?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    (encoding != encoding_rs::UTF_8).then_some(encoding)
}

#[cfg(test)]
#[path = "charset_test.rs"]
mod charset_test;
