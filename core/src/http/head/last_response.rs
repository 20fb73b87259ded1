//! Caches a client connection's last response head beside its section, so that an equal section is
//! not decoded again. Like [`last_head`](super::last_head) it holds no protocol state.

use super::admission::Admission;
use super::{Checked, ResponseHead};
use crate::http::Fields;

/// Longer sections mostly carry something that changes; and a few bytes may name much of a table.
const BYTES_MAX: usize = 2048;
/// Bound of a cached head's decoded size, by the count of RFC 9113 section 10.5.1.
const SECTION_BYTES_MAX: usize = 4096;

/// Nothing, or the head that may come again.
///
/// Worst-case memory: twice [`BYTES_MAX`] and [`SECTION_BYTES_MAX`], as a vector grows by doubling.
#[derive(Debug, Default)]
pub(crate) struct LastResponse {
    /// Made once, and its memory used again.
    known: Option<Box<KnownResponse>>,
}

#[derive(Debug)]
struct KnownResponse {
    section: Vec<u8>,
    /// Of the state, beside the section, that the head was read under.
    stamp: u64,
    head: ResponseHead,
    admission: Admission,
}

impl LastResponse {
    /// The head that this section was under the same `stamp`, in the memory that `spare` gives.
    #[inline]
    pub(crate) fn again(
        &mut self,
        section: &[u8],
        stamp: u64,
        spare: impl FnOnce() -> Fields,
    ) -> Option<ResponseHead> {
        let known = self.known.as_deref_mut();
        let known = known.filter(|known| known.stamp == stamp && known.section == section)?;
        known.admission.note_again();
        let checked = &known.head.checked;
        let mut fields = spare();
        fields.copy_from(&checked.fields);
        Some(ResponseHead {
            status: known.head.status,
            checked: Box::new(Checked {
                fields,
                marks: checked.marks,
            }),
            number: None,
            reason: None,
        })
    }
    /// Caches that this section, which differs from the known one, decoded to this head. Call once
    /// per section.
    #[inline]
    pub(crate) fn note(&mut self, section: &[u8], stamp: u64, head: &ResponseHead) {
        let known = self.known.as_deref_mut();
        if known.is_none_or(|known| known.admission.is_due()) {
            self.keep(section, stamp, head);
        }
    }
    #[cold]
    fn keep(&mut self, section: &[u8], stamp: u64, head: &ResponseHead) {
        let fields = &head.checked.fields;
        if section.len() > BYTES_MAX || fields.size() > SECTION_BYTES_MAX {
            return;
        }
        let Some(known) = &mut self.known else {
            self.known = Some(Box::new(KnownResponse {
                section: section.to_vec(),
                stamp,
                head: head.clone(),
                admission: Admission::new(),
            }));
            return;
        };
        known.section.clear();
        known.section.extend_from_slice(section);
        known.stamp = stamp;
        known.head.status = head.status;
        known.head.checked.fields.copy_from(fields);
        known.head.checked.marks = head.checked.marks;
        known.admission.note_kept();
    }
    /// Gives the memory back.
    pub(crate) fn release(&mut self) {
        self.known = None;
    }
}

#[cfg(test)]
#[path = "last_response_test.rs"]
mod last_response_test;
