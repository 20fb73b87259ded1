//! Alternative services (Alt-Svc, RFC 7838), restricted to HTTP/3 on the same host, and their
//! outcomes: an alternative that did not answer is avoided for a time that grows with each failure.
//!
//! Alternatives on another host are ignored, because nothing proves that the advertiser may direct
//! traffic to that address.

use super::{Origin, Scheme};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long an alternative stands that does not say so (RFC 7838 section 3.1).
const MAX_AGE_DEFAULT: Duration = Duration::from_secs(24 * 3600);
/// The longest that an alternative is cached: a year-long value predicts little about next month.
const MAX_AGE_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
/// Origins remembered; beyond them the one that ends first is forgotten.
const ORIGINS_MAX: usize = 1024;
/// Bytes of a field that are looked at.
const FIELD_BYTES_MAX: usize = 4096;
/// QUIC's head start before TCP is tried beside it: more than a round trip nearly everywhere, less
/// than a person notices.
pub const QUIC_HEAD_START: Duration = Duration::from_millis(200);
/// How long an alternative is left alone after it failed for the first time; doubled each time.
const BROKEN_FIRST: Duration = Duration::from_secs(60);
/// The longest that it is left alone.
const BROKEN_MAX: Duration = Duration::from_secs(24 * 3600);

/// The content of an Alt-Svc field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AltSvc {
    /// `clear`: forget all.
    Clear,
    /// HTTP/3 is served on this port of the same host.
    Http3 {
        /// The UDP port, never 0.
        port: u16,
        /// How long it may be cached.
        max_age: Duration,
    },
    /// Nothing that we could use. It still replaces what was said before (RFC 7838 section 3).
    Nothing,
}

impl AltSvc {
    /// Reads a field's value; the first usable alternative counts (they stand in order of
    /// preference). `host`: the origin's. `None`: it cannot be read and says nothing at all.
    pub fn parse(value: &[u8], host: &str) -> Option<Self> {
        let text = std::str::from_utf8(value.get(..FIELD_BYTES_MAX).unwrap_or(value)).ok()?;
        let mut rest = Scanner(text.trim_matches(BLANK));
        if rest.0 == "clear" {
            return Some(Self::Clear);
        }
        let mut found = Self::Nothing;
        loop {
            let alternative = rest.alternative()?;
            if found == Self::Nothing
                && let Some(port) = alternative.http3_port(host)
                && alternative.max_age > Duration::ZERO
            {
                found = Self::Http3 {
                    port,
                    max_age: alternative.max_age.min(MAX_AGE_MAX),
                };
            }
            match rest.skip(',') {
                true => {}
                false if rest.0.is_empty() => return Some(found),
                false => return None,
            }
        }
    }
}

struct Alternative<'a> {
    protocol: &'a str,
    authority: &'a str,
    max_age: Duration,
}

impl Alternative<'_> {
    fn http3_port(&self, host: &str) -> Option<u16> {
        let (named, port) = self.authority.rsplit_once(':')?;
        let named = named.trim_start_matches('[').trim_end_matches(']');
        let here = named.is_empty() || named.eq_ignore_ascii_case(host);
        let port = port.parse().ok().filter(|port| *port != 0)?;
        (self.protocol == "h3" && here).then_some(port)
    }
}

const BLANK: [char; 2] = [' ', '\t'];

/// The text not yet read.
struct Scanner<'a>(&'a str);

impl<'a> Scanner<'a> {
    /// RFC 7838 section 3: `protocol-id "=" alt-authority *( OWS ";" OWS parameter )`.
    fn alternative(&mut self) -> Option<Alternative<'a>> {
        let protocol = self.token()?;
        let authority = self.value()?;
        let mut max_age = MAX_AGE_DEFAULT;
        while self.skip(';') {
            let (name, value) = (self.token()?, self.value()?);
            if name == "ma" {
                max_age = Duration::from_secs(value.parse().ok()?);
            }
        }
        Some(Alternative {
            protocol,
            authority,
            max_age,
        })
    }
    fn token(&mut self) -> Option<&'a str> {
        self.0 = self.0.trim_start_matches(BLANK);
        let end = self
            .0
            .find(|c: char| !(c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)))
            .unwrap_or(self.0.len());
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        (!token.is_empty()).then_some(token)
    }
    /// `=` and a token or a quoted string. No value that concerns us has an escape in it; one that
    /// has ends at the wrong place and is not used.
    fn value(&mut self) -> Option<&'a str> {
        self.0 = self.0.strip_prefix('=')?;
        let Some(quoted) = self.0.strip_prefix('"') else {
            return self.token();
        };
        let (value, rest) = quoted.split_once('"')?;
        self.0 = rest;
        Some(value)
    }
    fn skip(&mut self, mark: char) -> bool {
        let trimmed = self.0.trim_start_matches(BLANK);
        match trimmed.strip_prefix(mark) {
            Some(rest) => self.0 = rest,
            None => self.0 = trimmed.trim_end_matches(BLANK),
        }
        trimmed.starts_with(mark)
    }
}

/// The alternatives of all origins of a client.
#[derive(Debug, Default)]
pub struct Alternatives {
    origins: BTreeMap<(Box<str>, u16), KnownAlternative>,
}

#[derive(Clone, Copy, Debug, Default)]
struct KnownAlternative {
    /// The UDP port and until when it stands.
    http3: Option<(u16, Instant)>,
    /// Left alone until then.
    broken_until: Option<Instant>,
    /// How often it failed in a row.
    failures: u32,
}

impl Alternatives {
    /// A cache without an entry.
    pub fn new() -> Self {
        Self::default()
    }
    /// A response of `origin` had this field. Only fields over TLS count: on `http` any attacker
    /// could have set them (RFC 7838 section 2.1). True: HTTP/3 can be used that was unknown
    /// before.
    pub fn learn(&mut self, now: Instant, origin: &Origin, value: &[u8]) -> bool {
        if origin.scheme != Scheme::Https {
            return false;
        }
        let Some(value_of_field) = AltSvc::parse(value, &origin.host) else {
            return false;
        };
        self.apply(now, origin, value_of_field)
    }
    /// The origin's HTTPS record (RFC 9460) says that HTTP/3 is served on `port` of its host, and
    /// stands for `ttl`. What failed before stays left alone.
    pub fn learn_record(&mut self, now: Instant, origin: &Origin, port: u16, ttl: Duration) {
        let max_age = ttl.min(MAX_AGE_MAX);
        let _ = self.apply(now, origin, AltSvc::Http3 { port, max_age });
    }
    fn apply(&mut self, now: Instant, origin: &Origin, value_of_field: AltSvc) -> bool {
        let key = (origin.host.clone(), origin.port);
        let was_usable = self.http3_port(now, origin).is_some();
        match value_of_field {
            AltSvc::Http3 { port, max_age } => {
                self.make_room(&key);
                let known = self.origins.entry(key).or_default();
                known.http3 = Some((port, now + max_age));
                !was_usable && self.http3_port(now, origin).is_some()
            }
            AltSvc::Clear | AltSvc::Nothing => {
                if let Some(known) = self.origins.get_mut(&key) {
                    // That it failed is our own experience and stays.
                    known.http3 = None;
                    if known.failures == 0 {
                        self.origins.remove(&key);
                    }
                }
                false
            }
        }
    }
    /// The UDP port to try for `origin`, if one is known that is neither out of date nor broken.
    pub fn http3_port(&self, now: Instant, origin: &Origin) -> Option<u16> {
        let known = self.origins.get(&(origin.host.clone(), origin.port))?;
        let broken = known.broken_until.is_some_and(|until| now < until);
        let (port, until) = known.http3?;
        (now < until && !broken).then_some(port)
    }
    /// QUIC did not get through, or not in time.
    pub fn handle_failed(&mut self, now: Instant, origin: &Origin) {
        if let Some(known) = self.known_mut(origin) {
            let wait = BROKEN_FIRST
                .saturating_mul(1 << known.failures.min(31))
                .min(BROKEN_MAX);
            known.failures = known.failures.saturating_add(1);
            known.broken_until = Some(now + wait);
        }
    }
    /// QUIC got through.
    pub fn handle_connected(&mut self, origin: &Origin) {
        if let Some(known) = self.known_mut(origin) {
            known.failures = 0;
            known.broken_until = None;
        }
    }
    /// The machine has another network: what failed on the one before says nothing.
    pub fn handle_network_change(&mut self) {
        for known in self.origins.values_mut() {
            known.failures = 0;
            known.broken_until = None;
        }
    }
    /// How many origins are remembered.
    pub fn len(&self) -> usize {
        self.origins.len()
    }
    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }
    fn known_mut(&mut self, origin: &Origin) -> Option<&mut KnownAlternative> {
        self.origins.get_mut(&(origin.host.clone(), origin.port))
    }
    fn make_room(&mut self, key: &(Box<str>, u16)) {
        if self.origins.len() < ORIGINS_MAX || self.origins.contains_key(key) {
            return;
        }
        let ends = |known: &KnownAlternative| known.http3.map(|(_, until)| until);
        let first = self.origins.iter().min_by_key(|(_, known)| ends(known));
        if let Some(key) = first.map(|(key, _)| key.clone()) {
            self.origins.remove(&key);
        }
    }
}

#[cfg(test)]
#[path = "alt_svc_test.rs"]
mod alt_svc_test;
