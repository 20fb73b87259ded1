//! Frames (RFC 9114 section 7): a header of two integers, and a payload that is passed on as it
//! arrives. Only an incomplete header is buffered.

use crate::wire::{TypeLength, varint};
use bytes::{BufMut, BytesMut};

/// Frame types (RFC 9114 section 7.2, RFC 9218 section 7.2).
#[allow(missing_docs, reason = "the names are those of the RFCs")]
pub mod kind {
    pub const DATA: u64 = 0x0;
    pub const HEADERS: u64 = 0x1;
    pub const CANCEL_PUSH: u64 = 0x3;
    pub const SETTINGS: u64 = 0x4;
    pub const PUSH_PROMISE: u64 = 0x5;
    pub const GOAWAY: u64 = 0x7;
    pub const MAX_PUSH_ID: u64 = 0xd;
    /// The first of those that mean nothing (RFC 9114 section 7.2.8).
    pub const RESERVED: u64 = 0x21;
    pub const PRIORITY_UPDATE_REQUEST: u64 = 0xf_0700;
    pub const PRIORITY_UPDATE_PUSH: u64 = 0xf_0701;
}

/// The type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of RFC 9114 section 7.2")]
pub enum FrameKind {
    Data,
    Headers,
    CancelPush,
    Settings,
    PushPromise,
    Goaway,
    MaxPushId,
    PriorityUpdateRequest,
    PriorityUpdatePush,
    /// A type of HTTP/2 that must not come (RFC 9114 section 7.2.8).
    ReservedHttp2,
    /// To be skipped (RFC 9114 section 9).
    Unknown,
}

impl FrameKind {
    /// The kind of a type on the wire.
    pub fn of(wire: u64) -> Self {
        match wire {
            kind::DATA => Self::Data,
            kind::HEADERS => Self::Headers,
            kind::CANCEL_PUSH => Self::CancelPush,
            kind::SETTINGS => Self::Settings,
            kind::PUSH_PROMISE => Self::PushPromise,
            kind::GOAWAY => Self::Goaway,
            kind::MAX_PUSH_ID => Self::MaxPushId,
            kind::PRIORITY_UPDATE_REQUEST => Self::PriorityUpdateRequest,
            kind::PRIORITY_UPDATE_PUSH => Self::PriorityUpdatePush,
            // PRIORITY, PING, WINDOW_UPDATE, CONTINUATION.
            0x2 | 0x6 | 0x8 | 0x9 => Self::ReservedHttp2,
            _ => Self::Unknown,
        }
    }
}

/// The next part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A frame begins.
    Header {
        /// Its kind.
        kind: FrameKind,
        /// Payload bytes to come.
        len: u64,
    },
    /// The next bytes of its payload. Every frame has a last piece, maybe empty.
    Payload {
        /// The kind of the frame.
        kind: FrameKind,
        /// Its bytes.
        bytes: &'a [u8],
        /// The frame is complete.
        is_last: bool,
    },
}

/// Where in a stream of frames the reader stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameReader {
    header: TypeLength,
    kind: Option<FrameKind>,
    left: u64,
}

impl FrameReader {
    /// Takes the next piece off `input`; `None`: more bytes are needed.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Option<Piece<'a>> {
        let Some(kind) = self.kind else {
            let (kind, len) = self.header.next(input)?;
            let kind = FrameKind::of(kind);
            self.kind = Some(kind);
            self.left = len;
            return Some(Piece::Header { kind, len });
        };
        if input.is_empty() && self.left > 0 {
            return None;
        }
        let len = usize::try_from(self.left).map_or(input.len(), |left| left.min(input.len()));
        let (bytes, rest) = input.split_at(len);
        *input = rest;
        self.left -= len as u64;
        let is_last = self.left == 0;
        if is_last {
            self.kind = None;
        }
        Some(Piece::Payload {
            kind,
            bytes,
            is_last,
        })
    }
    /// Whether the stream may end here.
    pub fn is_between_frames(&self) -> bool {
        self.kind.is_none() && self.header.is_empty()
    }
    /// Bytes of the frame under way that are still to come.
    pub fn left(&self) -> u64 {
        self.left
    }
}

/// Integers below it are their one byte (RFC 9000 section 16).
const ONE_BYTE: u64 = 64;

/// Appends a frame header.
pub fn put_header(kind: u64, len: usize, out: &mut BytesMut) {
    if kind < ONE_BYTE && (len as u64) < ONE_BYTE {
        return out.extend_from_slice(&[kind as u8, len as u8]);
    }
    for value in [kind, len as u64] {
        let (bytes, count) = varint::encode(value);
        out.put_slice(&bytes[..count]);
    }
}

/// Appends a whole small frame.
pub fn put_frame(kind: u64, payload: &[u8], out: &mut Vec<u8>) {
    varint::put(kind, out);
    varint::put(payload.len() as u64, out);
    out.extend_from_slice(payload);
}

#[cfg(test)]
#[path = "frame_test.rs"]
mod frame_test;
