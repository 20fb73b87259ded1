//! CONTINUATION (RFC 9113 section 6.10). [`headers`](super::headers) writes it as part of a header
//! block.

use super::{FrameHeader, flag, kind};
use crate::error::Violation;

#[cfg(test)]
#[path = "continuation_test.rs"]
mod continuation_test;

/// A further part of a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation<'a> {
    /// The stream whose header block it continues; never 0.
    pub stream: u32,
    /// The next part of the header block; may be empty.
    pub fragment: &'a [u8],
    /// The header block ends here.
    pub end_headers: bool,
}

impl<'a> Continuation<'a> {
    /// Reads the frame. `payload` is all of `header.len` bytes. There is no padding: flags other
    /// than END_HEADERS mean nothing here.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on stream 0.
    pub fn parse(header: FrameHeader, payload: &'a [u8]) -> Result<Self, Violation> {
        header.must_have_stream()?;
        Ok(Self {
            stream: header.stream,
            fragment: payload,
            end_headers: header.has(flag::END_HEADERS),
        })
    }

    /// Appends the frame.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::CONTINUATION, self.stream, self.fragment.len())
            .with(flag::END_HEADERS, self.end_headers)
            .write(out);
        out.extend_from_slice(self.fragment);
    }
}
