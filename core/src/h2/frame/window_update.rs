//! WINDOW_UPDATE (RFC 9113 section 6.9).

use super::{FrameHeader, kind, u31};
use crate::error::Violation;

#[cfg(test)]
#[path = "window_update_test.rs"]
mod window_update_test;

/// The sender lets its peer send more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUpdate {
    /// 0 is the connection's window.
    pub stream: u32,
    /// Bytes more, 1..=2^31-1.
    pub increment: u32,
}

impl WindowUpdate {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameSizeInvalid`] unless it has 4 bytes; [`Violation::WindowIncrementZero`],
    /// on stream 0 [`Violation::ConnectionWindowIncrementZero`].
    pub fn parse(header: FrameHeader, payload: &[u8]) -> Result<Self, Violation> {
        let increment = payload
            .try_into()
            .map_err(|_| Violation::FrameSizeInvalid)?;
        let increment = u31(increment);
        match (increment, header.stream) {
            (0, 0) => Err(Violation::ConnectionWindowIncrementZero),
            (0, _) => Err(Violation::WindowIncrementZero),
            (increment, stream) => Ok(Self { stream, increment }),
        }
    }

    /// Appends the frame.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::WINDOW_UPDATE, self.stream, 4).write(out);
        out.extend_from_slice(&self.increment.to_be_bytes());
    }
}
