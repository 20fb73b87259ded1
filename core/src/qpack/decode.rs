//! Decoding of field sections and of the encoder stream (RFC 9204 sections 2.2, 4.3 and 4.5).
//!
//! Every field goes straight into the arena of [`Fields`]. No section changes the table, so one
//! that exceeds a limit is not read any further (CVE-2016-6581, CVE-2026-49975). A section that
//! needs missing insertions is blocked: a copy of its bytes is kept, bounded in number and size.

use super::field_line::{
    BASE_BEHIND, INDEXED, INDEXED_POST, INDEXED_POST_MASK, INDEXED_STATIC, LITERAL, LITERAL_NEVER,
    NAMED, NAMED_NEVER, NAMED_POST_NEVER, NAMED_STATIC,
};
use super::instruction::{Feedback, InstructionBounds, TableInstruction, handle_pieces};
use super::static_table;
use super::table::DecoderTable;
use crate::compress::integer;
use crate::compress::table::SOUND;
use crate::compress::text::LiteralText;
use crate::error::Violation;
use crate::http::field::FIELD_OVERHEAD_BYTES;
use crate::http::head::is_sound;
use crate::http::{FieldName, Fields, StreamId, Token};
use crate::limits::{Limits, QPACK_BLOCKED_BYTES_MAX};

/// The decoder of one connection.
///
/// Worst-case memory with the default table: 12 KiB for the table, 80 KiB for an instruction in
/// pieces and its text, [`QPACK_BLOCKED_BYTES_MAX`] for sections that wait.
#[derive(Clone, Debug)]
pub struct Decoder {
    table: DecoderTable,
    /// SETTINGS_QPACK_MAX_TABLE_CAPACITY, bytes.
    capacity_max: usize,
    /// SETTINGS_QPACK_BLOCKED_STREAMS.
    blocked_streams_max: usize,
    /// The start of an encoder instruction.
    pending: Vec<u8>,
    /// Sections that came too early, in the order they came.
    blocked: Vec<BlockedSection>,
    blocked_bytes: usize,
    /// Insertions that the encoder knows to have arrived.
    known_received: u64,
    /// Acknowledgements and cancellations not yet taken.
    feedback: Vec<u8>,
    /// Name and value of an entry while it is put together.
    name: Vec<u8>,
    value: Vec<u8>,
}

/// A section whose insertions are on their way.
#[derive(Clone, Debug)]
struct BlockedSection {
    stream: StreamId,
    /// Kept, because the count on the wire means something else after more insertions.
    prefix: Prefix,
    lines: Vec<u8>,
}

/// The outcome of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedSection {
    /// The fields are complete.
    Complete,
    /// The section broke a limit (a stream error): the fields are not to be used.
    Refused(Violation),
    /// The section needs insertions that have not arrived: the decoder keeps it, and
    /// [`poll_unblocked`](Decoder::poll_unblocked) gives its fields. Until then nothing more of
    /// its stream may be read.
    Blocked,
}

impl Decoder {
    /// A decoder for what our SETTINGS say: a table of at most `capacity_max` bytes, and at most
    /// `blocked_streams_max` streams that wait for it.
    pub fn new(capacity_max: usize, blocked_streams_max: usize) -> Self {
        Self {
            table: DecoderTable::new(),
            capacity_max,
            blocked_streams_max,
            pending: Vec::new(),
            blocked: Vec::new(),
            blocked_bytes: 0,
            known_received: 0,
            feedback: Vec::new(),
            name: Vec::new(),
            value: Vec::new(),
        }
    }
    /// Handles bytes of the peer's encoder stream, in any pieces.
    ///
    /// # Errors
    /// [`Violation::QpackEncoderStreamInvalid`], a connection error.
    pub fn handle_encoder_bytes(&mut self, bytes: &[u8]) -> Result<(), Violation> {
        let mut pending = std::mem::take(&mut self.pending);
        let handled = handle_pieces(&mut pending, bytes, |input| {
            let bounds = InstructionBounds {
                // A Huffman code has at most 30 bits for a byte: what is longer fits no entry.
                literal_bytes_max: self.capacity_max * 4,
                inserted: self.table.inserted(),
            };
            match TableInstruction::take(input, bounds)? {
                Some(instruction) => self.apply(instruction).map(|()| true),
                None => Ok(false),
            }
        });
        self.pending = pending;
        handled.map_err(|_| Violation::QpackEncoderStreamInvalid)
    }
    /// Decodes one whole section of `stream` into `fields` (cleared first), or keeps it if it is
    /// blocked.
    ///
    /// # Errors
    /// [`Violation::QpackDecompressionFailed`], a connection error.
    pub fn decode(
        &mut self,
        stream: StreamId,
        section: &[u8],
        limits: &Limits,
        fields: &mut Fields,
    ) -> Result<DecodedSection, Violation> {
        fields.clear();
        let mut input = section;
        let prefix = self.take_prefix(&mut input).map_err(failed)?;
        if prefix.required > self.table.inserted() {
            return self.hold(stream, prefix, input);
        }
        self.finish(stream, prefix, input, limits, fields)
    }
    /// Equal stamps mean that an equal section means the same fields.
    pub(crate) fn stamp(&self) -> u64 {
        self.table.generation()
    }
    /// A section of `stream` need not be decoded: it is one that was, under the same
    /// [`stamp`](Self::stamp).
    pub(crate) fn handle_again(&mut self, stream: StreamId, section: &[u8]) {
        // RFC 9204 section 4.5.1.1: a count of 0, which names no entry, is written as it is.
        if section.first() != Some(&0) {
            Feedback::Acknowledged(stream.0).put(&mut self.feedback);
        }
    }
    /// Decodes into `fields` the next held section whose insertions have arrived. To be called
    /// until it gives `None` after every [`handle_encoder_bytes`](Self::handle_encoder_bytes).
    ///
    /// # Errors
    /// [`Violation::QpackDecompressionFailed`], a connection error.
    pub fn poll_unblocked(
        &mut self,
        limits: &Limits,
        fields: &mut Fields,
    ) -> Result<Option<(StreamId, DecodedSection)>, Violation> {
        let inserted = self.table.inserted();
        let Some(at) = self
            .blocked
            .iter()
            .position(|blocked| blocked.prefix.required <= inserted)
        else {
            return Ok(None);
        };
        let blocked = self.blocked.remove(at);
        self.blocked_bytes -= blocked.lines.len();
        fields.clear();
        let decoded = self.finish(
            blocked.stream,
            blocked.prefix,
            &blocked.lines,
            limits,
            fields,
        )?;
        Ok(Some((blocked.stream, decoded)))
    }
    /// Nothing more of `stream` will be decoded: it was reset, or we stopped reading it before
    /// its end. Frees what the peer's encoder kept for it (RFC 9204 section 2.2.2.2).
    pub fn cancel(&mut self, stream: StreamId) {
        self.blocked.retain(|blocked| blocked.stream != stream);
        self.blocked_bytes = self.blocked.iter().map(|blocked| blocked.lines.len()).sum();
        if self.capacity_max > 0 {
            Feedback::Cancelled(stream.0).put(&mut self.feedback);
        }
    }
    /// Appends what is to be sent on our decoder stream: acknowledgements and cancellations since
    /// the last call, and one count of the insertions that no acknowledgement covered (RFC 9204
    /// section 4.4).
    pub fn decoder_stream_bytes(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.feedback);
        let news = self.table.inserted() - self.known_received;
        if news > 0 {
            Feedback::Inserted(news).put(out);
            self.known_received = self.table.inserted();
        }
    }
    /// How many streams are blocked now.
    pub fn blocked_streams(&self) -> usize {
        self.blocked.len()
    }

    /// Decodes the lines of a section whose insertions are all there.
    fn finish(
        &mut self,
        stream: StreamId,
        prefix: Prefix,
        lines: &[u8],
        limits: &Limits,
        fields: &mut Fields,
    ) -> Result<DecodedSection, Violation> {
        let decoded = self
            .take_field_lines(prefix, lines, limits, fields)
            .map_err(failed)?;
        if prefix.required > 0 {
            // A refused section is done with too: nothing will look at the table for it.
            Feedback::Acknowledged(stream.0).put(&mut self.feedback);
            self.known_received = self.known_received.max(prefix.required);
        }
        Ok(decoded)
    }

    /// RFC 9204 section 2.1.2: more blocked streams than we allow are an error.
    fn hold(
        &mut self,
        stream: StreamId,
        prefix: Prefix,
        lines: &[u8],
    ) -> Result<DecodedSection, Violation> {
        if self.blocked.len() >= self.blocked_streams_max {
            return Err(Violation::QpackDecompressionFailed);
        }
        if self.blocked_bytes + lines.len() > QPACK_BLOCKED_BYTES_MAX {
            self.cancel(stream);
            return Ok(DecodedSection::Refused(Violation::QpackBlockedTooLarge));
        }
        self.blocked_bytes += lines.len();
        self.blocked.push(BlockedSection {
            stream,
            prefix,
            lines: lines.to_vec(),
        });
        Ok(DecodedSection::Blocked)
    }

    fn apply(&mut self, instruction: TableInstruction<'_>) -> Result<(), Violation> {
        let inserted = match instruction {
            TableInstruction::SetCapacity(bytes) => {
                // RFC 9204 section 4.3.1.
                if bytes > self.capacity_max as u64 {
                    return Err(Violation::CompressionInvalid);
                }
                self.table.set_capacity(bytes as usize);
                true
            }
            TableInstruction::InsertNamed {
                is_static: true,
                index,
                value,
            } => {
                let name = FieldName::Token(static_row(index)?.0);
                insert(&mut self.table, name, value.bytes(&mut self.value)?)
            }
            TableInstruction::InsertNamed { index, value, .. } => {
                // Copied, because the insertion may evict the entry (RFC 9204 section 3.2.2).
                let (name, _) = newest_but(&self.table, index)?;
                let name = kept(name, &mut self.name);
                insert(&mut self.table, name, value.bytes(&mut self.value)?)
            }
            TableInstruction::Insert { name, value } => {
                let name = FieldName::of(name.bytes(&mut self.name)?);
                insert(&mut self.table, name, value.bytes(&mut self.value)?)
            }
            TableInstruction::Duplicate(index) => {
                let (name, value) = newest_but(&self.table, index)?;
                let name = kept(name, &mut self.name);
                self.value.clear();
                self.value.extend_from_slice(value);
                insert(&mut self.table, name, &self.value)
            }
        };
        // RFC 9204 section 3.2.2: an entry larger than the capacity is an error.
        if inserted {
            Ok(())
        } else {
            Err(Violation::CompressionInvalid)
        }
    }

    /// The Required Insert Count and Base (RFC 9204 section 4.5.1).
    fn take_prefix(&self, input: &mut &[u8]) -> Result<Prefix, Violation> {
        let required = self.required(take_whole(input, 8)?)?;
        let is_behind = input.first().is_some_and(|first| first & BASE_BEHIND != 0);
        let delta = take_whole(input, 7)?;
        let base = if is_behind {
            // RFC 9204 section 4.5.1.2: the Base is not negative.
            required
                .checked_sub(delta)
                .and_then(|base| base.checked_sub(1))
                .ok_or(Violation::CompressionInvalid)?
        } else {
            // Both are below 2^63.
            required + delta
        };
        Ok(Prefix { required, base })
    }

    /// RFC 9204 section 4.5.1.1: the count came modulo twice the most entries of a table.
    fn required(&self, encoded: u64) -> Result<u64, Violation> {
        if encoded == 0 {
            return Ok(0);
        }
        let entries_max = (self.capacity_max / FIELD_OVERHEAD_BYTES) as u64;
        let full_range = 2 * entries_max;
        if encoded > full_range {
            return Err(Violation::CompressionInvalid);
        }
        let highest = self.table.inserted() + entries_max;
        let mut required = highest / full_range * full_range + encoded - 1;
        if required > highest {
            required = required
                .checked_sub(full_range)
                .ok_or(Violation::CompressionInvalid)?;
        }
        if required == 0 {
            return Err(Violation::CompressionInvalid);
        }
        Ok(required)
    }

    /// The field lines of a section (RFC 9204 section 4.5.2 to 4.5.6).
    fn take_field_lines(
        &mut self,
        prefix: Prefix,
        mut input: &[u8],
        limits: &Limits,
        fields: &mut Fields,
    ) -> Result<DecodedSection, Violation> {
        while let Some(&first) = input.first() {
            if fields.len() == limits.field_count_max {
                fields.clear();
                return Ok(DecodedSection::Refused(Violation::FieldsTooMany));
            }
            if first & INDEXED != 0 {
                let index = take_whole(&mut input, 6)?;
                if first & INDEXED_STATIC != 0 {
                    let (token, value) = static_row(index)?;
                    fields.push_known(FieldName::Token(token), value.as_bytes(), true);
                } else {
                    self.take_entry(prefix, prefix.relative(index)?, fields)?;
                }
            } else if first & INDEXED_POST_MASK == INDEXED_POST {
                let index = take_whole(&mut input, 4)?;
                self.take_entry(prefix, prefix.post_base(index)?, fields)?;
            } else {
                self.take_literal(prefix, first, &mut input, fields)?;
            }
            if fields.size() > limits.field_section_bytes_max {
                fields.clear();
                return Ok(DecodedSection::Refused(Violation::FieldSectionTooLarge));
            }
        }
        Ok(DecodedSection::Complete)
    }

    fn take_literal(
        &mut self,
        prefix: Prefix,
        first: u8,
        input: &mut &[u8],
        fields: &mut Fields,
    ) -> Result<(), Violation> {
        let (name, sensitive) = if first & NAMED != 0 {
            let index = take_whole(input, 4)?;
            let name = if first & NAMED_STATIC != 0 {
                FieldName::Token(static_row(index)?.0)
            } else {
                entry(&self.table, prefix, prefix.relative(index)?)?.0
            };
            (name, first & NAMED_NEVER != 0)
        } else if first & LITERAL != 0 {
            let name = LiteralText::take(input, 3)?;
            let name = FieldName::of(name.bytes(&mut self.name)?);
            (name, first & LITERAL_NEVER != 0)
        } else {
            let index = take_whole(input, 3)?;
            let name = entry(&self.table, prefix, prefix.post_base(index)?)?.0;
            (name, first & NAMED_POST_NEVER != 0)
        };
        let value = LiteralText::take(input, 7)?;
        fields.push_with(name, sensitive, |bytes| value.write(bytes))
    }

    #[inline]
    fn take_entry(
        &self,
        prefix: Prefix,
        absolute: u64,
        fields: &mut Fields,
    ) -> Result<(), Violation> {
        let (name, value, note) = entry(&self.table, prefix, absolute)?;
        fields.push_known(name, value, note == SOUND);
        Ok(())
    }
}

/// False, if the entry is larger than the table.
fn insert(table: &mut DecoderTable, name: FieldName<'_>, value: &[u8]) -> bool {
    let note = if is_sound(name, value) { SOUND } else { 0 };
    table.insert(name, value, note)
}

/// The entry with `age` newer ones: how the encoder stream counts (RFC 9204 section 3.2.5).
fn newest_but(table: &DecoderTable, age: u64) -> Result<(FieldName<'_>, &[u8]), Violation> {
    let absolute = table
        .inserted()
        .checked_sub(age)
        .and_then(|at| at.checked_sub(1));
    absolute
        .and_then(|absolute| table.get(absolute))
        .ok_or(Violation::CompressionInvalid)
}

/// RFC 9204 section 2.2.3: an entry that is evicted, or beyond what the section says it needs.
#[inline]
fn entry(
    table: &DecoderTable,
    prefix: Prefix,
    absolute: u64,
) -> Result<(FieldName<'_>, &[u8], u32), Violation> {
    if absolute >= prefix.required {
        return Err(Violation::CompressionInvalid);
    }
    table
        .get_noted(absolute)
        .ok_or(Violation::CompressionInvalid)
}

fn static_row(index: u64) -> Result<(Token, &'static str), Violation> {
    let row = usize::try_from(index).ok();
    row.and_then(|row| static_table::ROWS.get(row).copied())
        .ok_or(Violation::CompressionInvalid)
}

/// `name`, its bytes in `space`.
fn kept<'a>(name: FieldName<'_>, space: &'a mut Vec<u8>) -> FieldName<'a> {
    match name {
        FieldName::Token(token) => FieldName::Token(token),
        FieldName::Bytes(bytes) => {
            space.clear();
            space.extend_from_slice(bytes);
            FieldName::Bytes(space)
        }
    }
}

/// An integer of a section, which is all there.
#[inline]
fn take_whole(input: &mut &[u8], prefix_bits: u32) -> Result<u64, Violation> {
    integer::take_long(input, prefix_bits)?.ok_or(Violation::CompressionInvalid)
}

fn failed(_: Violation) -> Violation {
    Violation::QpackDecompressionFailed
}

/// The prefix of a section.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    /// Insertions that the section needs; 0 if it does not name the table.
    required: u64,
    base: u64,
}

impl Prefix {
    /// RFC 9204 section 3.2.5: counted back from the Base.
    #[inline]
    fn relative(self, index: u64) -> Result<u64, Violation> {
        let absolute = self
            .base
            .checked_sub(index)
            .and_then(|at| at.checked_sub(1));
        absolute.ok_or(Violation::CompressionInvalid)
    }
    /// RFC 9204 section 3.2.6: counted on from the Base.
    #[inline]
    fn post_base(self, index: u64) -> Result<u64, Violation> {
        self.base
            .checked_add(index)
            .ok_or(Violation::CompressionInvalid)
    }
}

#[cfg(test)]
#[path = "decode_test.rs"]
mod decode_test;
