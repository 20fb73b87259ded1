//! HEADERS (RFC 9113 section 6.2): strips padding and priority on the way in; splits a header
//! block over HEADERS and CONTINUATION on the way out.

use super::{FRAME_HEADER_BYTES, FrameHeader, flag, kind, priority, unpad};
use crate::error::Violation;

#[cfg(test)]
#[path = "headers_test.rs"]
mod headers_test;

/// A HEADERS frame without its padding and priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers<'a> {
    /// The stream it opens or goes on with; never 0.
    pub stream: u32,
    /// The first part of the header block.
    pub fragment: &'a [u8],
    /// The sender sends nothing after this header block.
    pub end_stream: bool,
    /// The header block ends here; else CONTINUATION follows.
    pub end_headers: bool,
    /// An error of the stream, not of the connection ([`Violation::DependsOnItself`]). A value,
    /// because the block must still be decoded: it is part of the compression state (RFC 9113
    /// section 4.3).
    pub flaw: Option<Violation>,
}

impl<'a> Headers<'a> {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on stream 0; [`Violation::FrameSizeInvalid`] when it is
    /// too small for its fixed fields; [`Violation::PaddingTooLong`] when the padding leaves no
    /// room for them.
    pub fn parse(header: FrameHeader, payload: &'a [u8]) -> Result<Self, Violation> {
        header.must_have_stream()?;
        let mut fragment = unpad(header, payload)?;
        let mut flaw = None;
        if header.has(flag::PRIORITY) {
            // Padding that leaves no room for the five bytes: if the frame itself is too small
            // the size is wrong (section 4.2), otherwise the padding is (section 6.2).
            let (fields, rest) = fragment.split_first_chunk().ok_or_else(|| {
                let fixed = priority::PRIORITY_BYTES + usize::from(header.has(flag::PADDED));
                if payload.len() < fixed {
                    Violation::FrameSizeInvalid
                } else {
                    Violation::PaddingTooLong
                }
            })?;
            flaw = priority::StreamDependency::read(header.stream, fields).err();
            fragment = rest;
        }
        Ok(Self {
            stream: header.stream,
            fragment,
            end_stream: header.has(flag::END_STREAM),
            end_headers: header.has(flag::END_HEADERS),
            flaw,
        })
    }
}

/// Appends `block` as one HEADERS frame and as many CONTINUATION frames as `frame_bytes_max` (the
/// peer's SETTINGS_MAX_FRAME_SIZE, at least 1) asks for.
pub fn write(stream: u32, block: &[u8], end: bool, frame_bytes_max: u32, out: &mut Vec<u8>) {
    let start = HeaderBlockStart::reserve(out);
    out.extend_from_slice(block);
    start.finish(stream, end, frame_bytes_max, out);
}

/// A header block that is being encoded straight into the output: room for the frame header is
/// reserved, and filled in once the length is known. Nothing else may be appended between.
#[derive(Debug)]
#[must_use = "the frame header is not written before finish()"]
pub struct HeaderBlockStart {
    at: usize,
}

impl HeaderBlockStart {
    /// Reserves the frame header at the end of `out`; append the encoded block next.
    pub fn reserve(out: &mut Vec<u8>) -> Self {
        let at = out.len();
        out.extend_from_slice(&[0; FRAME_HEADER_BYTES]);
        Self { at }
    }

    /// Takes the reserved room and everything behind it back.
    pub fn cancel(self, out: &mut Vec<u8>) {
        out.truncate(self.at);
    }

    /// Everything appended since `reserve` is the block: writes its frame header, and splits it
    /// into HEADERS and CONTINUATION when it is longer than `frame_bytes_max`.
    pub fn finish(self, stream: u32, end: bool, frame_bytes_max: u32, out: &mut Vec<u8>) {
        let first = self.at + FRAME_HEADER_BYTES;
        let block_len = out.len() - first;
        let frame_max = frame_bytes_max.max(1) as usize;
        let whole = block_len <= frame_max;
        let header = FrameHeader::new(kind::HEADERS, stream, block_len.min(frame_max))
            .with(flag::END_STREAM, end)
            .with(flag::END_HEADERS, whole);
        out[self.at..first].copy_from_slice(&header.bytes());
        if !whole {
            split(first, block_len, frame_max, stream, out);
        }
    }
}

/// Opens gaps for CONTINUATION headers, last one first, so that every byte moves once.
fn split(first: usize, block_len: usize, frame_max: usize, stream: u32, out: &mut Vec<u8>) {
    let continuations = block_len.div_ceil(frame_max) - 1;
    out.resize(out.len() + continuations * FRAME_HEADER_BYTES, 0);
    for index in (1..=continuations).rev() {
        let from = first + index * frame_max;
        let len = frame_max.min(block_len - index * frame_max);
        let to = from + index * FRAME_HEADER_BYTES;
        out.copy_within(from..from + len, to);
        let header = FrameHeader::new(kind::CONTINUATION, stream, len)
            .with(flag::END_HEADERS, index == continuations);
        out[to - FRAME_HEADER_BYTES..to].copy_from_slice(&header.bytes());
    }
}
