//! The dynamic table (RFC 7541 sections 2.3.2 and 4): a ring of entries over one byte arena.
//!
//! Entries are evicted in insertion order, and so are their bytes: a new entry is appended, an
//! evicted one leaves dead bytes in front, and once more bytes are dead than live the live ones
//! move to the front. So each byte is moved at most once per dead byte, and no entry allocates.
//! Invariant: `size <= bytes_max`, and the arena holds at most `2 * bytes_max` bytes plus one
//! entry.

use crate::http::field::FIELD_OVERHEAD_BYTES;
use crate::http::{FieldName, Token};
use std::collections::VecDeque;

/// One entry: its name is a token or the first `name_len` bytes; its value follows.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Counted from the first byte ever stored, wrapping.
    at: u32,
    name_len: u32,
    value_len: u32,
    token: Option<Token>,
    /// The owner's: what an encoder searches by, what a decoder knows of the field.
    note: u32,
}

/// A decoder's note of an entry that passed [`is_sound`](crate::http::head::is_sound), which is found
/// out once and not each time that the entry is named. All entries of the static tables would.
pub(crate) const SOUND: u32 = 1;

/// A dynamic table. Index 0 is the newest entry.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The oldest in front.
    slots: VecDeque<Slot>,
    bytes: Vec<u8>,
    /// The `at` of `bytes[0]`.
    bytes_at: u32,
    /// Dead bytes at the front of `bytes`.
    dead: u32,
    size: u32,
    bytes_max: u32,
    /// Counts every insertion, eviction and change of the maximum: equal numbers mean an equal table,
    /// which enters and evicts the same for an equal field (RFC 7541 sections 4.3 and 4.4).
    generation: u64,
}

impl Table {
    /// An empty table of at most `bytes_max` by the count of RFC 7541 section 4.1.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            slots: VecDeque::new(),
            bytes: Vec::new(),
            bytes_at: 0,
            dead: 0,
            size: 0,
            bytes_max: bounded(bytes_max),
            generation: 0,
        }
    }
    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max as usize
    }
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }
    pub(crate) fn size(&self) -> usize {
        self.size as usize
    }
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }
    /// Bytes that the arena holds, dead ones included.
    #[cfg(test)]
    pub(crate) fn arena_len(&self) -> usize {
        self.bytes.len()
    }
    /// Sets the maximum and evicts what does not fit (RFC 7541 section 4.3).
    pub(crate) fn resize(&mut self, bytes_max: usize) {
        self.bytes_max = bounded(bytes_max);
        self.generation += 1;
        self.make_room(0);
    }
    /// The name and value at `index`, 0 the newest.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<(FieldName<'_>, &[u8])> {
        let (name, value, _) = self.get_noted(index)?;
        Some((name, value))
    }
    /// The name and value at `index`, 0 the newest, and the note that came with them.
    #[inline]
    pub(crate) fn get_noted(&self, index: usize) -> Option<(FieldName<'_>, &[u8], u32)> {
        let last = self.slots.len().checked_sub(1)?;
        let slot = self.slots.get(last.checked_sub(index)?)?;
        Some((self.name(slot), self.value(slot), slot.note))
    }
    /// Adds an entry and evicts what it pushes out; one larger than the table empties it and is
    /// not stored, which is no error (RFC 7541 section 4.4). `name` is empty where there is a
    /// `token`.
    pub(crate) fn insert(&mut self, name: FieldName<'_>, value: &[u8], note: u32) {
        let (token, name_bytes) = match name {
            FieldName::Token(token) => (Some(token), &[][..]),
            FieldName::Bytes(bytes) => (None, bytes),
        };
        let size = entry_size(name, value);
        self.make_room(size);
        if size > self.bytes_max() {
            return;
        }
        let dead = self.dead as usize;
        if dead > self.bytes.len() - dead {
            self.compact();
        }
        self.slots.push_back(Slot {
            at: self.bytes_at.wrapping_add(self.bytes.len() as u32),
            name_len: name_bytes.len() as u32,
            value_len: value.len() as u32,
            token,
            note,
        });
        self.bytes.extend_from_slice(name_bytes);
        self.bytes.extend_from_slice(value);
        self.size += size as u32;
        self.generation += 1;
    }
    /// The newest entry that equals this field, at index `from` or older.
    pub(crate) fn find(
        &self,
        name: FieldName<'_>,
        value: &[u8],
        print: u32,
        from: usize,
    ) -> Option<usize> {
        let mut older = self.slots.iter().rev().skip(from);
        let at = older.position(|slot| {
            slot.note == print && self.value(slot) == value && self.is_named(slot, name)
        });
        at.map(|at| from + at)
    }
    /// The newest entry with this name, at index `from` or older.
    pub(crate) fn find_name(&self, name: FieldName<'_>, from: usize) -> Option<usize> {
        let mut older = self.slots.iter().rev().skip(from);
        let at = older.position(|slot| self.is_named(slot, name));
        at.map(|at| from + at)
    }
    /// How many of the oldest entries an insertion of `wanted` more would push out.
    pub(crate) fn evictions(&self, wanted: usize) -> usize {
        let mut size = self.size as usize;
        let mut slots = self.slots.iter();
        let mut count = 0;
        while size + wanted > self.bytes_max()
            && let Some(slot) = slots.next()
        {
            size -= entry_size(self.name(slot), self.value(slot));
            count += 1;
        }
        count
    }
    /// Gives back the room that no entry stands in.
    pub(crate) fn release(&mut self) {
        self.compact();
        self.slots.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    /// Evicts the oldest until `wanted` more fit or nothing is left.
    fn make_room(&mut self, wanted: usize) {
        while self.size as usize + wanted > self.bytes_max()
            && let Some(slot) = self.slots.pop_front()
        {
            self.size -= entry_size(self.name(&slot), self.value(&slot)) as u32;
            self.dead += slot.name_len + slot.value_len;
            self.generation += 1;
        }
    }
    fn compact(&mut self) {
        self.bytes.drain(..self.dead as usize);
        self.bytes_at = self.bytes_at.wrapping_add(self.dead);
        self.dead = 0;
    }
    fn is_named(&self, slot: &Slot, name: FieldName<'_>) -> bool {
        match (slot.token, name) {
            (Some(token), FieldName::Token(wanted)) => token == wanted,
            (None, FieldName::Bytes(wanted)) => self.name_bytes(slot) == wanted,
            _ => false,
        }
    }
    fn name(&self, slot: &Slot) -> FieldName<'_> {
        match slot.token {
            Some(token) => FieldName::Token(token),
            None => FieldName::Bytes(self.name_bytes(slot)),
        }
    }
    fn name_bytes(&self, slot: &Slot) -> &[u8] {
        let at = slot.at.wrapping_sub(self.bytes_at) as usize;
        &self.bytes[at..at + slot.name_len as usize]
    }
    fn value(&self, slot: &Slot) -> &[u8] {
        let at = slot.at.wrapping_sub(self.bytes_at) as usize + slot.name_len as usize;
        &self.bytes[at..at + slot.value_len as usize]
    }
}

/// Tables are a few KiB; offsets into one are counted in 32 bits.
fn bounded(bytes_max: usize) -> u32 {
    u32::try_from(bytes_max).unwrap_or(u32::MAX)
}

/// RFC 7541 section 4.1: 32 bytes beside the name and value.
pub(crate) fn entry_size(name: FieldName<'_>, value: &[u8]) -> usize {
    name.as_bytes().len() + value.len() + FIELD_OVERHEAD_BYTES
}

#[cfg(test)]
#[path = "table_test.rs"]
mod table_test;
