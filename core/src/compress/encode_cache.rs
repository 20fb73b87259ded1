//! Caches the last encoded blocks that left the dynamic table unchanged. Under an unchanged table
//! an equal head encodes to an equal block, which costs a comparison and a copy of a few bytes.

use crate::http::{Fields, ResponseHead};

/// How many heads are remembered: a server's usual answers, or a client's usual requests.
const HEADS: usize = 4;
/// Larger sections are not remembered, bytes: bounds the cache at 4 times some 6 KiB.
const SECTION_BYTES_MAX: usize = 2048;

/// Remembered blocks, each with a `Note` of its encoder. Allocates with the first.
#[derive(Debug, Default)]
pub(crate) struct EncodeCache<Note = ()> {
    heads: Vec<Encoded<Note>>,
    /// The one to overwrite next.
    next: usize,
}

/// A head to be encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadSection<'a> {
    /// 0 for a section without a status of its own.
    pub(crate) status: u16,
    pub(crate) fields: &'a Fields,
}

impl<'a> HeadSection<'a> {
    /// A section that is no response.
    pub(crate) fn of(fields: &'a Fields) -> Self {
        Self { status: 0, fields }
    }
    /// The section of a response.
    pub(crate) fn of_response(head: &'a ResponseHead) -> Self {
        Self {
            status: head.status,
            fields: head.section(),
        }
    }
}

#[derive(Debug, Default)]
struct Encoded<Note> {
    status: u16,
    section: Fields,
    block: Vec<u8>,
    /// The table that the block stands on.
    generation: u64,
    note: Note,
}

impl<Note: Copy + Default> EncodeCache<Note> {
    /// The block of this head under the table of `generation`.
    pub(crate) fn find(&self, section: HeadSection<'_>, generation: u64) -> Option<(&[u8], Note)> {
        let is_it = |head: &&Encoded<Note>| {
            head.generation == generation
                && head.status == section.status
                && head.section.is_twin_of(section.fields)
        };
        let head = self.heads.iter().find(is_it)?;
        Some((head.block.as_slice(), head.note))
    }
    /// Remembers a block whose encoding left the table as it was.
    pub(crate) fn keep(
        &mut self,
        section: HeadSection<'_>,
        generation: u64,
        block: &[u8],
        note: Note,
    ) {
        if section.fields.size() > SECTION_BYTES_MAX {
            return;
        }
        if self.heads.len() < HEADS {
            self.next = self.heads.len();
            self.heads.push(Encoded::default());
        }
        let head = &mut self.heads[self.next];
        head.status = section.status;
        head.section.copy_from(section.fields);
        head.block.clear();
        head.block.extend_from_slice(block);
        head.generation = generation;
        head.note = note;
        self.next = (self.next + 1) % HEADS;
    }
}
