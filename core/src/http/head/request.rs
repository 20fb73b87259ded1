//! Heads of requests: pseudo-fields (RFC 9113 section 8.3.1), which HTTP/1.1's request line becomes too,
//! and regular fields.

use super::Version;
use super::marks::{ABSENT, Marks, PSEUDO_HTTP1, PSEUDO_REQUEST, bit};
use crate::error::Violation;
use crate::http::field::syntax::{self, Port};
use crate::http::field::{Field, Fields, Token};
use std::borrow::Cow;
use std::num::NonZeroU32;

mod authority;
pub(crate) mod free_list;
pub(crate) mod last_head;

/// A valid request head. `fields()` has the regular fields only; the pseudo-fields have getters.
///
/// In a box, because it is handed on several times between the machine and its handler.
#[derive(Clone, Debug)]
pub struct RequestHead(Box<Whole>);

#[derive(Clone, Debug)]
struct Whole {
    fields: Fields,
    marks: Marks,
    number: Option<NonZeroU32>,
    fields_number: Option<NonZeroU32>,
}

impl RequestHead {
    /// Validates a decoded or composed section: pseudo-fields in front (`:method`, `:scheme`,
    /// `:authority`, `:path`, `:protocol`), regular fields behind (RFC 9113 section 8.3.1; an
    /// HTTP/1.1 parser puts its request line into the same pseudo-fields, `:scheme` only from the
    /// absolute form).
    ///
    /// Validate a request that may go out on any version as [`Version::Http2`]: HTTP/1.1 writes its
    /// host field from `:authority`.
    ///
    /// # Errors
    /// The [`Violation`] of the first rule that the section breaks.
    pub fn from_fields(fields: Fields, version: Version) -> Result<Self, Violation> {
        let marks = Marks::of(&fields, version, pseudo_of_request(version))?;
        Self::of_marked(None, fields, marks, version, version == Version::Http11)
    }
    /// As [`from_fields`](Self::from_fields) for a section that a peer sent: over HTTP/2 and HTTP/3
    /// a field whose value has blanks at an end, or a harmless control character, is left out.
    ///
    /// # Errors
    /// As [`from_fields`](Self::from_fields).
    pub fn received(fields: Fields, version: Version) -> Result<Self, Violation> {
        Self::received_in(None, fields, version, true)
    }
    /// As [`received`](Self::received), in the memory of a finished head. `needs_host`: one of HTTP/1.1
    /// without a host field is refused (RFC 9112 section 3.2).
    pub(crate) fn received_in(
        spare: Option<Self>,
        mut fields: Fields,
        version: Version,
        needs_host: bool,
    ) -> Result<Self, Violation> {
        let marks = Marks::of_received(&mut fields, version, pseudo_of_request(version))?;
        let needs_host = needs_host && version == Version::Http11;
        Self::of_marked(spare, fields, marks, version, needs_host)
    }
    fn of_marked(
        spare: Option<Self>,
        fields: Fields,
        marks: Marks,
        version: Version,
        needs_host: bool,
    ) -> Result<Self, Violation> {
        let head = Self::of(
            spare,
            Whole {
                fields,
                marks,
                number: None,
                fields_number: None,
            },
        );
        head.check_request_line(version)?;
        head.check_authority(version, needs_host)?;
        Ok(head)
    }
    fn of(spare: Option<Self>, whole: Whole) -> Self {
        match spare {
            Some(mut head) => {
                *head.0 = whole;
                head
            }
            None => Self(Box::new(whole)),
        }
    }
    /// The method, for example `GET`. Methods are case-sensitive.
    #[inline]
    pub fn method(&self) -> &[u8] {
        self.pseudo(Token::METHOD).unwrap_or_default()
    }
    /// The scheme, where the version carries one.
    pub fn scheme(&self) -> Option<&[u8]> {
        self.pseudo(Token::SCHEME)
    }
    /// The authority: `:authority`, or the host field. On HTTP/1.1 the absolute form wins over
    /// the host field (RFC 9112 section 3.2.2).
    pub fn authority(&self) -> Option<&[u8]> {
        self.pseudo(Token::AUTHORITY).or_else(|| self.host())
    }
    /// The authority of the target, where there is a host field beside it that says something else:
    /// a recipient ignores that field (RFC 9112 section 3.2.2). `:authority` may differ from it in
    /// the case of its letters only.
    pub fn overruling_authority(&self) -> Option<&[u8]> {
        let host = self.host()?;
        self.pseudo(Token::AUTHORITY)
            .filter(|authority| *authority != host)
    }
    /// Path and query, `*`, or `None` on an ordinary CONNECT.
    pub fn path(&self) -> Option<&[u8]> {
        self.pseudo(Token::PATH)
    }
    /// The protocol of an extended CONNECT (RFC 8441).
    pub fn protocol(&self) -> Option<&[u8]> {
        self.pseudo(Token::PROTOCOL)
    }
    /// The cookie: HTTP/2 and HTTP/3 may split it into crumbs, which belong together with `"; "`
    /// between them (RFC 9113 section 8.2.3). Allocates only if there is more than one.
    pub fn cookie(&self) -> Option<Cow<'_, [u8]>> {
        let mut crumbs = self
            .fields()
            .filter(|field| field.token == Some(Token::COOKIE));
        let mut cookie = Cow::Borrowed(crumbs.next()?.value);
        for crumb in crumbs {
            let whole = cookie.to_mut();
            whole.extend_from_slice(b"; ");
            whole.extend_from_slice(crumb.value);
        }
        Some(cookie)
    }
    /// The regular fields in order.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = Field<'_>> + ExactSizeIterator + Clone {
        self.section().iter_from(usize::from(self.0.marks.pseudo))
    }
    /// The first regular or pseudo-field with this token.
    pub fn get(&self, token: Token) -> Option<&[u8]> {
        self.0.fields.get(token)
    }
    /// The whole section, pseudo-fields in front: what an encoder walks.
    pub fn section(&self) -> &Fields {
        &self.0.fields
    }
    /// The validated content-length.
    pub fn content_length(&self) -> Option<u64> {
        self.0.marks.content_length
    }
    /// Whether there is any of `connection`, `upgrade`, `keep-alive`, `proxy-connection` and
    /// `expect`: mostly not, and then none of them needs to be looked for.
    pub fn has_hop_fields(&self) -> bool {
        self.0.marks.hop
    }
    /// Whether the client waits for a 100 before it sends its content (RFC 9110 section 10.1.1).
    pub fn asks_for_continue(&self) -> bool {
        let is_asked = |value: &[u8]| value.eq_ignore_ascii_case(b"100-continue");
        self.has_hop_fields() && self.get(Token::EXPECT).is_some_and(is_asked)
    }
    /// How urgent the client says it is (RFC 9218 section 5).
    pub(crate) fn priority(&self) -> Option<&[u8]> {
        let has_one = self.0.marks.priority;
        has_one.then(|| self.get(Token::PRIORITY)).flatten()
    }
    /// Whether the body is framed by transfer-encoding (HTTP/1.1 only).
    pub(crate) fn has_transfer_encoding(&self) -> bool {
        self.0.marks.transfer_encoding
    }
    /// Takes the memory back for the next head.
    pub fn into_fields(self) -> Fields {
        self.0.fields
    }
    /// Takes the memory of its fields; what is left serves [`received_in`](Self::received_in)
    /// and nothing else.
    pub(crate) fn take_fields(&mut self) -> Fields {
        self.0.number = None;
        self.0.fields_number = None;
        let mut fields = std::mem::take(&mut self.0.fields);
        fields.clear();
        fields
    }
    /// The number of a head that came before on its connection: heads with one number are alike.
    pub fn number(&self) -> Option<NonZeroU32> {
        self.0.number
    }
    /// The number of regular fields that came before on its connection, whatever the head asks
    /// for: those of heads with one such number are alike.
    pub fn fields_number(&self) -> Option<NonZeroU32> {
        self.0.fields_number
    }

    fn pseudo(&self, token: Token) -> Option<&[u8]> {
        let at = self.0.marks.at[token.index()];
        (at != ABSENT).then(|| self.value_at(usize::from(at)))
    }
    fn host(&self) -> Option<&[u8]> {
        self.0.marks.host.map(|at| self.value_at(at as usize))
    }
    fn value_at(&self, index: usize) -> &[u8] {
        self.0.fields.value_at(index).unwrap_or_default()
    }

    /// `:method`, `:scheme`, `:path` and `:protocol` (RFC 9113 sections 8.3.1 and 8.5, RFC 8441
    /// section 4, RFC 9112 section 3.2).
    fn check_request_line(&self, version: Version) -> Result<(), Violation> {
        let method = self
            .pseudo(Token::METHOD)
            .ok_or(Violation::PseudoFieldMissing)?;
        let unsound = |token| self.0.marks.unsound & bit(token) != 0;
        if unsound(Token::METHOD) {
            return Err(Violation::MethodInvalid);
        }
        if unsound(Token::SCHEME) {
            return Err(Violation::SchemeInvalid);
        }
        match (method == b"CONNECT", self.protocol()) {
            (false, Some(_)) => return Err(Violation::ConnectMalformed),
            (true, None) => {
                let bare = self.scheme().is_none() && self.path().is_none();
                return if bare {
                    Ok(())
                } else {
                    Err(Violation::ConnectMalformed)
                };
            }
            (true, Some(_)) => {
                let whole = self.scheme().is_some() && self.path().is_some();
                if !whole || unsound(Token::PROTOCOL) {
                    return Err(Violation::ConnectMalformed);
                }
            }
            (false, None) => {}
        }
        if version.is_framed() && self.scheme().is_none() {
            return Err(Violation::PseudoFieldMissing);
        }
        let path = self.path().ok_or(Violation::PseudoFieldMissing)?;
        if !unsound(Token::PATH) || (path == b"*" && method == b"OPTIONS") {
            Ok(())
        } else {
            Err(Violation::PathInvalid)
        }
    }

    /// `:authority` and host (RFC 9110 sections 4.2 and 7.2, RFC 9112 section 3.2, RFC 9113
    /// section 8.3.1).
    fn check_authority(&self, version: Version, needs_host: bool) -> Result<(), Violation> {
        let (authority, host) = (self.pseudo(Token::AUTHORITY), self.host());
        if needs_host && host.is_none() {
            return Err(Violation::HostMissing);
        }
        if let Some(host) = host {
            syntax::authority(host).ok_or(Violation::AuthorityInvalid)?;
        }
        // Only HTTP/2 and HTTP/3 have clients that leave the brackets of an IPv6 address out.
        let needs_brackets = !version.is_framed();
        if self.0.marks.unsound & bit(Token::AUTHORITY) != 0
            || needs_brackets && authority.is_some_and(|text| syntax::authority(text).is_none())
        {
            return Err(Violation::AuthorityInvalid);
        }
        // HTTP/1.1: the target wins and host is ignored (RFC 9112 section 3.2.2), and CONNECT is
        // commonly sent with a host field that lacks the port.
        if version.is_framed()
            && let (Some(authority), Some(host)) = (authority, host)
            && !authority.eq_ignore_ascii_case(host)
        {
            return Err(Violation::AuthorityConflict);
        }
        if self.method() == b"CONNECT" {
            // RFC 9113 section 8.5 and RFC 9110 section 9.3.6: a tunnel needs a host and a port;
            // RFC 8441 section 4: an extended one the authority of its URI.
            let port = authority.and_then(syntax::authority);
            return match (port, self.protocol().is_some()) {
                (None, _) | (Some(Port::Default), false) => Err(Violation::ConnectMalformed),
                (Some(Port::Default), true) if authority == Some(b"") => {
                    Err(Violation::AuthorityInvalid)
                }
                _ => Ok(()),
            };
        }
        // RFC 9110 section 4.2.1: an http or https URI with an empty host is invalid; RFC 9114
        // section 4.3.1 has this rule where both fields are missing.
        let needs_host = || {
            self.scheme().is_some_and(|scheme| {
                scheme.eq_ignore_ascii_case(b"https") || scheme.eq_ignore_ascii_case(b"http")
            })
        };
        match self.authority() {
            None if needs_host() => Err(Violation::PseudoFieldMissing),
            Some(b"") if needs_host() => Err(Violation::AuthorityInvalid),
            _ => Ok(()),
        }
    }
}

/// The pseudo-fields that a request may have.
fn pseudo_of_request(version: Version) -> u8 {
    match version {
        Version::Http10 | Version::Http11 => PSEUDO_HTTP1,
        Version::Http2 | Version::Http3 => PSEUDO_REQUEST,
    }
}
