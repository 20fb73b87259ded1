//! Builds an [`http::Request`] from a valid head with one copy of its bytes: the values are slices
//! of one block.
//!
//! The blocks come from a small arena per thread that is used again as soon as every request
//! cut from it is gone; a handler that keeps a value keeps at most `ARENA_BYTES` with it.

use crate::body::Body;
use crate::body::header_map::name_of;
use crate::tunnel::upgrade::Protocol;
use bytes::BytesMut;
use http::header::{COOKIE, HeaderMap, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Method, Request, Uri};
use std::num::NonZeroU32;
use trunkline_core::http::{Field, RequestHead, Token, Version};

/// Makes the requests of a thread's connections.
#[derive(Debug, Default)]
pub(in crate::server) struct Requests {
    arena: BytesMut,
    /// The last authority: a server mostly has one.
    authority: Option<Authority>,
    /// The last target that was kept: a client that calls one method names it again and again, whatever
    /// else its heads say.
    last: Option<Uri>,
    /// Targets that were another, since one was `last`.
    misses: u32,
}

/// Where targets differ, one in this many is cached, and at first each whose count is a power of
/// two: caching costs an allocation, because the memory is then shared.
const KEPT_ONE_IN: u32 = 64;

/// The parts of the last request, reused for the next one that is equal, or equal except for its
/// target.
pub(in crate::server) struct Prepared {
    /// The number of its regular fields: [`RequestHead::fields_number`].
    fields_number: NonZeroU32,
    headers: HeaderMap,
    /// The number of its whole head, [`RequestHead::number`], if that came again; and what else was in it.
    line: Option<(NonZeroU32, Method, Uri)>,
}

impl Prepared {
    /// The parts of `head`, which `request` was made from.
    fn of<B>(head: &RequestHead, request: &Request<B>) -> Option<Self> {
        Some(Self {
            fields_number: head.fields_number()?,
            headers: request.headers().clone(),
            line: Self::line_of(head, request),
        })
    }
    fn line_of<B>(head: &RequestHead, request: &Request<B>) -> Option<(NonZeroU32, Method, Uri)> {
        Some((
            head.number()?,
            request.method().clone(),
            request.uri().clone(),
        ))
    }
}

/// The head has something that the `http` crate cannot carry.
#[derive(Debug)]
struct Unsupported;

impl Requests {
    /// Makes `request`, which says nothing yet, that of `head`; `secure`: the connection is under
    /// TLS. `last`: the one of its connection that came again, copied for a head alike. `None` if
    /// the `http` crate cannot carry it. Where it stands and not handed back: it is large.
    pub(in crate::server) fn fill<'r>(
        &mut self,
        request: &'r mut Request<Body>,
        head: &RequestHead,
        version: Version,
        secure: bool,
        last: &mut Option<Prepared>,
    ) -> Option<&'r mut Request<Body>> {
        *request.version_mut() = version_of(version);
        // Its host depends on its target: it is made of more than its fields.
        let is_whole = head.overruling_authority().is_none();
        let known = last
            .as_mut()
            .filter(|last| is_whole && head.fields_number() == Some(last.fields_number));
        if let Some(known) = known {
            *request.headers_mut() = known.headers.clone();
            match &known.line {
                Some((number, method, uri)) if head.number() == Some(*number) => {
                    *request.method_mut() = method.clone();
                    *request.uri_mut() = uri.clone();
                }
                _ => {
                    self.put_line(head, version, secure, request).ok()?;
                    if head.number().is_some() {
                        known.line = Prepared::line_of(head, request);
                    }
                }
            }
        } else {
            self.put_line(head, version, secure, request).ok()?;
            if head.fields().len() > 0 {
                self.put_headers(head, request.headers_mut()).ok()?;
            }
            if is_whole && head.fields_number().is_some() {
                *last = Prepared::of(head, request);
            }
        }
        if let Some(protocol) = head.protocol() {
            let name = std::str::from_utf8(protocol).ok()?;
            request.extensions_mut().insert(Protocol::new(name));
        }
        Some(request)
    }
    /// The method and the target, as far as the `http` crate can carry them.
    pub(in crate::server) fn line(
        &mut self,
        head: &RequestHead,
        version: Version,
        secure: bool,
    ) -> (Option<Method>, Option<Uri>) {
        let method = Method::from_bytes(head.method()).ok();
        (method, self.uri(head, version, secure).ok())
    }
    /// The method and the target.
    fn put_line(
        &mut self,
        head: &RequestHead,
        version: Version,
        secure: bool,
        request: &mut Request<Body>,
    ) -> Result<(), Unsupported> {
        match head.method() {
            // As it is made.
            b"GET" => {}
            b"POST" => *request.method_mut() = Method::POST,
            other => *request.method_mut() = Method::from_bytes(other).map_err(|_| Unsupported)?,
        }
        *request.uri_mut() = match &self.last {
            Some(last) if Self::is_target(last, head, version) => {
                self.misses = 0;
                last.clone()
            }
            _ => {
                let uri = self.uri(head, version, secure)?;
                self.misses = self.misses.wrapping_add(1);
                if self.misses.is_power_of_two() || self.misses.is_multiple_of(KEPT_ONE_IN) {
                    self.last = Some(uri.clone());
                }
                uri
            }
        };
        Ok(())
    }
    /// The fields into a map, their values slices of one block.
    fn put_headers(
        &mut self,
        head: &RequestHead,
        headers: &mut HeaderMap,
    ) -> Result<(), Unsupported> {
        // RFC 9112 section 3.2.2: a host field that differs from the target is ignored. It is
        // replaced, so that routing and authorization see one value.
        let overruling = head.overruling_authority();
        let fields = head.fields().map(|field| match overruling {
            Some(authority) if field.token == Some(Token::HOST) => Field {
                value: authority,
                ..field
            },
            _ => field,
        });
        let length = fields.clone().map(|field| field.value.len()).sum::<usize>();
        if self.arena.capacity() < length {
            // Reuses the old arena when no slice of it is held.
            self.arena.reserve(length.max(ARENA_BYTES));
        }
        for field in fields.clone() {
            self.arena.extend_from_slice(field.value);
        }
        let mut block = self.arena.split().freeze();
        // The map has a bound of its own, which a server's limit may be beyond.
        headers.try_reserve(fields.len()).map_err(|_| Unsupported)?;
        let mut crumbs = 0;
        for field in fields {
            let bytes = block.split_to(field.value.len());
            if field.token == Some(Token::COOKIE) {
                crumbs += 1;
            }
            // SAFETY: `head` passed the validator, whose values have no control character but
            // HTAB (core/src/http/field/syntax.rs, `is_field_value`), as this type wants it.
            let mut value = unsafe { HeaderValue::from_maybe_shared_unchecked(bytes) };
            value.set_sensitive(field.sensitive);
            let name = name_of(&field).ok_or(Unsupported)?;
            headers.try_append(name, value).map_err(|_| Unsupported)?;
        }
        if crumbs > 1 {
            join_cookie(head, headers)?;
        }
        Ok(())
    }
    /// Whether `head` asks for `last` again. The forms compared are HTTP/2's, with authority, and
    /// HTTP/1.1's origin-form, with a path alone.
    fn is_target(last: &Uri, head: &RequestHead, version: Version) -> bool {
        let again = |part: Option<&str>, bytes: Option<&[u8]>| part.map(str::as_bytes) == bytes;
        let authority = match version {
            Version::Http2 | Version::Http3 => head.authority(),
            Version::Http10 | Version::Http11 if head.path().is_some() => None,
            Version::Http10 | Version::Http11 => return false,
        };
        again(last.path_and_query().map(PathAndQuery::as_str), head.path())
            && again(last.authority().map(Authority::as_str), authority)
            && again(last.scheme_str(), head.scheme())
    }
    fn uri(
        &mut self,
        head: &RequestHead,
        version: Version,
        secure: bool,
    ) -> Result<Uri, Unsupported> {
        let path = head
            .path()
            .map(PathAndQuery::try_from)
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
                Some(http) if http.eq_ignore_ascii_case(b"http") => Scheme::HTTP,
                Some(https) if https.eq_ignore_ascii_case(b"https") => Scheme::HTTPS,
                Some(other) => Scheme::try_from(other).map_err(|_| Unsupported)?,
                None if secure => Scheme::HTTPS,
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

/// The `http` crate's name of a version.
pub(in crate::server) fn version_of(version: Version) -> http::Version {
    match version {
        Version::Http10 => http::Version::HTTP_10,
        Version::Http11 => http::Version::HTTP_11,
        Version::Http2 => http::Version::HTTP_2,
        Version::Http3 => http::Version::HTTP_3,
    }
}

/// A cookie in pieces, which is for the compressor's sake alone, is one field for the handler
/// (RFC 9113 section 8.2.3, RFC 9114 section 4.2.1).
#[cold]
fn join_cookie(head: &RequestHead, headers: &mut HeaderMap) -> Result<(), Unsupported> {
    if let Some(whole) = head.cookie() {
        let mut value = HeaderValue::from_bytes(&whole).map_err(|_| Unsupported)?;
        let was_sensitive = headers.get(COOKIE).is_some_and(HeaderValue::is_sensitive);
        value.set_sensitive(was_sensitive);
        headers.insert(COOKIE, value);
    }
    Ok(())
}

/// Bytes of a fresh arena: several ordinary heads.
const ARENA_BYTES: usize = 4096;
