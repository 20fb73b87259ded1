//! The dynamic table (RFC 9204 section 3.2): entries by absolute index, counted from the first
//! insertion of the connection (section 3.2.4). Invariant: the entries present are those from
//! `inserted - len` to `inserted - 1`.

use crate::compress::table::{self as ring, Table as Ring};
use crate::http::FieldName;

/// Entries by absolute index.
#[derive(Clone, Debug)]
pub(super) struct DecoderTable {
    ring: Ring,
    inserted: u64,
}

impl DecoderTable {
    /// An empty table of capacity 0 (RFC 9204 section 3.2.3).
    pub(super) fn new() -> Self {
        Self {
            ring: Ring::new(0),
            inserted: 0,
        }
    }
    /// The insert count: the absolute index of the next entry.
    pub(super) fn inserted(&self) -> u64 {
        self.inserted
    }
    /// The bound of the entries' total size, bytes.
    pub(super) fn capacity(&self) -> usize {
        self.ring.bytes_max()
    }
    /// Equal numbers mean an equal table.
    pub(super) fn generation(&self) -> u64 {
        self.ring.generation()
    }
    /// Sets the capacity and evicts what does not fit (RFC 9204 section 3.2.2).
    pub(super) fn set_capacity(&mut self, bytes: usize) {
        self.ring.resize(bytes);
    }
    /// The entry at an absolute index, unless it is evicted or not yet inserted.
    #[inline]
    pub(super) fn get(&self, absolute: u64) -> Option<(FieldName<'_>, &[u8])> {
        self.ring.get(self.age(absolute)?)
    }
    /// As [`get`](Self::get), with the entry's note.
    #[inline]
    pub(super) fn get_noted(&self, absolute: u64) -> Option<(FieldName<'_>, &[u8], u32)> {
        self.ring.get_noted(self.age(absolute)?)
    }
    /// Adds an entry and evicts what it pushes out. False, and nothing changed, if it is larger
    /// than the table. `note`: an encoder's print of the field, a decoder's [`SOUND`](ring::SOUND).
    #[must_use]
    pub(super) fn insert(&mut self, name: FieldName<'_>, value: &[u8], note: u32) -> bool {
        if entry_size(name, value) > self.capacity() {
            return false;
        }
        self.ring.insert(name, value, note);
        self.inserted += 1;
        true
    }
    /// The newest entry below `below` that equals this field.
    pub(super) fn find(
        &self,
        name: FieldName<'_>,
        value: &[u8],
        print: u32,
        below: u64,
    ) -> Option<u64> {
        let age = self.ring.find(name, value, print, self.newer(below))?;
        Some(self.inserted - 1 - age as u64)
    }
    /// The newest entry below `below` with this name.
    pub(super) fn find_name(&self, name: FieldName<'_>, below: u64) -> Option<u64> {
        let age = self.ring.find_name(name, self.newer(below))?;
        Some(self.inserted - 1 - age as u64)
    }
    /// The lowest index that is there after `wanted` more bytes came in.
    pub(super) fn lowest_after(&self, wanted: usize) -> u64 {
        let lowest = self.inserted - self.ring.len() as u64;
        lowest + self.ring.evictions(wanted) as u64
    }

    /// How many entries are newer than the one at `absolute`.
    #[inline]
    fn age(&self, absolute: u64) -> Option<usize> {
        let newer = self.inserted.checked_sub(absolute)?.checked_sub(1)?;
        usize::try_from(newer).ok()
    }
    /// How many entries are at `below` or newer.
    fn newer(&self, below: u64) -> usize {
        // At most the table's length counts.
        usize::try_from(self.inserted.saturating_sub(below)).unwrap_or(usize::MAX)
    }
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.ring.size()
    }
}

/// RFC 9204 section 3.2.1: 32 bytes beside the name and value.
pub(super) fn entry_size(name: FieldName<'_>, value: &[u8]) -> usize {
    ring::entry_size(name, value)
}

#[cfg(test)]
#[path = "table_test.rs"]
mod table_test;
