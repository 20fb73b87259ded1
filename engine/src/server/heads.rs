//! The heads of an attendant's answers, made from text: names and values by turns, a zero between
//! two. Who answers many requests mostly answers some of them alike: a head that was made lately
//! is used again, and nothing of it is read or checked a second time.

use super::date::{date_until, with_date};
use super::number::number;
use super::respond::{Extra, is_of_the_connection, push_decimal};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::error::Violation;
use trunkline_core::http::{FieldName, Fields, ResponseHead, Token, Version};

/// Heads kept for the next one alike: a server has few that come again and again.
const KEPT_MAX: usize = 16;
/// Longer ones mostly say something new.
const KEPT_BYTES_MAX: usize = 2048;
/// Stands before the name of a field that no compressor may keep (RFC 7541 section 7.1.3).
const SENSITIVE: u8 = 1;

/// Makes the heads of a server's answers.
pub(super) struct Heads {
    extra: Arc<Extra>,
    kept: RefCell<[Option<Kept>; KEPT_MAX]>,
}

/// What a head is made of beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Making {
    pub(super) status: u16,
    pub(super) version: Version,
    /// To be said where the text says no content-length.
    pub(super) length: Option<u64>,
    /// The date is said where the text does not.
    pub(super) date: bool,
}

struct Kept {
    making: Making,
    text: Vec<u8>,
    good_until: Option<Instant>,
    head: Rc<ResponseHead>,
}

impl Heads {
    pub(super) fn new(extra: &Arc<Extra>) -> Self {
        Self {
            extra: Arc::clone(extra),
            kept: RefCell::default(),
        }
    }
    /// The head that `text` is.
    pub(super) fn make(
        &self,
        now: Instant,
        text: &[u8],
        making: Making,
    ) -> Result<Rc<ResponseHead>, Violation> {
        let place = text.len() + usize::from(making.status) + making.length.unwrap_or(7) as usize;
        let mut kept = self.kept.borrow_mut();
        let kept = &mut kept[place % KEPT_MAX];
        if let Some(kept) = kept
            && kept.making == making
            && kept.text == text
            && kept.good_until.is_none_or(|until| now < until)
        {
            if let Some(head) = Rc::get_mut(&mut kept.head) {
                number(head);
            }
            return Ok(Rc::clone(&kept.head));
        }
        let (fields, has_date) = self.fields(now, text, making);
        let head = Rc::new(ResponseHead::new(making.status, fields, making.version)?);
        if text.len() <= KEPT_BYTES_MAX {
            *kept = Some(Kept {
                making,
                text: text.to_vec(),
                good_until: has_date.then(|| date_until(now)),
                head: Rc::clone(&head),
            });
        }
        Ok(head)
    }
    /// The fields, and whether the date of now is among them.
    fn fields(&self, now: Instant, text: &[u8], making: Making) -> (Fields, bool) {
        let mut fields = Fields::with_capacity(FIELDS_USUAL, text.len() + ADDED_BYTES);
        let (mut has_length, mut has_date, mut has_alt_svc) = (false, false, false);
        let http1 = matches!(making.version, Version::Http10 | Version::Http11);
        for (name, value, sensitive) in pairs(text) {
            if let FieldName::Token(token) = name {
                match token {
                    Token::CONTENT_LENGTH => has_length = true,
                    Token::DATE => has_date = true,
                    Token::ALT_SVC => has_alt_svc = true,
                    _ if is_of_the_connection(token, http1) => continue,
                    _ => {}
                }
            }
            fields.push_with(name, sensitive, |bytes| bytes.extend_from_slice(value));
        }
        let adds_date = making.date && self.extra.date && !has_date;
        if adds_date {
            with_date(now, |date| fields.push(Token::DATE, date));
        }
        if !has_alt_svc
            && making.status >= 200
            && let Some(alt_svc) = self.extra.elsewhere(making.version)
        {
            fields.push(Token::ALT_SVC, alt_svc.as_bytes());
        }
        if let Some(length) = making.length.filter(|_| !has_length) {
            let name = FieldName::Token(Token::CONTENT_LENGTH);
            fields.push_with(name, false, |bytes| push_decimal(bytes, length));
        }
        (fields, adds_date)
    }
}

/// A trailer section from text.
pub(super) fn trailers(text: &[u8]) -> Fields {
    let mut fields = Fields::with_capacity(FIELDS_USUAL, text.len());
    for (name, value, sensitive) in pairs(text) {
        fields.push_with(name, sensitive, |bytes| bytes.extend_from_slice(value));
    }
    fields
}

/// Names and values of a text, and whether each is sensitive.
fn pairs(text: &[u8]) -> impl Iterator<Item = (FieldName<'_>, &[u8], bool)> {
    let mut pieces = text.split(|&byte| byte == 0);
    std::iter::from_fn(move || {
        let (name, value) = (pieces.next()?, pieces.next()?);
        let (name, sensitive) = match name.split_first() {
            Some((&SENSITIVE, name)) => (name, true),
            _ => (name, false),
        };
        Some((FieldName::of(name), value, sensitive))
    })
}

/// Fields of an ordinary answer.
const FIELDS_USUAL: usize = 8;
/// Bytes of what is added: a date, a length, another place.
const ADDED_BYTES: usize = 64;

#[cfg(test)]
#[path = "heads_test.rs"]
mod heads_test;
