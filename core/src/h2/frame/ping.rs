//! PING (RFC 9113 section 6.7).

use super::{FrameHeader, flag, kind};
use crate::error::Violation;

#[cfg(test)]
#[path = "ping_test.rs"]
mod ping_test;

/// A PING or its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// The answer to a PING, with the same bytes.
    pub ack: bool,
    /// Opaque bytes.
    pub opaque: [u8; 8],
}

impl Ping {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on a stream; [`Violation::FrameSizeInvalid`] unless it has
    /// 8 bytes.
    pub fn parse(header: FrameHeader, payload: &[u8]) -> Result<Self, Violation> {
        header.must_have_no_stream()?;
        let opaque = payload
            .try_into()
            .map_err(|_| Violation::FrameSizeInvalid)?;
        Ok(Self {
            ack: header.has(flag::ACK),
            opaque,
        })
    }

    /// Appends the frame.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::PING, 0, 8)
            .with(flag::ACK, self.ack)
            .write(out);
        out.extend_from_slice(&self.opaque);
    }
}
