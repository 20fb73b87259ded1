//! The encoder's references (RFC 9204 section 2.1): the insertions that the peer has acknowledged,
//! and the sections that it has not. An entry that such a section references, or that is not
//! acknowledged, must not be evicted.

use crate::error::Violation;
use std::collections::VecDeque;

/// Sections under way at once that name the table; those beyond do without it. A peer that never
/// acknowledges costs this and no more.
const SECTIONS_MAX: usize = 256;

/// The entries that a section references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// Insertions that it needs; 0 if it names none.
    pub(super) required: u64,
    /// The oldest entry that it names.
    pub(super) lowest: u64,
}

impl Reach {
    /// Names one more entry.
    pub(super) fn extend(&mut self, absolute: u64) {
        self.lowest = if self.required == 0 {
            absolute
        } else {
            self.lowest.min(absolute)
        };
        self.required = self.required.max(absolute + 1);
    }
}

/// The sections under way, and what the decoder has.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The Known Received Count (RFC 9204 section 2.1.4).
    known_received: u64,
    /// In the order they were sent.
    sections: VecDeque<SentSection>,
}

#[derive(Debug)]
struct SentSection {
    stream: u64,
    reach: Reach,
}

impl References {
    /// Insertions that the decoder is known to have.
    pub(super) fn known_received(&self) -> u64 {
        self.known_received
    }
    /// Whether one more section may name the table.
    pub(super) fn has_room(&self) -> bool {
        self.sections.len() < SECTIONS_MAX
    }
    /// Entries below this may be evicted (RFC 9204 section 2.1.1).
    pub(super) fn evictable_below(&self) -> u64 {
        let lowest = self.sections.iter().map(|section| section.reach.lowest);
        lowest.min().map_or(self.known_received, |lowest| {
            lowest.min(self.known_received)
        })
    }
    /// Whether a section of `stream` may name what the decoder may not have yet, when it allows
    /// `streams_max` streams to wait. Sections are counted where the rule counts streams: those
    /// of one stream are few, and the error is on the safe side.
    pub(super) fn may_block(&self, stream: u64, streams_max: usize) -> bool {
        let known = self.known_received;
        let mut blocked = 0;
        for section in &self.sections {
            if section.reach.required > known {
                if section.stream == stream {
                    return true;
                }
                blocked += 1;
            }
        }
        blocked < streams_max
    }
    /// Whether a section of `stream` may name so much.
    pub(super) fn may_name(&self, reach: Reach, stream: u64, streams_max: usize) -> bool {
        let is_received = reach.required <= self.known_received;
        reach.required == 0
            || self.has_room() && (is_received || self.may_block(stream, streams_max))
    }
    /// A section that names the table goes out.
    pub(super) fn add(&mut self, stream: u64, reach: Reach) {
        self.sections.push_back(SentSection { stream, reach });
    }
    /// Section Acknowledgment: an error if no section of the stream is under way (RFC 9204
    /// section 4.4.1).
    pub(super) fn acknowledge(&mut self, stream: u64) -> Result<(), Violation> {
        let oldest = self
            .sections
            .iter()
            .position(|section| section.stream == stream)
            .and_then(|at| self.sections.remove(at))
            .ok_or(Violation::QpackDecoderStreamInvalid)?;
        self.known_received = self.known_received.max(oldest.reach.required);
        Ok(())
    }
    /// Stream Cancellation (RFC 9204 section 4.4.2): says nothing about what arrived.
    pub(super) fn cancel(&mut self, stream: u64) {
        self.sections.retain(|section| section.stream != stream);
    }
    /// Insert Count Increment: an error if it is zero or more than was sent (RFC 9204 section
    /// 4.4.3).
    pub(super) fn receive(&mut self, count: u64, inserted: u64) -> Result<(), Violation> {
        if count == 0 || count > inserted - self.known_received {
            return Err(Violation::QpackDecoderStreamInvalid);
        }
        self.known_received += count;
        Ok(())
    }
}

#[cfg(test)]
#[path = "references_test.rs"]
mod references_test;
