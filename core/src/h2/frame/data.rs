//! DATA (RFC 9113 section 6.1). The payload is streamed, so only its layout is parsed here.

use super::{FrameHeader, flag, kind};
use crate::error::Violation;

#[cfg(test)]
#[path = "data_test.rs"]
mod data_test;

/// The layout of a DATA payload: a padding length if padded, `body_len` bytes of body, then
/// `pad_len` bytes of padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// Bytes of padding after the body, without the byte of its length; 0..=255.
    pub pad_len: u32,
    /// Bytes of body.
    pub body_len: u32,
}

impl DataLayout {
    /// Reads the layout. `pad` is the first byte of the payload when the frame is PADDED and has
    /// one (see [`needs_first_byte`](Self::needs_first_byte)); otherwise it is not looked at.
    ///
    /// Flow control counts the whole payload, `header.len`, padding included
    /// (RFC 9113 section 6.9.1).
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on stream 0; [`Violation::FrameSizeInvalid`] without the
    /// padding length; [`Violation::PaddingTooLong`] when the padding exceeds the payload.
    pub fn parse(header: FrameHeader, pad: Option<u8>) -> Result<Self, Violation> {
        header.must_have_stream()?;
        if !header.has(flag::PADDED) {
            return Ok(Self {
                pad_len: 0,
                body_len: header.len,
            });
        }
        // RFC 9113 section 4.2: too small for its mandatory fields.
        let pad_len = u32::from(pad.ok_or(Violation::FrameSizeInvalid)?);
        let rest = header
            .len
            .checked_sub(1)
            .ok_or(Violation::FrameSizeInvalid)?;
        // Section 6.1: padding of the payload's length or more. The length byte is payload.
        let body_len = rest.checked_sub(pad_len).ok_or(Violation::PaddingTooLong)?;
        Ok(Self { pad_len, body_len })
    }

    /// Whether [`parse`](Self::parse) needs the payload's first byte to be there.
    pub fn needs_first_byte(header: FrameHeader) -> bool {
        header.has(flag::PADDED) && header.len > 0
    }

    /// Whether this frame ends the sender's side.
    pub fn ends_stream(header: FrameHeader) -> bool {
        header.has(flag::END_STREAM)
    }
}

/// Appends the header of a DATA frame without padding; the `len` bytes of body follow.
pub fn write_header(stream: u32, len: u32, end: bool, out: &mut Vec<u8>) {
    FrameHeader::new(kind::DATA, stream, len as usize)
        .with(flag::END_STREAM, end)
        .write(out);
}

/// Appends a whole DATA frame without padding. `body` must fit the peer's
/// SETTINGS_MAX_FRAME_SIZE.
pub fn write(stream: u32, body: &[u8], end: bool, out: &mut Vec<u8>) {
    write_header(stream, body.len() as u32, end, out);
    out.extend_from_slice(body);
}
