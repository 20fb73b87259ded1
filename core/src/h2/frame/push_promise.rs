//! PUSH_PROMISE (RFC 9113 section 6.6). Trunkline never pushes and lets no peer push; the frame
//! is read only to tell a framing error from a forbidden push, and written by test peers.

use super::{FrameHeader, flag, kind, u31, unpad};
use crate::error::Violation;

#[cfg(test)]
#[path = "push_promise_test.rs"]
mod push_promise_test;

/// A promise to answer a request that was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushPromise<'a> {
    /// The stream whose request gave rise to it; never 0.
    pub stream: u32,
    /// The stream that would carry the push.
    pub promised: u32,
    /// The first part of the header block.
    pub fragment: &'a [u8],
    /// The header block ends here; else CONTINUATION follows.
    pub end_headers: bool,
}

impl<'a> PushPromise<'a> {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on stream 0; [`Violation::FrameSizeInvalid`] when it is
    /// too small for its fixed fields; [`Violation::PaddingTooLong`] when the padding leaves no
    /// room for them; [`Violation::StreamIdInvalid`] unless the promised id is even and not 0.
    pub fn parse(header: FrameHeader, payload: &'a [u8]) -> Result<Self, Violation> {
        header.must_have_stream()?;
        let rest = unpad(header, payload)?;
        let (&promised, fragment) = rest.split_first_chunk().ok_or_else(|| {
            let fixed = 4 + usize::from(header.has(flag::PADDED));
            if payload.len() < fixed {
                Violation::FrameSizeInvalid
            } else {
                Violation::PaddingTooLong
            }
        })?;
        let promised = u31(promised);
        // RFC 9113 section 6.6: an id that is not valid for a new stream of the server.
        if promised == 0 || promised % 2 == 1 {
            return Err(Violation::StreamIdInvalid);
        }
        Ok(Self {
            stream: header.stream,
            promised,
            fragment,
            end_headers: header.has(flag::END_HEADERS),
        })
    }

    /// Appends the frame, without padding.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::PUSH_PROMISE, self.stream, 4 + self.fragment.len())
            .with(flag::END_HEADERS, self.end_headers)
            .write(out);
        out.extend_from_slice(&self.promised.to_be_bytes());
        out.extend_from_slice(self.fragment);
    }
}
