//! Parses the response heads of the callback API: names and values in turn, separated by a zero
//! byte.

use crate::server::response::{AnswerOptions, HandlerFields, ServerFields};
use std::borrow::Cow;
use std::time::Instant;
use trunkline_core::error::Violation;
use trunkline_core::http::{FieldName, Fields, ResponseHead, Version};

/// Stands before the name of a field that no compressor may keep (RFC 7541 section 7.1.3).
const SENSITIVE: u8 = 1;

/// The facts of a head that its text does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct HeadSpec {
    pub(in crate::server) status: u16,
    pub(in crate::server) version: Version,
    /// To be said where the text says no content-length.
    pub(in crate::server) length: Option<u64>,
    /// The date is said where the text does not.
    pub(in crate::server) date: bool,
}

impl AnswerOptions {
    /// The head that `text` is; HTTP/1.1 says `reason` behind the status, or the usual words.
    pub(in crate::server) fn make_head(
        &self,
        now: Instant,
        reason: Option<&[u8]>,
        text: &[u8],
        head_spec: HeadSpec,
    ) -> Result<ResponseHead, Violation> {
        let fields = self.head_fields(now, text, head_spec);
        let mut head = ResponseHead::new(head_spec.status, fields, head_spec.version)?;
        if let Some(reason) = reason
            && is_http1(head_spec.version)
        {
            head = head.with_reason(reason)?;
        }
        Ok(head)
    }
    fn head_fields(&self, now: Instant, text: &[u8], head_spec: HeadSpec) -> Fields {
        let mut fields = Fields::with_capacity(FIELDS_USUAL, text.len() + ADDED_BYTES);
        let mut printed = HandlerFields::default();
        let spells = is_http1(head_spec.version) && pairs(text).any(|(name, ..)| is_spelled(name));
        for (spelled, value, sensitive) in pairs(text) {
            let lower = match spells {
                true => Cow::Owned(spelled.to_ascii_lowercase()),
                false => Cow::Borrowed(spelled),
            };
            let name = FieldName::of(&lower);
            if printed.note(name, value, head_spec.status, head_spec.version) {
                if spells {
                    fields.spell(spelled);
                }
                fields.push_with(name, sensitive, |bytes| bytes.extend_from_slice(value));
            }
        }
        let elsewhere = self.elsewhere(head_spec.version);
        let server_fields = ServerFields {
            date: head_spec.date && self.date,
            alt_svc: elsewhere.filter(|_| head_spec.status >= 200),
            length: head_spec.length,
        };
        server_fields.add_to(&mut fields, printed, now);
        fields
    }
}

fn is_http1(version: Version) -> bool {
    matches!(version, Version::Http10 | Version::Http11)
}

fn is_spelled(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase)
}

/// A trailer section from text. Names are spelled as they are where one has a capital, which
/// HTTP/1.1 alone sends.
pub(in crate::server) fn trailers(text: &[u8]) -> Fields {
    let mut fields = Fields::with_capacity(FIELDS_USUAL, text.len());
    let spells = pairs(text).any(|(name, ..)| is_spelled(name));
    for (spelled, value, sensitive) in pairs(text) {
        let lower = match spells {
            true => Cow::Owned(spelled.to_ascii_lowercase()),
            false => Cow::Borrowed(spelled),
        };
        if spells {
            fields.spell(spelled);
        }
        let name = FieldName::of(&lower);
        fields.push_with(name, sensitive, |bytes| bytes.extend_from_slice(value));
    }
    fields
}

/// Names and values of a text, and whether each is sensitive.
fn pairs(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8], bool)> {
    let mut pieces = text.split(|&byte| byte == 0);
    std::iter::from_fn(move || {
        let (name, value) = (pieces.next()?, pieces.next()?);
        let (name, sensitive) = match name.split_first() {
            Some((&SENSITIVE, name)) => (name, true),
            _ => (name, false),
        };
        Some((name, value, sensitive))
    })
}

/// Fields of an ordinary answer.
const FIELDS_USUAL: usize = 8;
/// Bytes of what is added: a date, a length, another place.
const ADDED_BYTES: usize = 64;

#[cfg(test)]
#[path = "heads_test.rs"]
mod heads_test;
