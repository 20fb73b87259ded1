//! The last request head of a connection, beside the bytes it came in: who calls one method or
//! polls one resource says the same again and again, and what was decoded and validated once need
//! not be a second time.
//!
//! It is a saving, never a state of the protocol: forgetting it changes nothing but the time. Who
//! says something else each time must not pay for it: a head that differs costs a comparison of
//! lengths and a count.

use super::{Fields, RequestHead, Version};
use std::num::NonZeroU32;

/// Longer heads mostly carry something that changes; and a few bytes may name much of a table.
const BYTES_MAX: usize = 2048;
/// The same for what they mean, by the count of RFC 9113 section 10.5.1.
const SECTION_BYTES_MAX: usize = 4096;
/// A head that came again stays while so many others pass.
const STAYS: u8 = 8;
/// Where heads differ, at most so many pass before another one is kept in vain: to keep one costs
/// about as much as to decode it, which is then less than a fiftieth more, and who begins to say
/// the same after all waits for so many.
const SKIP_MAX: u8 = 63;

/// Nothing, or the head that may come again.
///
/// Worst-case memory: twice [`BYTES_MAX`] and [`SECTION_BYTES_MAX`], as a vector grows by doubling.
#[derive(Debug, Default)]
pub(crate) struct LastHead {
    /// Made once, and its memory used again.
    known: Option<Box<Known>>,
    /// How many were kept so far: no two have one number.
    kept: u32,
}

/// A head, and what it was read from.
#[derive(Debug)]
pub(crate) struct Known {
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
    /// The length of the bytes that [`find`](Self::find) knows.
    pub(crate) fn len(&self) -> usize {
        self.known.as_ref().map_or(0, |known| known.bytes.len())
    }
    /// The head that these bytes were under the same `stamp`.
    #[inline]
    pub(crate) fn find(&mut self, bytes: &[u8], stamp: u64) -> Option<&mut Known> {
        let known = self.known.as_deref_mut();
        known.filter(|known| known.stamp == stamp && known.bytes == bytes)
    }
    /// Another head came than the known one: whether to [`keep`](Self::keep) it. To be asked once
    /// for each.
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        let Some(known) = &mut self.known else {
            return true;
        };
        let fewer = known.skip.checked_sub(1);
        known.skip = fewer.unwrap_or_default();
        fewer.is_none()
    }
    /// These bytes were this head.
    #[cold]
    pub(crate) fn keep(&mut self, bytes: &[u8], stamp: u64, head: &RequestHead, version: Version) {
        if bytes.len() > BYTES_MAX || head.section().size() > SECTION_BYTES_MAX {
            return;
        }
        let Some(number) = self.kept.checked_add(1).and_then(NonZeroU32::new) else {
            return;
        };
        self.kept = number.get();
        let Some(known) = &mut self.known else {
            self.known = Some(Box::new(Known {
                bytes: bytes.to_vec(),
                stamp,
                version,
                head: head.clone(),
                number,
                skip: 0,
                skip_next: 1,
            }));
            return;
        };
        known.bytes.clear();
        known.bytes.extend_from_slice(bytes);
        known.stamp = stamp;
        known.version = version;
        known.head.fields.copy_from(&head.fields);
        known.head.marks = head.marks;
        known.number = number;
        known.skip = known.skip_next;
        known.skip_next = (known.skip_next * 2 + 1).min(SKIP_MAX);
    }
    /// Gives the memory back.
    pub(crate) fn release(&mut self) {
        self.known = None;
    }
}

impl Known {
    /// The head once more, in the memory of `spare`.
    #[inline]
    pub(crate) fn again(&mut self, spare: Fields) -> RequestHead {
        self.skip = STAYS;
        self.skip_next = 0;
        let mut fields = spare;
        fields.copy_from(&self.head.fields);
        RequestHead {
            fields,
            marks: self.head.marks,
            number: Some(self.number),
        }
    }
    /// The version its bytes said.
    pub(crate) fn version(&self) -> Version {
        self.version
    }
}

#[cfg(test)]
#[path = "last_head_test.rs"]
mod last_head_test;
