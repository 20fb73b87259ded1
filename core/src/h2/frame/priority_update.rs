//! PRIORITY_UPDATE (RFC 9218 section 7.1): a client changes the priority of a request.

use super::{FrameHeader, kind, u31};
use crate::error::Violation;

#[cfg(test)]
#[path = "priority_update_test.rs"]
mod priority_update_test;

/// A new priority for one stream. Only clients send it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityUpdate<'a> {
    /// The stream it is about; never 0. It may be idle still.
    pub prioritized: u32,
    /// The value of a `priority` field, not parsed yet.
    pub value: &'a [u8],
}

impl<'a> PriorityUpdate<'a> {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on a stream; [`Violation::FrameSizeInvalid`] below 4
    /// bytes; [`Violation::PriorityUpdateInvalid`] for stream 0.
    pub fn parse(header: FrameHeader, payload: &'a [u8]) -> Result<Self, Violation> {
        header.must_have_no_stream()?;
        let (&prioritized, value) = payload
            .split_first_chunk()
            .ok_or(Violation::FrameSizeInvalid)?;
        let prioritized = u31(prioritized);
        if prioritized == 0 {
            return Err(Violation::PriorityUpdateInvalid);
        }
        Ok(Self { prioritized, value })
    }

    /// Appends the frame.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::PRIORITY_UPDATE, 0, 4 + self.value.len()).write(out);
        out.extend_from_slice(&self.prioritized.to_be_bytes());
        out.extend_from_slice(self.value);
    }
}
