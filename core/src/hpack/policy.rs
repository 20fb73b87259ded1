//! Which fields an encoder puts into its table. A table of 4 KiB holds some 60 entries; one that
//! is never named again pushes out one that would be.

use crate::http::{Field, Token};

/// How a field is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexing {
    /// Into the table at once: its value is the same on most messages of a connection.
    Always,
    /// Into the table when the same field comes a second time.
    Repeated,
    /// Neither by us nor by anybody who passes it on (RFC 7541 section 7.1.3): compression would
    /// let an attacker guess the value bit by bit.
    Never,
}

/// A shorter cookie has too little entropy to be safe in a compressor (RFC 7541 section 7.1.3).
const COOKIE_BYTES_MIN: usize = 20;

/// How to treat `field`.
///
/// `date` is among the repeated ones: on a busy connection one insertion a second makes it one
/// byte on all other responses of that second, on a quiet one it never comes twice and never
/// enters. Names without a token are too: `x-request-id` must not fill the table, and a constant
/// field costs its length only once more.
pub(super) fn indexing(field: &Field<'_>) -> Indexing {
    if field.sensitive {
        return Indexing::Never;
    }
    let Some(token) = field.token else {
        return Indexing::Repeated;
    };
    match token {
        Token::AUTHORIZATION | Token::PROXY_AUTHORIZATION | Token::SET_COOKIE => Indexing::Never,
        Token::COOKIE if field.value.len() < COOKIE_BYTES_MIN => Indexing::Never,
        Token::AGE
        | Token::CONTENT_DISPOSITION
        | Token::CONTENT_LENGTH
        | Token::CONTENT_LOCATION
        | Token::CONTENT_RANGE
        | Token::DATE
        | Token::ETAG
        | Token::EXPIRES
        | Token::FORWARDED
        | Token::IF_MATCH
        | Token::IF_MODIFIED_SINCE
        | Token::IF_NONE_MATCH
        | Token::IF_RANGE
        | Token::IF_UNMODIFIED_SINCE
        | Token::LAST_MODIFIED
        | Token::LINK
        | Token::LOCATION
        | Token::PATH
        | Token::RANGE
        | Token::REFERER
        | Token::X_FORWARDED_FOR => Indexing::Repeated,
        _ => Indexing::Always,
    }
}

/// The fields seen lately, one print per place: says whether a field comes again. A field whose
/// print another has overwritten counts as new, and costs its length once more.
#[derive(Debug)]
pub(super) struct Sightings {
    prints: [u32; SIGHTINGS],
}

const SIGHTINGS: usize = 64;

impl Sightings {
    pub(super) fn new() -> Self {
        Self {
            prints: [0; SIGHTINGS],
        }
    }
    /// Notes a field by its print; true if it is the one noted last in its place.
    pub(super) fn note(&mut self, print: u32) -> bool {
        let place = &mut self.prints[print as usize % SIGHTINGS];
        std::mem::replace(place, print) == print
    }
}

/// A number that equal fields share and others seldom do; never 0. Not keyed: a peer that makes
/// two fields meet costs a comparison.
pub(super) fn print(field: &Field<'_>) -> u32 {
    let start = match field.token {
        Some(token) => token.index() as u64 + 1,
        None => mix_bytes(0, field.name),
    };
    let mixed = mix_bytes(start, field.value);
    (mixed >> 32) as u32 | 1 << 31
}

fn mix_bytes(start: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut mixed = mix(start, bytes.len() as u64);
    for word in words {
        mixed = mix(mixed, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mixed, u64::from_le_bytes(last))
}

fn mix(state: u64, word: u64) -> u64 {
    // An odd number near 2^64 divided by the golden ratio spreads each bit over those above it.
    (state.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
