//! Decoding of header blocks (RFC 7541 section 3 and 6).
//!
//! Every field goes straight into the arena of [`Fields`]. A block that exceeds a limit is still
//! decoded to its end, because all streams of the connection share the table; its further fields
//! are dropped, so that a small block cannot use much memory (CVE-2016-6581, CVE-2026-49975).

use super::{TABLE_BYTES_INITIAL, static_table};
use crate::compress::table::{SOUND, Table};
use crate::compress::{integer, text::LiteralText};
use crate::error::Violation;
use crate::http::head::is_sound;
use crate::http::{Field, FieldName, Fields, Token};
use crate::limits::Limits;

/// The decoder of one connection.
///
/// Worst-case memory: three times the table's maximum, and the longest name of a block.
#[derive(Clone, Debug)]
pub struct Decoder {
    table: Table,
    /// The advertised and acknowledged bound of the peer's size updates, bytes.
    table_bytes_max: usize,
    /// We advertised less than the table has: the next block must start with an update to this
    /// or less (RFC 7541 section 4.2).
    shrink_due: Option<usize>,
    /// A Huffman-coded name while its field is put together.
    name: Vec<u8>,
    /// The block that was refused last is the head of a gRPC call.
    has_refused_call: bool,
}

/// The result of a block; the table is in step in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedBlock {
    /// The fields are complete.
    Complete,
    /// The block broke a limit (a stream error): the table was kept in step, the fields are not
    /// to be used.
    Refused(Violation),
}

impl Decoder {
    /// A decoder whose table holds at most `table_bytes_max`, a value in force from the first block
    /// on: 4,096, the protocol's default, unless the peer has acknowledged another. A value of our
    /// SETTINGS goes to [`set_table_max`](Self::set_table_max) when the peer acknowledges it.
    pub fn new(table_bytes_max: usize) -> Self {
        Self {
            table: Table::new(table_bytes_max.min(TABLE_BYTES_INITIAL)),
            table_bytes_max,
            shrink_due: None,
            name: Vec::new(),
            has_refused_call: false,
        }
    }
    /// The peer acknowledged our SETTINGS_HEADER_TABLE_SIZE of `bytes`. Less than its table has
    /// now means that its next block must announce the smaller size.
    pub fn set_table_max(&mut self, bytes: usize) {
        self.table_bytes_max = bytes;
        if bytes < self.table.bytes_max() {
            self.shrink_due = Some(self.shrink_due.map_or(bytes, |due| due.min(bytes)));
        }
    }
    /// The table's size, by the count of RFC 7541 section 4.1.
    pub fn table_size(&self) -> usize {
        self.table.size()
    }
    /// Decodes one whole block into `fields` (cleared first).
    ///
    /// # Errors
    /// [`Violation::CompressionInvalid`], a connection error.
    pub fn decode(
        &mut self,
        block: &[u8],
        limits: &Limits,
        fields: &mut Fields,
    ) -> Result<DecodedBlock, Violation> {
        fields.clear();
        let mut input = self.take_size_updates(block)?;
        while let Some(&first) = input.first() {
            if fields.len() == limits.field_count_max {
                return self.refuse(input, Violation::FieldsTooMany, fields);
            }
            if first & INDEXED != 0 {
                self.take_indexed(integer::take(&mut input, 7)?, fields)?;
            } else {
                self.take_literal(first, &mut input, fields)?;
            }
            if fields.size() > limits.field_section_bytes_max {
                return self.refuse(input, Violation::FieldSectionTooLarge, fields);
            }
        }
        Ok(DecodedBlock::Complete)
    }
    /// Whether the block that was refused last is the head of a gRPC call, by its content-type.
    pub(crate) fn has_refused_call(&self) -> bool {
        self.has_refused_call
    }
    /// Equal stamps mean that an equal block without size updates means the same fields and does the
    /// same to the table. `None`: the next block must announce a smaller table.
    pub(crate) fn stamp(&self) -> Option<u64> {
        self.shrink_due.is_none().then(|| self.table.generation())
    }
    /// Whether `block` begins by changing the size of the table.
    pub(crate) fn resizes(block: &[u8]) -> bool {
        let first = block.first();
        first.is_some_and(|first| first & SIZE_UPDATE_MASK == SIZE_UPDATE)
    }
    /// Gives back what is not an entry of the table.
    pub fn release(&mut self) {
        self.table.release();
        self.name = Vec::new();
    }

    /// RFC 7541 section 4.2: size updates stand at the start of a block, and one must if we
    /// shrank the table. None is above what we advertised (section 6.3).
    fn take_size_updates<'a>(&mut self, block: &'a [u8]) -> Result<&'a [u8], Violation> {
        let mut input = block;
        while let Some(&first) = input.first() {
            if first & SIZE_UPDATE_MASK != SIZE_UPDATE {
                if self.shrink_due.is_some() {
                    return Err(Violation::CompressionInvalid);
                }
                break;
            }
            let bytes_max = integer::take(&mut input, 5)?;
            if bytes_max > self.table_bytes_max {
                return Err(Violation::CompressionInvalid);
            }
            if self.shrink_due.is_some_and(|due| bytes_max <= due) {
                self.shrink_due = None;
            }
            self.table.resize(bytes_max);
        }
        Ok(input)
    }

    /// An indexed field (RFC 7541 section 6.1).
    #[inline]
    fn take_indexed(&self, index: usize, fields: &mut Fields) -> Result<(), Violation> {
        if let Some(dynamic) = index.checked_sub(static_table::LEN + 1) {
            let entry = self.table.get_noted(dynamic);
            let (name, value, note) = entry.ok_or(Violation::CompressionInvalid)?;
            fields.push_known(name, value, note == SOUND);
        } else {
            let (name, value) = self.entry(index)?;
            fields.push_known(name, value, true);
        }
        Ok(())
    }

    /// A literal field (RFC 7541 section 6.2): into `fields`, and into the table if it says so.
    fn take_literal(
        &mut self,
        first: u8,
        input: &mut &[u8],
        fields: &mut Fields,
    ) -> Result<(), Violation> {
        let kind = Literal::of(first)?;
        let name_index = integer::take(input, kind.prefix_bits())?;
        let name = if name_index == 0 {
            let name = LiteralText::take(input, 7)?;
            FieldName::of(name.bytes(&mut self.name)?)
        } else {
            entry(&self.table, name_index)?.0
        };
        let value = LiteralText::take(input, 7)?;
        fields.push_with(name, kind == Literal::NeverIndexed, |bytes| {
            value.write(bytes)
        })?;
        if kind == Literal::Indexed && self.enter_last(fields) {
            fields.mark_last_sound();
        }
        Ok(())
    }

    /// Puts the last of `fields` into the table; says whether it [`is_sound`], which is found out
    /// here and not each time that the entry is named.
    fn enter_last(&mut self, fields: &Fields) -> bool {
        let Some(field) = fields.iter().next_back() else {
            return false;
        };
        // From the arena, not from the table: the insertion may evict the entry that the
        // name came from (RFC 7541 section 4.4).
        let name = match field.token {
            Some(token) => FieldName::Token(token),
            None => FieldName::Bytes(field.name),
        };
        let sound = is_sound(name, field.value);
        let note = if sound { SOUND } else { 0 };
        self.table.insert(name, field.value, note);
        sound
    }

    /// Decodes the rest of a block for the table alone; `fields` holds one field at a time, and
    /// only those that the table wants.
    #[cold]
    fn refuse(
        &mut self,
        mut input: &[u8],
        violation: Violation,
        fields: &mut Fields,
    ) -> Result<DecodedBlock, Violation> {
        let of_call = |field: Field<'_>| is_of_call(field.token, field.value);
        self.has_refused_call = fields.iter().any(of_call);
        while let Some(&first) = input.first() {
            fields.clear();
            self.has_refused_call |= if first & INDEXED != 0 {
                let (name, value) = self.entry(integer::take(&mut input, 7)?)?;
                is_of_call(name.token(), value)
            } else if Literal::of(first)? == Literal::Indexed {
                self.take_literal(first, &mut input, fields)?;
                fields.iter().any(of_call)
            } else {
                self.skip_literal(&mut input)?
            };
        }
        fields.clear();
        Ok(DecodedBlock::Refused(violation))
    }

    /// Checks a literal that the table does not want; whether it is that of a gRPC call. Its name is
    /// not copied: one byte may refer to the whole table.
    fn skip_literal(&mut self, input: &mut &[u8]) -> Result<bool, Violation> {
        let name_index = integer::take(input, 4)?;
        let token = if name_index == 0 {
            let name = LiteralText::take(input, 7)?;
            FieldName::of(name.bytes(&mut self.name)?).token()
        } else {
            self.entry(name_index)?.0.token()
        };
        let value = LiteralText::take(input, 7)?;
        Ok(is_of_call(token, value.bytes(&mut self.name)?))
    }

    fn entry(&self, index: usize) -> Result<(FieldName<'_>, &[u8]), Violation> {
        entry(&self.table, index)
    }
}

/// Whether a field is the content-type of a gRPC call ("gRPC over HTTP2", Requests). gRPC-Web is another: a browser reads the status of
/// HTTP.
fn is_of_call(token: Option<Token>, value: &[u8]) -> bool {
    let kind = || value.strip_prefix(b"application/grpc");
    token == Some(Token::CONTENT_TYPE)
        && kind().is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// The entry at an index of both tables (RFC 7541 section 2.3.3): 0 is none.
#[inline]
fn entry(table: &Table, index: usize) -> Result<(FieldName<'_>, &[u8]), Violation> {
    if let Some(dynamic) = index.checked_sub(static_table::LEN + 1) {
        return table.get(dynamic).ok_or(Violation::CompressionInvalid);
    }
    let row = index.checked_sub(1).ok_or(Violation::CompressionInvalid)?;
    let (token, value): (Token, &str) = static_table::ROWS[row];
    Ok((FieldName::Token(token), value.as_bytes()))
}

/// How a literal wants to be treated (RFC 7541 section 6.2.1 to 6.2.3).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Literal {
    Indexed,
    NotIndexed,
    NeverIndexed,
}

impl Literal {
    /// By the first byte of a field that is not indexed. A size update behind a field is an error
    /// (RFC 7541 section 4.2).
    #[inline]
    fn of(first: u8) -> Result<Self, Violation> {
        match first >> 4 {
            4..=7 => Ok(Self::Indexed),
            0 => Ok(Self::NotIndexed),
            1 => Ok(Self::NeverIndexed),
            _ => Err(Violation::CompressionInvalid),
        }
    }
    fn prefix_bits(self) -> u32 {
        match self {
            Self::Indexed => 6,
            Self::NotIndexed | Self::NeverIndexed => 4,
        }
    }
}

const INDEXED: u8 = 0x80;
const SIZE_UPDATE_MASK: u8 = 0xe0;
const SIZE_UPDATE: u8 = 0x20;

#[cfg(test)]
#[path = "decode_test.rs"]
mod decode_test;
