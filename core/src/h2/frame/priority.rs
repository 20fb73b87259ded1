//! PRIORITY (RFC 9113 section 6.3): checked and otherwise ignored. Priorities are those of
//! RFC 9218.

use super::{FrameHeader, kind, u31};
use crate::error::Violation;

#[cfg(test)]
#[path = "priority_test.rs"]
mod priority_test;

/// Bytes of a priority, in PRIORITY and in HEADERS.
pub const PRIORITY_BYTES: usize = 5;

/// An RFC 7540 priority of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamDependency {
    /// The stream it is about; never 0.
    pub stream: u32,
    /// The stream it depends on; 0 is the root, never `stream`.
    pub dependency: u32,
    /// Whether it takes the place of its siblings.
    pub exclusive: bool,
    /// 0 stands for the weight 1, 255 for 256.
    pub weight: u8,
}

impl StreamDependency {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on stream 0; [`Violation::FrameSizeInvalidOnStream`]
    /// unless it has 5 bytes; [`Violation::DependsOnItself`].
    pub fn parse(header: FrameHeader, payload: &[u8]) -> Result<Self, Violation> {
        header.must_have_stream()?;
        // RFC 9113 section 6.3: a stream error, one of the few wrong lengths that are.
        let fields = payload
            .try_into()
            .map_err(|_| Violation::FrameSizeInvalidOnStream)?;
        Self::read(header.stream, fields)
    }

    /// Reads the five bytes. A stream that depends on itself is a stream error
    /// (RFC 7540 section 5.3.1, which the RFC 9113 grammar kept).
    pub(super) fn read(stream: u32, fields: &[u8; PRIORITY_BYTES]) -> Result<Self, Violation> {
        let &[d0, d1, d2, d3, weight] = fields;
        let dependency = u31([d0, d1, d2, d3]);
        if dependency == stream {
            return Err(Violation::DependsOnItself);
        }
        Ok(Self {
            stream,
            dependency,
            exclusive: d0 & 0x80 != 0,
            weight,
        })
    }

    /// Appends the frame. Trunkline itself never sends one; its test peers do.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::PRIORITY, self.stream, PRIORITY_BYTES).write(out);
        let exclusive = u32::from(self.exclusive) << 31;
        out.extend_from_slice(&(self.dependency | exclusive).to_be_bytes());
        out.push(self.weight);
    }
}
