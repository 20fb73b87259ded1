//! From a valid head to an [`http::Request`], with one copy of its bytes: the path and the values
//! are slices of one block.
//!
//! The blocks come from a small arena per connection that is used again as soon as every request
//! cut from it is gone; a handler that keeps a value keeps at most `ARENA_BYTES` with it.

use bytes::{Bytes, BytesMut};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Method, Request, Uri};
use trunkline_core::http::{Field, Fields, RequestHead, Token, Version};

/// Makes the requests of one connection.
#[derive(Debug)]
pub(super) struct Requests {
    arena: BytesMut,
    /// The last authority: a connection mostly has one.
    authority: Option<Authority>,
    secure: bool,
}

/// The head has something that the `http` crate cannot carry.
#[derive(Debug)]
pub(super) struct Unsupported;

impl Requests {
    /// `secure`: the connection is under TLS.
    pub(super) fn new(secure: bool) -> Self {
        Self {
            arena: BytesMut::new(),
            authority: None,
            secure,
        }
    }
    /// The request of `head`, without its body.
    pub(super) fn build(
        &mut self,
        head: &RequestHead,
        version: Version,
    ) -> Result<Request<()>, Unsupported> {
        let mut request = Request::new(());
        *request.method_mut() = Method::from_bytes(head.method()).map_err(|_| Unsupported)?;
        *request.version_mut() = match version {
            Version::Http10 => http::Version::HTTP_10,
            Version::Http11 => http::Version::HTTP_11,
            Version::Http2 => http::Version::HTTP_2,
            Version::Http3 => http::Version::HTTP_3,
        };
        let block = self.block(head);
        let mut at = 0;
        let path = head.path().map(|path| cut(&block, &mut at, path.len()));
        *request.uri_mut() = self.uri(head, path, version)?;
        *request.headers_mut() = headers(head.fields(), &block, at)?;
        Ok(request)
    }
    /// Gives the memory back while the connection idles.
    pub(super) fn release(&mut self) {
        self.arena = BytesMut::new();
    }
    /// The path and all values of `head`, in order, in one block.
    fn block(&mut self, head: &RequestHead) -> Bytes {
        let path = head.path().unwrap_or_default();
        let length = path.len() + head.fields().map(|field| field.value.len()).sum::<usize>();
        if self.arena.capacity() < length {
            // Takes the old arena back when nobody holds a part of it.
            self.arena.reserve(length.max(ARENA_BYTES));
        }
        self.arena.extend_from_slice(path);
        for field in head.fields() {
            self.arena.extend_from_slice(field.value);
        }
        self.arena.split().freeze()
    }
    fn uri(
        &mut self,
        head: &RequestHead,
        path: Option<Bytes>,
        version: Version,
    ) -> Result<Uri, Unsupported> {
        let path = path
            .map(PathAndQuery::from_maybe_shared)
            .transpose()
            .map_err(|_| Unsupported)?;
        let mut parts = http::uri::Parts::default();
        let http1 = matches!(version, Version::Http10 | Version::Http11);
        // RFC 9112 section 3.2: origin-form has no authority, CONNECT has nothing else.
        if !http1 || head.scheme().is_some() || path.is_none() {
            parts.authority = head
                .authority()
                .map(|authority| self.authority(authority))
                .transpose()?;
        }
        if path.is_some() && parts.authority.is_some() {
            parts.scheme = Some(match head.scheme() {
                Some(b"http") => Scheme::HTTP,
                Some(b"https") => Scheme::HTTPS,
                Some(other) => Scheme::try_from(other).map_err(|_| Unsupported)?,
                None if self.secure => Scheme::HTTPS,
                None => Scheme::HTTP,
            });
        }
        parts.path_and_query = path;
        Uri::from_parts(parts).map_err(|_| Unsupported)
    }
    fn authority(&mut self, bytes: &[u8]) -> Result<Authority, Unsupported> {
        if let Some(last) = &self.authority
            && last.as_str().as_bytes() == bytes
        {
            return Ok(last.clone());
        }
        let authority = Authority::try_from(bytes).map_err(|_| Unsupported)?;
        Ok(self.authority.insert(authority).clone())
    }
}

/// A trailer section as a map. What the `http` crate cannot carry is left out.
pub(crate) fn trailer_map(trailers: &Fields) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(trailers.len());
    for field in trailers.iter() {
        if let (Ok(name), Ok(value)) = (header_name(&field), HeaderValue::from_bytes(field.value)) {
            map.append(name, value);
        }
    }
    map
}

/// The fields as a map; `block` has their values from `at` on.
fn headers<'a>(
    fields: impl ExactSizeIterator<Item = Field<'a>>,
    block: &Bytes,
    mut at: usize,
) -> Result<HeaderMap, Unsupported> {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let bytes = cut(block, &mut at, field.value.len());
        let mut value = HeaderValue::from_maybe_shared(bytes).map_err(|_| Unsupported)?;
        value.set_sensitive(field.sensitive);
        headers.append(header_name(&field)?, value);
    }
    Ok(headers)
}

fn header_name(field: &Field<'_>) -> Result<HeaderName, Unsupported> {
    match field.token {
        Some(token) if !token.is_pseudo() => Ok(token_name(token)),
        Some(_) => Err(Unsupported),
        None => HeaderName::from_bytes(field.name).map_err(|_| Unsupported),
    }
}

/// The `http` crate's name of a token, without a look at its bytes.
fn token_name(token: Token) -> HeaderName {
    thread_local! {
        /// Indexed by token. Pseudo-fields have no such name; nothing asks for theirs.
        static NAMES: Vec<HeaderName> = Token::all()
            .map(|token| {
                HeaderName::from_bytes(token.as_str().as_bytes()).unwrap_or(http::header::HOST)
            })
            .collect();
    }
    NAMES.with(|names| names[token.index()].clone())
}

/// The next `length` bytes of `block`.
fn cut(block: &Bytes, at: &mut usize, length: usize) -> Bytes {
    let from = *at;
    *at += length;
    block.slice(from..*at)
}

/// Bytes of a fresh arena: several ordinary heads.
const ARENA_BYTES: usize = 4096;
