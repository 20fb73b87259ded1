//! Caches the last response head built on this thread. Handlers usually repeat status and headers;
//! an identical response reuses the validated head.

use super::number::number;
use super::respond::Extra;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::http::{Fields, ResponseHead, Token, Version};

/// The key of a head, without its date.
#[derive(Clone, Copy)]
pub(super) struct Wording<'a> {
    pub(super) status: StatusCode,
    /// The handler's.
    pub(super) headers: &'a HeaderMap,
    /// Said where the handler does not.
    pub(super) length: Option<u64>,
    pub(super) version: Version,
    pub(super) extra: &'a Extra,
}

/// A head, and the version whose rules it met. It gets a number when it comes again.
#[derive(Debug)]
pub(super) struct LastAnswer {
    head: ResponseHead,
    version: Version,
    /// Until when its date is that of now, if it is ours.
    dated_until: Option<Instant>,
    /// How it was worded, once it came again.
    known: Option<Box<Known>>,
}

#[derive(Debug)]
struct Known {
    headers: Vec<(HeaderName, HeaderValue)>,
    length: Option<u64>,
    date: bool,
    alt_svc: Option<Arc<str>>,
}

impl LastAnswer {
    pub(super) fn new(head: ResponseHead, version: Version, dated_until: Option<Instant>) -> Self {
        Self {
            head,
            version,
            dated_until,
            known: None,
        }
    }
    pub(super) fn head(&self) -> &ResponseHead {
        &self.head
    }
    /// Takes the memory back for the next head.
    pub(super) fn into_fields(self) -> Fields {
        self.head.into_fields()
    }
    /// Whether a head worded like this is this one.
    pub(super) fn is_again(&mut self, wording: Wording<'_>, now: Instant) -> bool {
        if self.version != wording.version
            || self.head.status != wording.status.as_u16()
            || self.dated_until.is_some_and(|until| until <= now)
        {
            return false;
        }
        if let Some(known) = &self.known {
            return known.is_worded(wording);
        }
        let is_again = self.says(wording);
        if is_again {
            self.known = Some(Box::new(Known::of(wording)));
            number(&mut self.head);
        }
        is_again
    }
    /// Whether its fields are what the wording comes to, one by one.
    fn says(&self, wording: Wording<'_>) -> bool {
        let mut fields = self.head.fields();
        let mut adds_length = wording.length.is_some();
        let mut adds_date = wording.extra.date;
        let mut alt_svc = wording.extra.elsewhere(wording.version);
        for (name, value) in wording.headers {
            let Some(field) = fields.next() else {
                return false;
            };
            if field.value != value.as_bytes()
                || field.name != name.as_str().as_bytes()
                || field.sensitive != value.is_sensitive()
            {
                return false;
            }
            match field.token {
                Some(Token::CONTENT_LENGTH) => adds_length = false,
                Some(Token::DATE) => adds_date = false,
                Some(Token::ALT_SVC) => alt_svc = None,
                _ => {}
            }
        }
        let mut next_is = |token, value: Option<&[u8]>| {
            fields.next().is_some_and(|field| {
                field.token == Some(token) && value.is_none_or(|value| field.value == value)
            })
        };
        (!adds_date || self.dated_until.is_some() && next_is(Token::DATE, None))
            && alt_svc.is_none_or(|value| next_is(Token::ALT_SVC, Some(value.as_bytes())))
            && (!adds_length
                || self.head.content_length() == wording.length
                    && next_is(Token::CONTENT_LENGTH, None))
            && fields.next().is_none()
    }
}

impl Known {
    fn of(wording: Wording<'_>) -> Self {
        let headers = wording.headers.iter();
        let elsewhere = wording.extra.elsewhere(wording.version);
        Self {
            headers: headers
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            length: wording.length,
            date: wording.extra.date,
            alt_svc: elsewhere.map(Arc::from),
        }
    }
    #[inline]
    fn is_worded(&self, wording: Wording<'_>) -> bool {
        self.length == wording.length
            && self.date == wording.extra.date
            && self.alt_svc.as_deref() == wording.extra.elsewhere(wording.version)
            && self.headers.len() == wording.headers.len()
            && self
                .headers
                .iter()
                .zip(wording.headers)
                .all(|(known, (name, value))| known.0 == *name && is_same(&known.1, value))
    }
}

/// Usually both share one buffer, which cannot change while this cache holds it.
#[inline]
fn is_same(known: &HeaderValue, value: &HeaderValue) -> bool {
    let (one, other) = (known.as_bytes(), value.as_bytes());
    known.is_sensitive() == value.is_sensitive() && (std::ptr::eq(one, other) || one == other)
}

#[cfg(test)]
#[path = "last_answer_test.rs"]
mod last_answer_test;
