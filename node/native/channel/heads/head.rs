//! Request heads in the channel's form: method, path and authority, then names and values in turn,
//! separated by a zero byte. Names may be in any case.

use trunkline::core::http::{Fields, RequestHead, Token, Version};

/// Fields of an ordinary request, pseudo-fields included.
const FIELDS_USUAL: usize = 16;
/// Longer heads mostly carry something that changes.
const KNOWN_BYTES_MAX: usize = 2048;
/// Caches one in this many misses; storing a head costs about half as much as parsing it.
const MISSES: u32 = 64;

/// Reads heads, and knows the last that it kept: a client that polls one resource repeats its head.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    text: Vec<u8>,
    /// With the scheme that it was read for.
    known: Option<(&'static str, RequestHead)>,
    misses: u32,
}

impl Heads {
    /// The head in `text`, or what is wrong with it.
    pub(crate) fn read(
        &mut self,
        scheme: &'static str,
        text: &[u8],
    ) -> Result<RequestHead, String> {
        if let Some((of, head)) = &self.known
            && *of == scheme
            && self.text == text
        {
            self.misses = 0;
            return Ok(head.clone());
        }
        let head = request_head(scheme.as_bytes(), text)?;
        if text.len() <= KNOWN_BYTES_MAX && self.misses.is_multiple_of(MISSES) {
            self.text.clear();
            self.text.extend_from_slice(text);
            self.known = Some((scheme, head.clone()));
        }
        self.misses = self.misses.wrapping_add(1);
        Ok(head)
    }
}

/// The head of a request whose path is an absolute URL: its scheme and its authority are those of the URL.
pub(crate) fn absolute_head(text: &[u8]) -> Result<RequestHead, String> {
    let mut pieces = text.split(|&byte| byte == 0);
    let mut next = || pieces.next().unwrap_or_default();
    let (method, url, _) = (next(), next(), next());
    let url = std::str::from_utf8(url)
        .map_err(|_| "the path is a URL with characters above U+007F".to_owned())?;
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let path = match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("/{path}"),
    };
    of_parts(
        method,
        scheme.as_bytes(),
        authority.as_bytes(),
        path.as_bytes(),
        pieces,
    )
}

fn request_head(scheme: &[u8], text: &[u8]) -> Result<RequestHead, String> {
    let mut pieces = text.split(|&byte| byte == 0);
    let mut next = || pieces.next().unwrap_or_default();
    let (method, path, authority) = (next(), next(), next());
    if method == b"CONNECT" && pieces.clone().next() != Some(b":protocol") {
        return connect_head(path, pieces);
    }
    of_parts(method, scheme, authority, path, pieces)
}

/// The head of a CONNECT on a stream, which has no scheme and no path (RFC 9113 section 8.5).
fn connect_head<'a>(
    authority: &[u8],
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
) -> Result<RequestHead, String> {
    let mut fields = Fields::with_capacity(FIELDS_USUAL, 256);
    fields.push(Token::METHOD, b"CONNECT");
    fields.push(Token::AUTHORITY, authority);
    push_fields(&mut fields, pieces);
    fields.mark_sensitive(Token::PROXY_AUTHORIZATION);
    RequestHead::from_fields(fields, Version::Http2).map_err(|violation| violation.to_string())
}

fn of_parts<'a>(
    method: &[u8],
    scheme: &[u8],
    authority: &[u8],
    path: &[u8],
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
) -> Result<RequestHead, String> {
    let mut fields = Fields::with_capacity(FIELDS_USUAL, 256);
    fields.push(Token::METHOD, method);
    fields.push(Token::SCHEME, scheme);
    fields.push(Token::AUTHORITY, authority);
    fields.push(Token::PATH, path);
    push_fields(&mut fields, pieces);
    for token in [Token::AUTHORIZATION, Token::PROXY_AUTHORIZATION] {
        fields.mark_sensitive(token);
    }
    RequestHead::from_fields(fields, Version::Http2).map_err(|violation| violation.to_string())
}

/// The head of a request that leaves HTTP: as HTTP/1.1 has it, because no other version has these
/// fields. A CONNECT names its authority in the place of the path.
pub(crate) fn leaving_head(text: &[u8]) -> Result<RequestHead, String> {
    let mut pieces = text.split(|&byte| byte == 0);
    let mut next = || pieces.next().unwrap_or_default();
    let (method, path, authority) = (next(), next(), next());
    let mut fields = Fields::with_capacity(FIELDS_USUAL, text.len());
    fields.push(Token::METHOD, method);
    if method == b"CONNECT" {
        fields.push(Token::AUTHORITY, path);
    } else {
        fields.push(Token::PATH, path);
    }
    fields.push(Token::HOST, authority);
    if pieces.clone().step_by(2).any(has_capital) {
        fields.spell(b"host");
    }
    push_fields(&mut fields, pieces);
    RequestHead::from_fields(fields, Version::Http11).map_err(|violation| violation.to_string())
}

fn has_capital(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase)
}

/// Appends fields: names and values by turns. HTTP/1.1 carries names as they are spelled, and for peers
/// that compare it, which RFC 9110 section 5.1 does not allow, it matters.
fn push_fields<'a>(fields: &mut Fields, mut pieces: impl Iterator<Item = &'a [u8]> + Clone) {
    if !pieces.clone().step_by(2).any(has_capital) {
        while let (Some(name), Some(value)) = (pieces.next(), pieces.next()) {
            fields.push_named(name, value);
        }
        return;
    }
    while let (Some(name), Some(value)) = (pieces.next(), pieces.next()) {
        fields.spell(name);
        fields.push_named(&name.to_ascii_lowercase(), value);
    }
}

#[cfg(test)]
#[path = "head_test.rs"]
mod head_test;
