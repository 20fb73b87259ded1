//! Caches the last response head built on this thread. Handlers usually repeat status and headers;
//! an identical response reuses the validated head.

use super::AnswerOptions;
use super::number::number;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::http::{Fields, ResponseHead, Token, Version};

/// The key of a head, without its date.
#[derive(Clone, Copy)]
pub(in crate::server) struct HeadKey<'a> {
    pub(in crate::server) status: StatusCode,
    /// The handler's.
    pub(in crate::server) headers: &'a HeaderMap,
    /// Said where the handler does not.
    pub(in crate::server) length: Option<u64>,
    pub(in crate::server) version: Version,
    pub(in crate::server) extra: &'a AnswerOptions,
}

/// A head, and the version whose rules it met. It gets a number when it comes again.
#[derive(Debug)]
pub(in crate::server) struct LastAnswer {
    head: ResponseHead,
    version: Version,
    /// Until when its date is that of now, if it is ours.
    dated_until: Option<Instant>,
    /// How it was worded, once it came again.
    known: Option<Box<KnownAnswer>>,
}

#[derive(Debug)]
struct KnownAnswer {
    headers: Vec<(HeaderName, HeaderValue)>,
    length: Option<u64>,
    date: bool,
    alt_svc: Option<Arc<str>>,
}

impl LastAnswer {
    pub(in crate::server) fn new(
        head: ResponseHead,
        version: Version,
        dated_until: Option<Instant>,
    ) -> Self {
        Self {
            head,
            version,
            dated_until,
            known: None,
        }
    }
    pub(in crate::server) fn head(&self) -> &ResponseHead {
        &self.head
    }
    /// Takes the memory back for the next head.
    pub(super) fn into_fields(self) -> Fields {
        self.head.into_fields()
    }
    /// Whether a head worded like this is this one.
    pub(super) fn is_again(&mut self, head_key: HeadKey<'_>, now: Instant) -> bool {
        if self.version != head_key.version
            || self.head.status != head_key.status.as_u16()
            || self.dated_until.is_some_and(|until| until <= now)
        {
            return false;
        }
        if let Some(known) = &self.known {
            return known.is_worded(head_key);
        }
        let is_again = self.matches(head_key);
        if is_again {
            self.known = Some(Box::new(KnownAnswer::of(head_key)));
            number(&mut self.head);
        }
        is_again
    }
    /// Whether its fields are what the wording comes to, one by one.
    fn matches(&self, head_key: HeadKey<'_>) -> bool {
        let mut fields = self.head.fields();
        let mut adds_length = head_key.length.is_some();
        let mut adds_date = head_key.extra.date;
        let mut alt_svc = head_key.extra.elsewhere(head_key.version);
        for (name, value) in head_key.headers {
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
                || self.head.content_length() == head_key.length
                    && next_is(Token::CONTENT_LENGTH, None))
            && fields.next().is_none()
    }
}

impl KnownAnswer {
    fn of(head_key: HeadKey<'_>) -> Self {
        let headers = head_key.headers.iter();
        let elsewhere = head_key.extra.elsewhere(head_key.version);
        Self {
            headers: headers
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            length: head_key.length,
            date: head_key.extra.date,
            alt_svc: elsewhere.map(Arc::from),
        }
    }
    #[inline]
    fn is_worded(&self, head_key: HeadKey<'_>) -> bool {
        self.length == head_key.length
            && self.date == head_key.extra.date
            && self.alt_svc.as_deref() == head_key.extra.elsewhere(head_key.version)
            && self.headers.len() == head_key.headers.len()
            && self
                .headers
                .iter()
                .zip(head_key.headers)
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
