//! Encoding of header blocks (RFC 7541 section 6).
//!
//! A field in a table takes one or two bytes; `policy` decides what enters ours. An equal head
//! under the same table is copied from `EncodeCache`.

use super::{TABLE_BYTES_INITIAL, static_table};
use crate::compress::encode_cache::{EncodeCache, HeadSection};
use crate::compress::policy::{self, Indexing, Sightings};
use crate::compress::table::{Table, entry_size};
use crate::compress::{integer, status_digits, status_field, text};
use crate::http::{Field, FieldName, Fields, RequestHead, ResponseHead, Token};
use crate::limits::HPACK_TABLE_BYTES_MAX;

/// The encoder of one connection.
///
/// Worst-case memory: 16 KiB for the table, 24 KiB for the remembered heads.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    /// Bytes of the table whatever the peer offers.
    table_bytes_max: u32,
    /// The table's maximum moved since the last block: to be announced with the next.
    resized: Option<Resized>,
    seen: Sightings,
    cache: EncodeCache,
}

/// A change of the table's maximum that the peer has not received, bytes.
#[derive(Clone, Copy, Debug)]
struct Resized {
    lowest: u32,
    last: u32,
}

impl Encoder {
    /// An encoder with the default table of RFC 7541 section 4.2 (4,096 bytes), the cap whatever
    /// the peer offers.
    #[allow(
        clippy::new_without_default,
        reason = "a connection's state is made on purpose"
    )]
    pub fn new() -> Self {
        Self {
            table: Table::new(TABLE_BYTES_INITIAL),
            table_bytes_max: HPACK_TABLE_BYTES_MAX as u32,
            resized: None,
            seen: Sightings::default(),
            cache: EncodeCache::default(),
        }
    }
    /// An encoder whose table has at most `bytes`, announced with its first block where that is less than the
    /// default.
    pub fn with_table_max(bytes: usize) -> Self {
        let mut encoder = Self::new();
        if bytes < HPACK_TABLE_BYTES_MAX {
            encoder.table_bytes_max = bytes as u32;
            encoder.set_peer_table_max(bytes as u32);
        }
        encoder
    }
    /// The peer's SETTINGS_HEADER_TABLE_SIZE: takes effect with the next block, announced there.
    pub fn set_peer_table_max(&mut self, bytes: u32) {
        let last = bytes.min(self.table_bytes_max);
        let lowest = self.resized.map_or(last, |before| before.lowest.min(last));
        self.resized = Some(Resized { lowest, last });
    }
    /// The table's size, by the count of RFC 7541 section 4.1.
    pub fn table_size(&self) -> usize {
        self.table.size()
    }
    /// Appends the block of a request.
    pub fn encode_request(&mut self, head: &RequestHead, out: &mut Vec<u8>) {
        self.put_section(HeadSection::of(head.section()), out);
    }
    /// Appends the block of a response: `:status`, then the regular fields. A head equal to one
    /// of the last costs a comparison and a copy.
    pub fn encode_response(&mut self, head: &ResponseHead, out: &mut Vec<u8>) {
        self.put_section(HeadSection::of_response(head), out);
    }
    /// Appends the block of a trailer section, or of any other that is not a head.
    pub fn encode_trailers(&mut self, fields: &Fields, out: &mut Vec<u8>) {
        self.put_section(HeadSection::of(fields), out);
    }
    /// Keeps what the protocol asks for, the table, and forgets what only saves time and bytes.
    pub fn release(&mut self) {
        self.table.release();
        self.seen.release();
        self.cache = EncodeCache::default();
    }

    /// The fields of `section`, behind its status if it has one; then a `:status` in the section
    /// is left out.
    fn put_section(&mut self, section: HeadSection<'_>, out: &mut Vec<u8>) {
        self.put_size_updates(out);
        let generation = self.table.generation();
        if let Some((block, ())) = self.cache.find(section, generation) {
            out.extend_from_slice(block);
            return;
        }
        let start = out.len();
        let status = section.status;
        let mut settled = true;
        if status != 0 {
            settled &= self.put_field(&status_field(&status_digits(status)), out);
        }
        for field in section.fields.iter() {
            if status == 0 || field.token != Some(Token::STATUS) {
                settled &= self.put_field(&field, out);
            }
        }
        if settled && self.table.generation() == generation {
            self.cache.keep(section, generation, &out[start..], ());
        }
    }

    /// RFC 7541 section 4.2: the lowest maximum since the last block, then the one that stands.
    fn put_size_updates(&mut self, out: &mut Vec<u8>) {
        let Some(Resized { lowest, last }) = self.resized.take() else {
            return;
        };
        let (lowest, last) = (lowest as usize, last as usize);
        if lowest < self.table.bytes_max() {
            integer::put(lowest, 5, SIZE_UPDATE, out);
            self.table.resize(lowest);
        }
        if last != self.table.bytes_max() {
            integer::put(last, 5, SIZE_UPDATE, out);
            self.table.resize(last);
        }
    }

    /// Appends one field. False if the next block with the same field will be another: it has
    /// been noted, and will be indexed when it comes again.
    fn put_field(&mut self, field: &Field<'_>, out: &mut Vec<u8>) -> bool {
        let name = field
            .token
            .map_or(FieldName::Bytes(field.name), FieldName::Token);
        let indexing = policy::indexing(field);
        if indexing == Indexing::Never {
            self.put_literal(NEVER_INDEXED, 4, name, field.value, out);
            return true;
        }
        let in_static = field
            .token
            .and_then(|token| static_table::find(token, field.value));
        if let Some(index) = in_static {
            integer::put(index, 7, INDEXED, out);
            return true;
        }
        let print = policy::print(field);
        if let Some(index) = self.table.find(name, field.value, print, 0) {
            integer::put(static_table::LEN + 1 + index, 7, INDEXED, out);
            return true;
        }
        // An entry that takes more than half of the table would push out all the others.
        let fits = entry_size(name, field.value) <= self.table.bytes_max() / 2;
        if !fits || (indexing == Indexing::Repeated && !self.seen.is_worth_an_entry(field, print)) {
            self.put_literal(NOT_INDEXED, 4, name, field.value, out);
            return !fits;
        }
        self.put_literal(INDEXED_LITERAL, 6, name, field.value, out);
        self.table.insert(name, field.value, print);
        true
    }

    fn put_literal(
        &self,
        flags: u8,
        prefix_bits: u32,
        name: FieldName<'_>,
        value: &[u8],
        out: &mut Vec<u8>,
    ) {
        match self.name_index(name) {
            Some(index) => integer::put(index, prefix_bits, flags, out),
            None => {
                out.push(flags);
                text::put(name.as_bytes(), 7, 0, out);
            }
        }
        text::put(value, 7, 0, out);
    }

    fn name_index(&self, name: FieldName<'_>) -> Option<usize> {
        if let FieldName::Token(token) = name {
            let first = static_table::span(token).first;
            if first != 0 {
                return Some(usize::from(first));
            }
        }
        let index = self.table.find_name(name, 0)?;
        Some(static_table::LEN + 1 + index)
    }
}

const INDEXED: u8 = 0x80;
const INDEXED_LITERAL: u8 = 0x40;
const SIZE_UPDATE: u8 = 0x20;
const NEVER_INDEXED: u8 = 0x10;
const NOT_INDEXED: u8 = 0x00;

#[cfg(test)]
#[path = "encode_test.rs"]
mod encode_test;
