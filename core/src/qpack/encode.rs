//! Encoding of field sections and of the encoder stream (RFC 9204 sections 2.1, 4.3 and 4.5).
//!
//! A field in a table takes one or two bytes; `compress/policy.rs` decides what enters ours, as in
//! HPACK. A section refers to an entry that the peer has not acknowledged only where the peer lets
//! streams block, and then on a few streams: one lost packet of the encoder stream delays those and
//! no others. An equal head under the same table is copied from `EncodeCache`.

use super::field_line::{
    BASE_BEHIND, INDEXED, INDEXED_POST, INDEXED_STATIC, LITERAL, LITERAL_NEVER, NAMED, NAMED_NEVER,
    NAMED_POST_NEVER, NAMED_STATIC,
};
use super::instruction::{self, Feedback, handle_pieces};
use super::references::{Reach, References};
use super::static_table;
use super::table::{DecoderTable, entry_size};
use crate::compress::encode_cache::{EncodeCache, HeadSection};
use crate::compress::policy::{self, Indexing, Sightings};
use crate::compress::{integer, status_digits, status_field, text};
use crate::error::Violation;
use crate::http::field::FIELD_OVERHEAD_BYTES;
use crate::http::{Field, FieldName, Fields, RequestHead, ResponseHead, StreamId, Token};
use crate::limits::{QPACK_BLOCKED_STREAMS_MAX, QPACK_TABLE_BYTES_MAX};

/// Unsent instructions, bytes: above it no entry is added to the table. The peer may give its
/// encoder stream no credit (RFC 9204 section 2.1.3).
const INSTRUCTION_BYTES_MAX: usize = 8 * 1024;
/// The part of the table that is kept free of references: entries that the next insertions of
/// this share of it push out are named no more, but copied to the front (RFC 9204 section
/// 2.1.1.1).
const DRAINING_SHARE: usize = 4;

/// The encoder of one connection.
///
/// Worst-case memory: 16 KiB for the table, 8 KiB for the sections under way, 24 KiB for the
/// remembered heads, 16 KiB for instructions not yet taken.
#[derive(Debug)]
pub struct Encoder {
    table: DecoderTable,
    /// The most entries that the peer's table can have (RFC 9204 section 4.5.1.1): by what it
    /// allows, not by what we use.
    entries_max: u64,
    blocked_streams_max: usize,
    references: References,
    /// Entries below this are about to be evicted.
    draining_below: u64,
    /// For the encoder stream.
    instructions: Vec<u8>,
    /// The start of an instruction of the peer's decoder stream.
    pending: Vec<u8>,
    seen: Sightings,
    cache: EncodeCache<Reach>,
    /// The lines of a section, while what it needs is not known.
    lines: Vec<u8>,
    /// An entry on its way to the front of the table.
    copy: Vec<u8>,
}

/// A section while it is written.
#[derive(Clone, Copy, Debug)]
struct Draft {
    base: u64,
    /// Entries below this may be named.
    usable_below: u64,
    reach: Reach,
}

impl Encoder {
    /// An encoder that uses the static table alone until the peer's SETTINGS arrive.
    #[allow(
        clippy::new_without_default,
        reason = "a connection's state is made on purpose"
    )]
    pub fn new() -> Self {
        Self {
            table: DecoderTable::new(),
            entries_max: 0,
            blocked_streams_max: 0,
            references: References::default(),
            draining_below: 0,
            instructions: Vec::new(),
            pending: Vec::new(),
            seen: Sightings::default(),
            cache: EncodeCache::default(),
            lines: Vec::new(),
            copy: Vec::new(),
        }
    }
    /// The peer's SETTINGS_QPACK_MAX_TABLE_CAPACITY (bytes) and SETTINGS_QPACK_BLOCKED_STREAMS.
    /// Our table is at most [`QPACK_TABLE_BYTES_MAX`] whatever it offers, and as large as the
    /// first offer above 0 for good (RFC 9204 section 3.2.3 lets none follow it that differs).
    pub fn set_peer(&mut self, capacity_max: u64, blocked_streams_max: u64) {
        let cap = QPACK_BLOCKED_STREAMS_MAX as u64;
        self.blocked_streams_max = blocked_streams_max.min(cap) as usize;
        let entries_max = capacity_max / FIELD_OVERHEAD_BYTES as u64;
        if self.entries_max == 0 && entries_max > 0 {
            self.entries_max = entries_max;
            let capacity = capacity_max.min(QPACK_TABLE_BYTES_MAX as u64) as usize;
            self.table.set_capacity(capacity);
            instruction::put_capacity(capacity, &mut self.instructions);
        }
    }
    /// Appends the section of a request to be sent on `stream`. What
    /// [`encoder_stream_bytes`](Self::encoder_stream_bytes) gives then should go out before it.
    pub fn encode_request(&mut self, stream: StreamId, head: &RequestHead, out: &mut Vec<u8>) {
        self.put_section(stream, HeadSection::of(head.section()), out);
    }
    /// Appends the section of a response: `:status`, then the regular fields. A head equal to
    /// one of the last costs a comparison and a copy.
    pub fn encode_response(&mut self, stream: StreamId, head: &ResponseHead, out: &mut Vec<u8>) {
        self.put_section(stream, HeadSection::of_response(head), out);
    }
    /// Appends a trailer section, or any other that is not a head.
    pub fn encode_trailers(&mut self, stream: StreamId, fields: &Fields, out: &mut Vec<u8>) {
        self.put_section(stream, HeadSection::of(fields), out);
    }
    /// Appends what is to be sent on our encoder stream since the last call.
    pub fn encoder_stream_bytes(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.instructions);
    }
    /// Handles bytes of the peer's decoder stream, in any pieces.
    ///
    /// # Errors
    /// [`Violation::QpackDecoderStreamInvalid`], a connection error.
    pub fn handle_decoder_bytes(&mut self, bytes: &[u8]) -> Result<(), Violation> {
        let (references, inserted) = (&mut self.references, self.table.inserted());
        let handled = handle_pieces(&mut self.pending, bytes, |input| {
            match Feedback::take(input)? {
                Some(Feedback::Acknowledged(stream)) => references.acknowledge(stream)?,
                Some(Feedback::Cancelled(stream)) => references.cancel(stream),
                Some(Feedback::Inserted(count)) => references.receive(count, inserted)?,
                None => return Ok(false),
            }
            Ok(true)
        });
        handled.map_err(|_| Violation::QpackDecoderStreamInvalid)
    }
    /// The fields of `section`, behind its status if it has one; then a `:status` in the section
    /// is left out.
    fn put_section(&mut self, stream: StreamId, section: HeadSection<'_>, out: &mut Vec<u8>) {
        let generation = self.generation();
        if let Some((block, reach)) = self.cache.find(section, generation)
            && self
                .references
                .may_name(reach, stream.0, self.blocked_streams_max)
        {
            out.extend_from_slice(block);
            self.note_sent(stream, reach);
            return;
        }
        let usable_below = self.usable_below(stream);
        let mut draft = Draft {
            base: self.table.inserted(),
            usable_below,
            reach: Reach::default(),
        };
        self.lines.clear();
        let status = section.status;
        let mut settled = true;
        if status != 0 {
            settled &= self.put_field(&status_field(&status_digits(status)), &mut draft);
        }
        for field in section.fields.iter() {
            if status == 0 || field.token != Some(Token::STATUS) {
                settled &= self.put_field(&field, &mut draft);
            }
        }
        let start = out.len();
        self.put_prefix(&draft, out);
        out.extend_from_slice(&self.lines);
        self.note_sent(stream, draft.reach);
        if settled && self.generation() == generation {
            let block = &out[start..];
            self.cache.keep(section, generation, block, draft.reach);
        }
    }

    /// Entries below it may be named by a section of `stream` that starts now.
    fn usable_below(&self, stream: StreamId) -> u64 {
        if !self.references.has_room() {
            0
        } else if self
            .references
            .may_block(stream.0, self.blocked_streams_max)
        {
            u64::MAX
        } else {
            self.references.known_received()
        }
    }
    /// Equal numbers mean that an equal section has an equal block: both counts only grow.
    fn generation(&self) -> u64 {
        self.table.generation() + self.references.known_received()
    }
    fn note_sent(&mut self, stream: StreamId, reach: Reach) {
        if reach.required > 0 {
            self.references.add(stream.0, reach);
        }
    }

    /// RFC 9204 section 4.5.1.
    fn put_prefix(&self, draft: &Draft, out: &mut Vec<u8>) {
        let required = draft.reach.required;
        if required == 0 {
            out.extend_from_slice(&[0, 0]);
            return;
        }
        integer::put_long(required % (2 * self.entries_max) + 1, 8, 0, out);
        match draft.base.checked_sub(required) {
            Some(ahead) => integer::put_long(ahead, 7, 0, out),
            None => integer::put_long(required - draft.base - 1, 7, BASE_BEHIND, out),
        }
    }

    /// Appends one field to the lines. False if the next section with the same field may be
    /// another: it has been noted, or could not enter the table, or could not be named yet.
    fn put_field(&mut self, field: &Field<'_>, draft: &mut Draft) -> bool {
        let name = field
            .token
            .map_or(FieldName::Bytes(field.name), FieldName::Token);
        let indexing = policy::indexing(field);
        if indexing == Indexing::Never {
            self.put_literal(name, field.value, true, draft);
            return true;
        }
        let in_static = field
            .token
            .and_then(|token| static_table::find(token, field.value));
        if let Some(row) = in_static {
            integer::put(row, 6, INDEXED | INDEXED_STATIC, &mut self.lines);
            return true;
        }
        let print = policy::print(field);
        if let Some(place) = self.table.find(name, field.value, print, u64::MAX) {
            return self.put_known(name, field.value, print, place, draft);
        }
        // An entry that takes more than half of the table would push out all the others.
        let fits = entry_size(name, field.value) <= self.table.capacity() / 2;
        let wanted =
            fits && (indexing == Indexing::Always || self.seen.is_worth_an_entry(field, print));
        if wanted
            && let Some(place) = self.insert(name, field.value, print, draft)
            && place < draft.usable_below
        {
            self.put_indexed(place, draft);
            return true;
        }
        self.put_literal(name, field.value, false, draft);
        !fits
    }

    /// A field that the table has, its newest copy at `newest`.
    fn put_known(
        &mut self,
        name: FieldName<'_>,
        value: &[u8],
        print: u32,
        newest: u64,
        draft: &mut Draft,
    ) -> bool {
        if newest < self.draining_below {
            let copied = self.duplicate(newest, print, draft);
            if let Some(place) = copied.filter(|place| *place < draft.usable_below) {
                self.put_indexed(place, draft);
                return true;
            }
        }
        // Either the newest, or an older copy that the peer is known to have.
        match self.table.find(name, value, print, draft.usable_below) {
            Some(place) => {
                self.put_indexed(place, draft);
                place >= self.draining_below
            }
            None => {
                self.put_literal(name, value, false, draft);
                false
            }
        }
    }

    /// An entry of the table (RFC 9204 sections 4.5.2 and 4.5.3).
    fn put_indexed(&mut self, place: u64, draft: &mut Draft) {
        draft.reach.extend(place);
        match place.checked_sub(draft.base) {
            Some(ahead) => integer::put_long(ahead, 4, INDEXED_POST, &mut self.lines),
            None => integer::put_long(draft.base - place - 1, 6, INDEXED, &mut self.lines),
        }
    }

    /// A literal, its name from a table where one has it (RFC 9204 sections 4.5.4 to 4.5.6).
    fn put_literal(&mut self, name: FieldName<'_>, value: &[u8], never: bool, draft: &mut Draft) {
        let flag = |bit: u8| if never { bit } else { 0 };
        let lines = &mut self.lines;
        if let Some(row) = static_row(name) {
            integer::put(row, 4, NAMED | NAMED_STATIC | flag(NAMED_NEVER), lines);
        } else if let Some(place) = self
            .table
            .find_name(name, draft.usable_below)
            .filter(|place| *place >= self.draining_below)
        {
            draft.reach.extend(place);
            match place.checked_sub(draft.base) {
                Some(ahead) => integer::put_long(ahead, 3, flag(NAMED_POST_NEVER), lines),
                None => {
                    let behind = draft.base - place - 1;
                    integer::put_long(behind, 4, NAMED | flag(NAMED_NEVER), lines);
                }
            }
        } else {
            text::put(name.as_bytes(), 3, LITERAL | flag(LITERAL_NEVER), lines);
        }
        text::put(value, 7, 0, &mut self.lines);
    }

    /// Puts a field into the table and says so on the encoder stream; `None` if there is no room
    /// without evicting what is needed.
    fn insert(
        &mut self,
        name: FieldName<'_>,
        value: &[u8],
        print: u32,
        draft: &Draft,
    ) -> Option<u64> {
        if !self.has_room(entry_size(name, value), draft) {
            return None;
        }
        let place = self.table.inserted();
        let out = &mut self.instructions;
        if let Some(row) = static_row(name) {
            instruction::put_insert_static(row, value, out);
        } else if let Some(named) = self.table.find_name(name, u64::MAX) {
            instruction::put_insert_dynamic(place - 1 - named, value, out);
        } else {
            instruction::put_insert(name, value, out);
        }
        let inserted = self.table.insert(name, value, print);
        debug_assert!(inserted, "no larger than the table");
        self.note_inserted();
        Some(place)
    }

    /// Copies an entry that is about to be evicted to the front of the table.
    fn duplicate(&mut self, old: u64, print: u32, draft: &Draft) -> Option<u64> {
        let (name, value) = self.table.get(old)?;
        if !self.has_room(entry_size(name, value), draft) {
            return None;
        }
        let place = self.table.inserted();
        instruction::put_duplicate(place - 1 - old, &mut self.instructions);
        self.copy.clear();
        let token = match name {
            FieldName::Token(token) => Some(token),
            FieldName::Bytes(bytes) => {
                self.copy.extend_from_slice(bytes);
                None
            }
        };
        let name_len = self.copy.len();
        self.copy.extend_from_slice(value);
        let (name, value) = self.copy.split_at(name_len);
        let name = token.map_or(FieldName::Bytes(name), FieldName::Token);
        let inserted = self.table.insert(name, value, print);
        debug_assert!(inserted, "it was in the table before");
        self.note_inserted();
        Some(place)
    }

    /// Whether an entry of `size` bytes may be added: no entry that the peer lacks or that is
    /// referenced may be evicted for it (RFC 9204 section 2.1.1), and the instructions must be
    /// read.
    fn has_room(&self, size: usize, draft: &Draft) -> bool {
        if self.instructions.len() + size > INSTRUCTION_BYTES_MAX {
            return false;
        }
        let mut evictable_below = self.references.evictable_below();
        if draft.reach.required > 0 {
            evictable_below = evictable_below.min(draft.reach.lowest);
        }
        self.table.lowest_after(size) <= evictable_below
    }
    fn note_inserted(&mut self) {
        let share = self.table.capacity() / DRAINING_SHARE;
        self.draining_below = self.table.lowest_after(share);
    }
}

fn static_row(name: FieldName<'_>) -> Option<usize> {
    match name {
        FieldName::Token(token) => static_table::find_name(token),
        FieldName::Bytes(_) => None,
    }
}

#[cfg(test)]
#[path = "encode_test.rs"]
mod encode_test;
