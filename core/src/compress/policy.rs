//! The policy of what an encoder inserts into its dynamic table. A table of 4 KiB holds some 60
//! entries, and one that is never referenced evicts one that would be.

use crate::http::{Field, Token};

/// How a field is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indexing {
    /// Into the table at once: its value is the same on most messages of a connection.
    Always,
    /// Into the table when it is worth an entry: see [`Sightings::is_worth_an_entry`].
    Repeated,
    /// Neither by us nor by any intermediary (RFC 7541 section 7.1.3): compression would let an
    /// attacker guess the value bit by bit.
    Never,
}

/// A shorter cookie has too little entropy to be safe in a compressor (RFC 7541 section 7.1.3).
const COOKIE_BYTES_MIN: usize = 20;

/// How to treat `field`.
///
/// `date` is among the repeated ones: on a busy connection one insertion a second makes it one
/// byte on all other responses of that second, on a quiet one it never comes twice and does not
/// push out what does. Names without a token are too: `x-request-id` must not fill the table.
pub(crate) fn indexing(field: &Field<'_>) -> Indexing {
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
        | Token::X_FORWARDED_FOR => Indexing::Repeated,
        _ => Indexing::Always,
    }
}

/// Hashes of recently sent fields: a guess that costs some bytes when it is wrong, never an error.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    /// Nothing until the first field that asks: most of a connection that idles.
    places: Option<Box<SeenFields>>,
}

#[derive(Debug)]
struct SeenFields {
    /// One bit per name, by its print. Two names that share one count as known together.
    names: [u64; NAME_BITS / 64],
    /// The fields seen lately, one print per place; the last one stands.
    fields: [u32; FIELDS_SEEN],
}

const NAME_BITS: usize = 256;
const FIELDS_SEEN: usize = 128;

impl Default for SeenFields {
    fn default() -> Self {
        Self {
            names: [0; NAME_BITS / 64],
            fields: [0; FIELDS_SEEN],
        }
    }
}

impl Sightings {
    /// Notes a [`Repeated`](Indexing::Repeated) field and says whether it should enter the table:
    /// when it came before, or when its name never did. So a name whose value stays the same
    /// enters with its first field, and one whose value always changes enters once.
    pub(crate) fn is_worth_an_entry(&mut self, field: &Field<'_>, print: u32) -> bool {
        let places = self.places.get_or_insert_default();
        let is_name_known = places.note_name(print_of_name(field));
        let is_field_known = places.note_field(print);
        !is_name_known || is_field_known
    }
    /// Forgets all of it and gives the memory back.
    pub(crate) fn release(&mut self) {
        self.places = None;
    }
}

impl SeenFields {
    fn note_name(&mut self, print: u32) -> bool {
        let at = print as usize % NAME_BITS;
        let (word, bit) = (&mut self.names[at / 64], 1 << (at % 64));
        let is_known = *word & bit != 0;
        *word |= bit;
        is_known
    }
    fn note_field(&mut self, print: u32) -> bool {
        let place = &mut self.fields[print as usize % FIELDS_SEEN];
        std::mem::replace(place, print) == print
    }
}

/// A number that equal fields share and others seldom do; never 0. Not keyed: a peer that makes
/// two fields meet costs a comparison.
pub(crate) fn print(field: &Field<'_>) -> u32 {
    fold(mix_bytes(mix_name(field), field.value))
}

fn print_of_name(field: &Field<'_>) -> u32 {
    fold(mix(mix_name(field), 0))
}

fn mix_name(field: &Field<'_>) -> u64 {
    match field.token {
        Some(token) => token.index() as u64 + 1,
        None => mix_bytes(0, field.name),
    }
}

fn fold(mixed: u64) -> u32 {
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
