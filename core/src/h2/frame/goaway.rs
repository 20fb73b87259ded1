//! GOAWAY (RFC 9113 section 6.8).

use super::{FrameHeader, kind, u31};
use crate::error::{H2Code, Violation};

#[cfg(test)]
#[path = "goaway_test.rs"]
mod goaway_test;

/// Bytes before the debug data.
const FIXED_BYTES: usize = 8;

/// The sender takes no more streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goaway<'a> {
    /// Streams above this one were not and will not be processed.
    pub last_stream: u32,
    /// Why; unknown codes are kept (RFC 9113 section 7).
    pub code: H2Code,
    /// Opaque text for people; never trusted, never needed.
    pub debug: &'a [u8],
}

impl<'a> Goaway<'a> {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on a stream; [`Violation::FrameSizeInvalid`] below 8
    /// bytes.
    pub fn parse(header: FrameHeader, payload: &'a [u8]) -> Result<Self, Violation> {
        header.must_have_no_stream()?;
        let (&fixed, debug) = payload
            .split_first_chunk::<FIXED_BYTES>()
            .ok_or(Violation::FrameSizeInvalid)?;
        let [l0, l1, l2, l3, c0, c1, c2, c3] = fixed;
        Ok(Self {
            last_stream: u31([l0, l1, l2, l3]),
            code: H2Code(u32::from_be_bytes([c0, c1, c2, c3])),
            debug,
        })
    }

    /// Appends the frame. `debug` must fit a frame of the peer's SETTINGS_MAX_FRAME_SIZE.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::GOAWAY, 0, FIXED_BYTES + self.debug.len()).write(out);
        out.extend_from_slice(&self.last_stream.to_be_bytes());
        out.extend_from_slice(&self.code.0.to_be_bytes());
        out.extend_from_slice(self.debug);
    }
}
