//! Parses the response heads of the callback API: names and values in turn, separated by a zero
//! byte. Recently parsed heads are cached by their text, so an equal head is neither parsed nor
//! checked again.

use crate::server::response::number::number;
use crate::server::response::{AnswerOptions, HandlerFields, ServerFields};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::error::Violation;
use trunkline_core::http::{FieldName, Fields, ResponseHead, Version};

/// Heads kept for the next one alike: a server has few that come again and again.
const KEPT_MAX: usize = 16;
/// Longer ones mostly say something new.
const KEPT_BYTES_MAX: usize = 2048;
/// Stands before the name of a field that no compressor may keep (RFC 7541 section 7.1.3).
const SENSITIVE: u8 = 1;

/// Makes the heads of a server's answers.
pub(in crate::server) struct Heads {
    extra: Arc<AnswerOptions>,
    kept: RefCell<[Option<Kept>; KEPT_MAX]>,
}

/// The key of a head beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct HeadSpec {
    pub(in crate::server) status: u16,
    pub(in crate::server) version: Version,
    /// To be said where the text says no content-length.
    pub(in crate::server) length: Option<u64>,
    /// The date is said where the text does not.
    pub(in crate::server) date: bool,
}

struct Kept {
    head_spec: HeadSpec,
    reason: Vec<u8>,
    text: Vec<u8>,
    good_until: Option<Instant>,
    head: Rc<ResponseHead>,
}

impl Heads {
    pub(in crate::server) fn new(extra: &Arc<AnswerOptions>) -> Self {
        Self {
            extra: Arc::clone(extra),
            kept: RefCell::default(),
        }
    }
    /// The head that `text` is; HTTP/1.1 says `reason` behind the status, unless it is empty.
    pub(in crate::server) fn make(
        &self,
        now: Instant,
        reason: &[u8],
        text: &[u8],
        head_spec: HeadSpec,
    ) -> Result<Rc<ResponseHead>, Violation> {
        let place =
            text.len() + usize::from(head_spec.status) + head_spec.length.unwrap_or(7) as usize;
        let mut kept = self.kept.borrow_mut();
        let kept = &mut kept[place % KEPT_MAX];
        if let Some(kept) = kept
            && kept.head_spec == head_spec
            && kept.text == text
            && kept.reason == reason
            && kept.good_until.is_none_or(|until| now < until)
        {
            if let Some(head) = Rc::get_mut(&mut kept.head) {
                number(head);
            }
            return Ok(Rc::clone(&kept.head));
        }
        let (fields, good_until) = self.fields(now, text, head_spec);
        let mut head = ResponseHead::new(head_spec.status, fields, head_spec.version)?;
        if !reason.is_empty() && is_http1(head_spec.version) {
            head = head.with_reason(reason)?;
        }
        let head = Rc::new(head);
        if text.len() <= KEPT_BYTES_MAX {
            *kept = Some(Kept {
                head_spec,
                reason: reason.to_vec(),
                text: text.to_vec(),
                good_until,
                head: Rc::clone(&head),
            });
        }
        Ok(head)
    }
    /// The fields, and until when the date among them is that of now, if it is ours.
    fn fields(&self, now: Instant, text: &[u8], head_spec: HeadSpec) -> (Fields, Option<Instant>) {
        let mut fields = Fields::with_capacity(FIELDS_USUAL, text.len() + ADDED_BYTES);
        let mut printed = HandlerFields::default();
        let is_spelled = |name: &[u8]| name.iter().any(u8::is_ascii_uppercase);
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
        let elsewhere = self.extra.elsewhere(head_spec.version);
        let server_fields = ServerFields {
            date: head_spec.date && self.extra.date,
            alt_svc: elsewhere.filter(|_| head_spec.status >= 200),
            length: head_spec.length,
        };
        let good_until = server_fields.add_to(&mut fields, printed, now);
        (fields, good_until)
    }
}

fn is_http1(version: Version) -> bool {
    matches!(version, Version::Http10 | Version::Http11)
}

/// A trailer section from text, with names in lower case.
pub(in crate::server) fn trailers(text: &[u8]) -> Fields {
    let mut fields = Fields::with_capacity(FIELDS_USUAL, text.len());
    for (name, value, sensitive) in pairs(text) {
        let name = FieldName::of(name);
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
