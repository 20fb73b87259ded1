//! Heads of responses: a status and regular fields.

use super::marks::{Marks, PSEUDO_RESPONSE};
use super::{Version, reason};
use crate::error::Violation;
use crate::http::field::{Field, Fields, Token, syntax};

/// Three digits hold no more.
const STATUS_MAX: u16 = 999;

/// A valid response head: a status from 100 to 999 and regular fields.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// In a box, as that of a request.
    checked: Box<Checked>,
    reason: Option<Box<[u8]>>,
    is_http10: bool,
}

#[derive(Clone, Debug)]
struct Checked {
    fields: Fields,
    /// `pseudo` is 1 when `:status` stands in front, else 0.
    marks: Marks,
}

impl ResponseHead {
    /// Validates the head of a response to send or (HTTP/1.1) received: regular fields only.
    ///
    /// # Errors
    /// The [`Violation`] of the first rule that a field breaks; [`Violation::StatusInvalid`] for a
    /// status out of range.
    pub fn new(status: u16, fields: Fields, version: Version) -> Result<Self, Violation> {
        let marks = Marks::of(&fields, version, 0)?;
        Self::with_status(status, fields, marks, version)
    }
    /// As [`new`](Self::new), in the memory of this head, whose fields were [taken](Self::take_fields).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn renew(
        mut self,
        status: u16,
        fields: Fields,
        version: Version,
    ) -> Result<Self, Violation> {
        let marks = Marks::of(&fields, version, 0)?;
        check_status(status, version)?;
        *self.checked = Checked { fields, marks };
        (self.status, self.reason) = (status, None);
        self.is_http10 = version == Version::Http10;
        Ok(self)
    }
    /// Takes the memory of its fields for the next head; what is left serves [`renew`](Self::renew) and
    /// nothing else.
    pub fn take_fields(&mut self) -> Fields {
        std::mem::take(&mut self.checked.fields)
    }
    /// Validates an HTTP/2 or HTTP/3 section that a peer sent: `:status` in front. A field whose
    /// value has blanks at an end, or a harmless control character, is left out.
    ///
    /// # Errors
    /// [`Violation::PseudoFieldMissing`] without `:status`; [`Violation::StatusInvalid`]; the
    /// [`Violation`] of the first rule that a field breaks.
    pub fn received(mut fields: Fields, version: Version) -> Result<Self, Violation> {
        let marks = Marks::of_received(&mut fields, version, PSEUDO_RESPONSE)?;
        let digits = match fields.at(0) {
            Some(field) if field.token == Some(Token::STATUS) => field.value,
            _ => return Err(Violation::PseudoFieldMissing),
        };
        if digits.len() != 3 {
            return Err(Violation::StatusInvalid);
        }
        let status = syntax::decimal(digits).ok_or(Violation::StatusInvalid)?;
        Self::with_status(status as u16, fields, marks, version)
    }
    fn with_status(
        status: u16,
        fields: Fields,
        marks: Marks,
        version: Version,
    ) -> Result<Self, Violation> {
        check_status(status, version)?;
        Ok(Self {
            status,
            checked: Box::new(Checked { fields, marks }),
            reason: None,
            is_http10: version == Version::Http10,
        })
    }
    /// HTTP/1.1: sets the reason phrase behind the status, in place of the standard one. Clients
    /// must ignore it (RFC 9112 section 4).
    ///
    /// # Errors
    /// [`Violation::FieldValueInvalid`] when it has a character that a field value cannot have.
    pub fn with_reason(mut self, reason: &[u8]) -> Result<Self, Violation> {
        self.set_reason(reason)?;
        Ok(self)
    }
    /// As [`with_reason`](Self::with_reason), in place.
    ///
    /// # Errors
    /// As [`with_reason`](Self::with_reason); the head stays as it was.
    pub fn set_reason(&mut self, reason: &[u8]) -> Result<(), Violation> {
        let is_good = |&byte: &u8| matches!(byte, b'\t' | b' '..=b'~' | 0x80..);
        if !reason.iter().all(is_good) {
            return Err(Violation::FieldValueInvalid);
        }
        self.reason = Some(reason.into());
        Ok(())
    }
    /// The reason phrase set with [`with_reason`](Self::with_reason); of a head received over
    /// HTTP/1.1 the peer's, where it is not the standard one.
    pub fn reason(&self) -> Option<&[u8]> {
        self.reason.as_deref()
    }
    /// The reason, or the usual words for the status (RFC 9110 section 15), which may be none.
    pub fn phrase(&self) -> &[u8] {
        self.reason()
            .unwrap_or_else(|| reason::usual(self.status).as_bytes())
    }
    /// The regular fields in order.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = Field<'_>> + ExactSizeIterator + Clone {
        self.checked
            .fields
            .iter_from(usize::from(self.checked.marks.pseudo))
    }
    /// The whole section, `:status` included where it came with one.
    pub fn section(&self) -> &Fields {
        &self.checked.fields
    }
    /// The first regular field with this token.
    pub fn get(&self, token: Token) -> Option<&[u8]> {
        self.checked.fields.get(token)
    }
    /// HTTP/1: whether the peer's version is 1.0 (RFC 9112 section 2.3).
    pub fn is_http10(&self) -> bool {
        self.is_http10
    }
    /// Whether it is a 1xx (RFC 9110 section 15.2).
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status)
    }
    /// The validated content-length.
    pub fn content_length(&self) -> Option<u64> {
        self.checked.marks.content_length
    }
    /// Whether the body is framed by transfer-encoding (HTTP/1.1 only).
    pub(crate) fn has_transfer_encoding(&self) -> bool {
        self.checked.marks.transfer_encoding
    }
    /// Takes the memory back for the next head.
    pub fn into_fields(self) -> Fields {
        self.checked.fields
    }
}

fn check_status(status: u16, version: Version) -> Result<(), Violation> {
    // RFC 9110 section 15: a client treats 600 to 999 as a server's error, so they are passed
    // on; they are in use.
    if !(100..=STATUS_MAX).contains(&status) {
        return Err(Violation::StatusInvalid);
    }
    if status == 101 && version.is_framed() {
        return Err(Violation::SwitchingProtocolsForbidden);
    }
    Ok(())
}
