//! Heads that passed the validator: a [`RequestHead`] or [`ResponseHead`] that exists is valid.
//! One validator for all versions; it rejects and never repairs.

use super::field::{Fields, Token};
use crate::error::Violation;

/// The version whose rules a head must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: as 1.1, but no keep-alive unless asked for and no chunked.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
}

/// A valid request head. `fields()` has the regular fields only; the pseudo-fields have getters.
#[derive(Clone, Debug)]
pub struct RequestHead {
    fields: Fields,
    /// How many pseudo-fields stand in front.
    pseudo: usize,
    content_length: Option<u64>,
}

/// A valid response head: a status from 100 to 599 and regular fields.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    fields: Fields,
    /// 1 when `:status` stands in front, else 0.
    pseudo: usize,
    content_length: Option<u64>,
}

impl RequestHead {
    /// Validates a decoded or composed section: pseudo-fields in front (`:method`, `:scheme`,
    /// `:authority`, `:path`, `:protocol`), regular fields behind (RFC 9113 section 8.3.1; an
    /// HTTP/1.1 parser puts its request line into the same pseudo-fields, `:scheme` left out).
    pub fn from_fields(fields: Fields, version: Version) -> Result<Self, Violation> {
        let _ = (fields, version);
        todo!()
    }
    /// The method, for example `GET`. Methods are case-sensitive.
    pub fn method(&self) -> &[u8] {
        todo!()
    }
    /// The scheme, where the version carries one.
    pub fn scheme(&self) -> Option<&[u8]> {
        todo!()
    }
    /// The authority: `:authority`, or the host field.
    pub fn authority(&self) -> Option<&[u8]> {
        todo!()
    }
    /// Path and query, `*`, or `None` on an ordinary CONNECT.
    pub fn path(&self) -> Option<&[u8]> {
        todo!()
    }
    /// The protocol of an extended CONNECT (RFC 8441).
    pub fn protocol(&self) -> Option<&[u8]> {
        todo!()
    }
    /// The regular fields in order.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = super::Field<'_>> + ExactSizeIterator {
        self.section().iter().skip(self.pseudo)
    }
    /// The first regular or pseudo-field with this token.
    pub fn get(&self, token: Token) -> Option<&[u8]> {
        self.fields.get(token)
    }
    /// The whole section, pseudo-fields in front: what an encoder walks.
    pub fn section(&self) -> &Fields {
        &self.fields
    }
    /// The validated content-length.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }
    /// Takes the memory back for the next head.
    pub fn into_fields(self) -> Fields {
        self.fields
    }
}

impl ResponseHead {
    /// Validates the head of a response to send or (HTTP/1.1) received: regular fields only.
    pub fn new(status: u16, fields: Fields, version: Version) -> Result<Self, Violation> {
        let _ = (status, fields, version);
        todo!()
    }
    /// Validates a decoded HTTP/2 or HTTP/3 section: `:status` in front.
    pub fn from_fields(fields: Fields, version: Version) -> Result<Self, Violation> {
        let _ = (fields, version);
        todo!()
    }
    /// The regular fields in order.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = super::Field<'_>> + ExactSizeIterator {
        self.fields.iter().skip(self.pseudo)
    }
    /// The first regular field with this token.
    pub fn get(&self, token: Token) -> Option<&[u8]> {
        self.fields.get(token)
    }
    /// Whether it is a 1xx (RFC 9110 section 15.2).
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status)
    }
    /// The validated content-length.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }
    /// Takes the memory back for the next head.
    pub fn into_fields(self) -> Fields {
        self.fields
    }
}

/// Validates a trailer section: no pseudo-fields, no framing fields (RFC 9110 section 6.5.1).
pub fn validate_trailers(fields: &Fields, version: Version) -> Result<(), Violation> {
    let _ = (fields, version);
    todo!()
}
