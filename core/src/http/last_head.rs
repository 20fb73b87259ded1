//! The last request head of a connection, beside the bytes it came in: who calls one method or
//! polls one resource says the same again and again, and what was decoded and validated once need
//! not be a second time.
//!
//! It is a saving, never a state of the protocol: forgetting it changes nothing but the time.

use super::{Fields, RequestHead, Version};
use std::num::NonZeroU32;

/// Longer heads mostly carry something that changes; and a few bytes may name much of a table.
const BYTES_MAX: usize = 2048;
/// The same for what they mean, by the count of RFC 9113 section 10.5.1.
const SECTION_BYTES_MAX: usize = 4096;
/// A head that came again stays while so many others pass.
const STAYS: u8 = 8;
/// Where heads differ, at most so many pass before another one is kept in vain.
const SKIP_MAX: u8 = 63;

/// Nothing, or the head that may come again.
///
/// Worst-case memory: [`BYTES_MAX`] and [`SECTION_BYTES_MAX`].
#[derive(Debug, Default)]
pub(crate) struct LastHead {
    known: Option<Box<Known>>,
    /// How many were kept so far: no two have one number.
    kept: u32,
}

#[derive(Debug)]
struct Known {
    bytes: Vec<u8>,
    /// Of the state, beside the bytes, that the head was read under.
    stamp: u64,
    version: Version,
    head: RequestHead,
    number: NonZeroU32,
    /// So many heads are not kept in place of this one,
    skip: u8,
    /// and so many in place of the next: more with each that never came again.
    skip_next: u8,
}

impl LastHead {
    /// The length of the bytes that [`recall`](Self::recall) knows.
    pub(crate) fn len(&self) -> usize {
        self.known.as_ref().map_or(0, |known| known.bytes.len())
    }
    /// The head that these bytes were under the same `stamp`, in the memory of `spare`; `Err` gives
    /// the memory back.
    pub(crate) fn recall(
        &mut self,
        bytes: &[u8],
        stamp: u64,
        spare: Fields,
    ) -> Result<(RequestHead, Version), Fields> {
        match &mut self.known {
            Some(known) if known.stamp == stamp && known.bytes == bytes => {
                known.skip = STAYS;
                known.skip_next = 0;
                let mut fields = spare;
                fields.copy_from(&known.head.fields);
                let head = RequestHead {
                    fields,
                    marks: known.head.marks,
                    number: Some(known.number),
                };
                Ok((head, known.version))
            }
            _ => Err(spare),
        }
    }
    /// These bytes were this head.
    pub(crate) fn keep(&mut self, bytes: &[u8], stamp: u64, head: &RequestHead, version: Version) {
        if bytes.len() > BYTES_MAX || head.section().size() > SECTION_BYTES_MAX {
            return;
        }
        let Some(number) = self.kept.checked_add(1).and_then(NonZeroU32::new) else {
            return;
        };
        let mut skip = 0;
        if let Some(known) = &mut self.known {
            if let Some(fewer) = known.skip.checked_sub(1) {
                known.skip = fewer;
                return;
            }
            skip = known.skip_next;
        }
        self.kept = number.get();
        self.known = Some(Box::new(Known {
            bytes: bytes.to_vec(),
            stamp,
            version,
            head: head.clone(),
            number,
            skip,
            skip_next: (skip * 2 + 1).min(SKIP_MAX),
        }));
    }
    /// Gives the memory back.
    pub(crate) fn release(&mut self) {
        self.known = None;
    }
}

#[cfg(test)]
#[path = "last_head_test.rs"]
mod last_head_test;
