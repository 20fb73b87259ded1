//! The free list of head and trailer memory. A request head keeps its content until it is reused,
//! so that an equal head need not be written again
//! ([`KnownHead::again`](super::last_head::KnownHead::again)).

use crate::http::{Fields, RequestHead};

/// Sections and heads of one connection, as many as it says.
#[derive(Debug, Default)]
pub(crate) struct FreeList {
    sections: Vec<Fields>,
    heads: Vec<RequestHead>,
}

impl FreeList {
    /// Memory for a section. That of a head it takes from the one that [`head`](Self::head) gives
    /// next.
    #[inline]
    pub(crate) fn section(&mut self) -> Fields {
        let of_head = |heads: &mut Vec<RequestHead>| heads.last_mut().map(RequestHead::take_fields);
        let section = self.sections.pop().or_else(|| of_head(&mut self.heads));
        section.unwrap_or_default()
    }
    /// Memory for a request head.
    #[inline]
    pub(crate) fn head(&mut self) -> Option<RequestHead> {
        self.heads.pop()
    }
    /// Keeps the memory of a section, if fewer than `max` are kept.
    pub(crate) fn keep_section(&mut self, mut section: Fields, max: usize) {
        if self.sections.len() < max {
            section.clear();
            self.sections.push(section);
        }
    }
    /// Keeps a request head of this connection, if fewer than `max` are kept.
    #[inline]
    pub(crate) fn keep_head(&mut self, head: RequestHead, max: usize) {
        if self.heads.len() < max {
            self.heads.push(head);
        }
    }
}

#[cfg(test)]
#[path = "free_list_test.rs"]
mod free_list_test;
