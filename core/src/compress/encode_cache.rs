//! The last blocks that changed nothing in the table: as long as the table is the same, an equal
//! head has an equal block, and costs a comparison and a copy of a few bytes.

use crate::http::Fields;

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

#[derive(Debug, Default)]
struct Encoded<Note> {
    /// 0 for a section without a status of its own.
    status: u16,
    section: Fields,
    block: Vec<u8>,
    /// The table that the block stands on.
    generation: u64,
    note: Note,
}

impl<Note: Copy + Default> EncodeCache<Note> {
    /// The block of this head under the table of `generation`.
    pub(crate) fn find(
        &self,
        status: u16,
        section: &Fields,
        generation: u64,
    ) -> Option<(&[u8], Note)> {
        self.heads
            .iter()
            .find(|head| {
                head.generation == generation
                    && head.status == status
                    && head.section.is_twin_of(section)
            })
            .map(|head| (head.block.as_slice(), head.note))
    }
    /// Remembers a block whose encoding left the table as it was.
    pub(crate) fn keep(
        &mut self,
        status: u16,
        section: &Fields,
        generation: u64,
        block: &[u8],
        note: Note,
    ) {
        if section.size() > SECTION_BYTES_MAX {
            return;
        }
        if self.heads.len() < HEADS {
            self.next = self.heads.len();
            self.heads.push(Encoded::default());
        }
        let head = &mut self.heads[self.next];
        head.status = status;
        head.section.copy_from(section);
        head.block.clear();
        head.block.extend_from_slice(block);
        head.generation = generation;
        head.note = note;
        self.next = (self.next + 1) % HEADS;
    }
}
