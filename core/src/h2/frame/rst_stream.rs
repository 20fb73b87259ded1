//! RST_STREAM (RFC 9113 section 6.4).

use super::{FrameHeader, kind};
use crate::error::{H2Code, Violation};

#[cfg(test)]
#[path = "rst_stream_test.rs"]
mod rst_stream_test;

/// The end of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RstStream {
    /// The stream that ends; never 0.
    pub stream: u32,
    /// Why; unknown codes are kept (RFC 9113 section 7).
    pub code: H2Code,
}

impl RstStream {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on stream 0; [`Violation::FrameSizeInvalid`] unless it has
    /// 4 bytes.
    pub fn parse(header: FrameHeader, payload: &[u8]) -> Result<Self, Violation> {
        header.must_have_stream()?;
        let code = payload
            .try_into()
            .map_err(|_| Violation::FrameSizeInvalid)?;
        Ok(Self {
            stream: header.stream,
            code: H2Code(u32::from_be_bytes(code)),
        })
    }

    /// Appends the frame.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::RST_STREAM, self.stream, 4).write(out);
        out.extend_from_slice(&self.code.0.to_be_bytes());
    }
}
