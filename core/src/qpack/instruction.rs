//! The instructions of the encoder stream (RFC 9204 section 4.3) and of the decoder stream (section
//! 4.4), both ways. Input may be split anywhere: an incomplete instruction stays in the input.

use super::static_table;
use crate::compress::integer;
use crate::compress::text::{self, LiteralText};
use crate::error::Violation;
use crate::http::FieldName;

/// The bounds of an instruction: the entries that it may reference, and the length of its literals
/// on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstructionBounds {
    pub(super) literal_bytes_max: usize,
    /// The insert count.
    pub(super) inserted: u64,
}

/// An encoder's instruction about its table.
#[derive(Clone, Copy)]
pub(super) enum TableInstruction<'a> {
    /// Section 4.3.1.
    SetCapacity(u64),
    /// Section 4.3.2; an index of the dynamic table is relative to the insert count.
    InsertNamed {
        is_static: bool,
        index: u64,
        value: LiteralText<'a>,
    },
    /// Section 4.3.3.
    Insert {
        name: LiteralText<'a>,
        value: LiteralText<'a>,
    },
    /// Section 4.3.4: the index is relative to the insert count.
    Duplicate(u64),
}

impl<'a> TableInstruction<'a> {
    /// Takes one instruction from the front of `input`; `None`, with `input` untouched, if it is
    /// not all there. What is out of `bounds` is an error as soon as it is known: waiting for the
    /// rest would be memory for nothing.
    pub(super) fn take(
        input: &mut &'a [u8],
        bounds: InstructionBounds,
    ) -> Result<Option<Self>, Violation> {
        let mut rest = *input;
        let taken = Self::take_from(&mut rest, bounds)?;
        if taken.is_some() {
            *input = rest;
        }
        Ok(taken)
    }

    fn take_from(
        input: &mut &'a [u8],
        bounds: InstructionBounds,
    ) -> Result<Option<Self>, Violation> {
        let Some(&first) = input.first() else {
            return Ok(None);
        };
        if first & INSERT_NAMED != 0 {
            let Some(index) = integer::take_long(input, 6)? else {
                return Ok(None);
            };
            let is_static = first & INSERT_NAMED_STATIC != 0;
            let rows = if is_static {
                static_table::LEN as u64
            } else {
                bounds.inserted
            };
            if index >= rows {
                return Err(Violation::CompressionInvalid);
            }
            let value = take_text(input, 7, bounds.literal_bytes_max)?;
            return Ok(value.map(|value| Self::InsertNamed {
                is_static,
                index,
                value,
            }));
        }
        if first & INSERT != 0 {
            let Some(name) = take_text(input, 5, bounds.literal_bytes_max)? else {
                return Ok(None);
            };
            let value = take_text(input, 7, bounds.literal_bytes_max)?;
            return Ok(value.map(|value| Self::Insert { name, value }));
        }
        let number = integer::take_long(input, 5)?;
        Ok(number.map(if first & SET_CAPACITY != 0 {
            Self::SetCapacity
        } else {
            Self::Duplicate
        }))
    }
}

/// As [`LiteralText::take`], from a stream that may not have all of it yet.
fn take_text<'a>(
    input: &mut &'a [u8],
    prefix_bits: u32,
    bytes_max: usize,
) -> Result<Option<LiteralText<'a>>, Violation> {
    let Some(&first) = input.first() else {
        return Ok(None);
    };
    let Some(len) = integer::take_long(input, prefix_bits)? else {
        return Ok(None);
    };
    if len > bytes_max as u64 {
        return Err(Violation::CompressionInvalid);
    }
    let Some((text, rest)) = input.split_at_checked(len as usize) else {
        return Ok(None);
    };
    *input = rest;
    Ok(Some(LiteralText::of(first, prefix_bits, text)))
}

/// Appends Set Dynamic Table Capacity (RFC 9204 section 4.3.1).
pub(super) fn put_capacity(bytes: usize, out: &mut Vec<u8>) {
    integer::put(bytes, 5, SET_CAPACITY, out);
}

/// Appends Insert with Name Reference (RFC 9204 section 4.3.2) to the static table.
pub(super) fn put_insert_static(row: usize, value: &[u8], out: &mut Vec<u8>) {
    integer::put(row, 6, INSERT_NAMED | INSERT_NAMED_STATIC, out);
    text::put(value, 7, 0, out);
}

/// Appends Insert with Name Reference to the entry that has `age` newer ones.
pub(super) fn put_insert_dynamic(age: u64, value: &[u8], out: &mut Vec<u8>) {
    integer::put_long(age, 6, INSERT_NAMED, out);
    text::put(value, 7, 0, out);
}

/// Appends Insert with Literal Name (RFC 9204 section 4.3.3).
pub(super) fn put_insert(name: FieldName<'_>, value: &[u8], out: &mut Vec<u8>) {
    text::put(name.as_bytes(), 5, INSERT, out);
    text::put(value, 7, 0, out);
}

/// Appends Duplicate (RFC 9204 section 4.3.4) of the entry that has `age` newer ones.
pub(super) fn put_duplicate(age: u64, out: &mut Vec<u8>) {
    integer::put_long(age, 5, 0, out);
}

/// A decoder's instruction about sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// Section 4.4.1: the oldest section of this stream that names the table is processed.
    Acknowledged(u64),
    /// Section 4.4.2: no section of this stream will be processed any more.
    Cancelled(u64),
    /// Section 4.4.3: this many more insertions arrived.
    Inserted(u64),
}

impl Feedback {
    /// Takes one instruction from the front of `input`; `None`, with `input` untouched, if it is
    /// not all there.
    pub(super) fn take(input: &mut &[u8]) -> Result<Option<Self>, Violation> {
        let Some(&first) = input.first() else {
            return Ok(None);
        };
        if first & ACKNOWLEDGED != 0 {
            return Ok(integer::take_long(input, 7)?.map(Self::Acknowledged));
        }
        let number = integer::take_long(input, 6)?;
        Ok(number.map(if first & CANCELLED != 0 {
            Self::Cancelled
        } else {
            Self::Inserted
        }))
    }
    /// Appends the instruction.
    pub(super) fn put(self, out: &mut Vec<u8>) {
        match self {
            Self::Acknowledged(stream) => integer::put_long(stream, 7, ACKNOWLEDGED, out),
            Self::Cancelled(stream) => integer::put_long(stream, 6, CANCELLED, out),
            Self::Inserted(count) => integer::put_long(count, 6, 0, out),
        }
    }
}

/// Hands the whole instructions of `pending` and `bytes`, in this order, to `apply`, which takes
/// one from the front or says that there is none; what is left waits in `pending`.
pub(super) fn handle_pieces(
    pending: &mut Vec<u8>,
    bytes: &[u8],
    mut apply: impl FnMut(&mut &[u8]) -> Result<bool, Violation>,
) -> Result<(), Violation> {
    if pending.is_empty() {
        let mut input = bytes;
        while apply(&mut input)? {}
        pending.extend_from_slice(input);
        return Ok(());
    }
    pending.extend_from_slice(bytes);
    let mut input = pending.as_slice();
    while apply(&mut input)? {}
    let handled = pending.len() - input.len();
    pending.drain(..handled);
    Ok(())
}

const INSERT_NAMED: u8 = 0x80;
const INSERT_NAMED_STATIC: u8 = 0x40;
const INSERT: u8 = 0x40;
const SET_CAPACITY: u8 = 0x20;
const ACKNOWLEDGED: u8 = 0x80;
const CANCELLED: u8 = 0x40;

#[cfg(test)]
#[path = "instruction_test.rs"]
mod instruction_test;
