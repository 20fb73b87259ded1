//! HTTP/2 frames (RFC 9113 sections 4 and 6): the nine-byte header here, one file per frame type
//! below. Parsers check the rules of a single frame (length, stream 0, padding, ranges); rules of
//! the stream or the connection are checked above. Writers append to a buffer.
//!
//! No parser allocates: parsed frames borrow the payload.

pub mod alt_svc;
pub mod continuation;
pub mod data;
pub mod goaway;
pub mod headers;
pub mod origin;
pub mod ping;
pub mod priority;
pub mod priority_update;
pub mod push_promise;
pub mod rst_stream;
pub mod settings;
pub mod trace;
pub mod window_update;

#[cfg(test)]
#[path = "frame_test.rs"]
mod frame_test;

pub use alt_svc::AltSvcFrame;
pub use continuation::Continuation;
pub use data::DataLayout;
pub use goaway::Goaway;
pub use headers::{HeaderBlockStart, Headers};
pub use ping::Ping;
pub use priority::StreamDependency;
pub use priority_update::PriorityUpdate;
pub use push_promise::PushPromise;
pub use rst_stream::RstStream;
pub use settings::{Setting, SettingsFrame};
pub use window_update::WindowUpdate;

use crate::error::Violation;

/// Bytes of every frame's header (RFC 9113 section 4.1).
pub const FRAME_HEADER_BYTES: usize = 9;
/// The largest payload that every endpoint takes, and the least value of
/// SETTINGS_MAX_FRAME_SIZE (RFC 9113 section 4.2), in bytes.
pub const FRAME_BYTES_DEFAULT: u32 = 1 << 14;
/// The highest value of SETTINGS_MAX_FRAME_SIZE (RFC 9113 section 6.5.2), in bytes.
pub const FRAME_BYTES_MAX: u32 = (1 << 24) - 1;
/// The highest stream id; the bit above it is reserved and ignored (RFC 9113 section 4.1).
pub const STREAM_ID_MAX: u32 = (1 << 31) - 1;

/// Frame types. Types that are not listed are ignored, and so are those that only a server sends
/// and no client of ours asks for (RFC 9113 section 5.5).
#[allow(missing_docs, reason = "the names are those of RFC 9113 section 6")]
pub mod kind {
    pub const DATA: u8 = 0x0;
    pub const HEADERS: u8 = 0x1;
    pub const PRIORITY: u8 = 0x2;
    pub const RST_STREAM: u8 = 0x3;
    pub const SETTINGS: u8 = 0x4;
    pub const PUSH_PROMISE: u8 = 0x5;
    pub const PING: u8 = 0x6;
    pub const GOAWAY: u8 = 0x7;
    pub const WINDOW_UPDATE: u8 = 0x8;
    pub const CONTINUATION: u8 = 0x9;
    /// RFC 7838 section 4; sent, and ignored.
    pub const ALTSVC: u8 = 0xa;
    /// RFC 8336 section 2; sent, and ignored.
    pub const ORIGIN: u8 = 0xc;
    /// RFC 9218 section 7.1.
    pub const PRIORITY_UPDATE: u8 = 0x10;
}

/// Flags; each has a meaning only on the types that RFC 9113 section 6 gives it, and is ignored
/// on others (section 4.1).
pub mod flag {
    /// DATA, HEADERS: the sender sends nothing more on this stream.
    pub const END_STREAM: u8 = 0x1;
    /// SETTINGS, PING: an answer.
    pub const ACK: u8 = 0x1;
    /// HEADERS, PUSH_PROMISE, CONTINUATION: the header block ends here.
    pub const END_HEADERS: u8 = 0x4;
    /// DATA, HEADERS, PUSH_PROMISE: the payload starts with a padding length.
    pub const PADDED: u8 = 0x8;
    /// HEADERS: five bytes of RFC 7540 priority stand before the block.
    pub const PRIORITY: u8 = 0x20;
}

/// The nine bytes before every payload (RFC 9113 section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Payload bytes, at most [`FRAME_BYTES_MAX`].
    pub len: u32,
    /// See [`kind`].
    pub kind: u8,
    /// See [`flag`].
    pub flags: u8,
    /// 0 is the connection; at most [`STREAM_ID_MAX`].
    pub stream: u32,
}

impl FrameHeader {
    /// Reads a header. Every nine bytes are one; the reserved bit is ignored.
    pub fn parse(bytes: &[u8; FRAME_HEADER_BYTES]) -> Self {
        let &[a, b, c, kind, flags, s0, s1, s2, s3] = bytes;
        Self {
            len: u32::from_be_bytes([0, a, b, c]),
            kind,
            flags,
            stream: u32::from_be_bytes([s0, s1, s2, s3]) & STREAM_ID_MAX,
        }
    }

    /// The header of a frame without flags. `len`: payload bytes.
    pub fn new(kind: u8, stream: u32, len: usize) -> Self {
        Self {
            len: len as u32,
            kind,
            flags: 0,
            stream,
        }
    }

    /// With this flag, if it is set.
    #[must_use]
    pub fn with(self, flag: u8, set: bool) -> Self {
        let flags = if set { self.flags | flag } else { self.flags };
        Self { flags, ..self }
    }

    /// The header as bytes. `len` and `stream` must be in their ranges.
    pub fn bytes(self) -> [u8; FRAME_HEADER_BYTES] {
        debug_assert!(
            self.len <= FRAME_BYTES_MAX,
            "len {} is not 24 bits",
            self.len
        );
        debug_assert!(
            self.stream <= STREAM_ID_MAX,
            "stream {} is not 31 bits",
            self.stream
        );
        let [_, a, b, c] = self.len.to_be_bytes();
        let [s0, s1, s2, s3] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, s0, s1, s2, s3]
    }

    /// Appends the header.
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes());
    }

    /// Whether any bit of `flag` is set.
    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// A frame that belongs to a stream (RFC 9113 sections 6.1, 6.2, 6.3, 6.4, 6.6, 6.10).
    fn must_have_stream(self) -> Result<(), Violation> {
        if self.stream == 0 {
            return Err(Violation::FrameOnWrongStream);
        }
        Ok(())
    }

    /// A frame that belongs to the connection (RFC 9113 sections 6.5, 6.7, 6.8;
    /// RFC 9218 section 7.1).
    fn must_have_no_stream(self) -> Result<(), Violation> {
        if self.stream != 0 {
            return Err(Violation::FrameOnWrongStream);
        }
        Ok(())
    }
}

/// Strips the padding of a frame that is held whole (RFC 9113 sections 6.2 and 6.6). Returns the
/// payload between the padding length and the padding.
fn unpad(header: FrameHeader, payload: &[u8]) -> Result<&[u8], Violation> {
    if !header.has(flag::PADDED) {
        return Ok(payload);
    }
    // RFC 9113 section 4.2: too small for its mandatory fields.
    let (&pad, rest) = payload.split_first().ok_or(Violation::FrameSizeInvalid)?;
    let kept = rest
        .len()
        .checked_sub(usize::from(pad))
        .ok_or(Violation::PaddingTooLong)?;
    Ok(&rest[..kept])
}

/// Reads a 31-bit number whose top bit is reserved.
fn u31(bytes: [u8; 4]) -> u32 {
    u32::from_be_bytes(bytes) & STREAM_ID_MAX
}
