//! Describes the frames of an HTTP/2 connection from its bytes in both directions.
//!
//! Field sections are decoded by decoders of its own, one for each direction, whose tables follow the bytes.

use super::{FRAME_HEADER_BYTES, FrameHeader, flag, kind};
use crate::hpack::decode::{DecodedBlock, Decoder};
use crate::http::trace::{Contents, Direction, TRACED_BYTES_MAX, TraceEvent, TracedFrame};
use crate::http::{Fields, Side};
use crate::limits::Limits;

/// Bytes of the client's preface (RFC 9113 section 3.4).
const PREFACE_BYTES: usize = 24;
/// The largest HPACK table that is followed, in bytes. Larger ones are no endpoint's setting that we know; behind one,
/// sections have no fields.
const TABLE_BYTES_MAX: usize = 1 << 20;

/// The reader of both directions.
#[derive(Debug)]
pub struct Http2Trace {
    sent: TracedDirection,
    received: TracedDirection,
    limits: Limits,
    fields: Fields,
}

/// The reader of one direction.
#[derive(Debug)]
struct TracedDirection {
    direction: Direction,
    /// Bytes of the client's preface to come (RFC 9113 section 3.4).
    preface: usize,
    /// The start of a frame header.
    header: [u8; FRAME_HEADER_BYTES],
    have: usize,
    /// The frame under way, and bytes of it to come.
    frame: Option<FrameHeader>,
    left: usize,
    /// The payload, of other frames than DATA.
    payload: Vec<u8>,
    /// A field section so far.
    block: Vec<u8>,
    /// `None`: a section could not be read, and what follows it cannot either.
    decoder: Option<Decoder>,
}

impl Http2Trace {
    /// Follows a connection from its first byte.
    pub fn new(side: Side) -> Self {
        let preface_of = |from| if side == from { PREFACE_BYTES } else { 0 };
        Self {
            sent: TracedDirection::new(Direction::Sent, preface_of(Side::Client)),
            received: TracedDirection::new(Direction::Received, preface_of(Side::Server)),
            limits: Limits::default(),
            fields: Fields::new(),
        }
    }
    /// Describes the frames that end in the next `bytes` of a direction; those of DATA where they begin.
    pub fn read(
        &mut self,
        direction: Direction,
        bytes: &[u8],
        sink: &mut dyn FnMut(TraceEvent<'_>),
    ) {
        let reader = match direction {
            Direction::Sent => &mut self.sent,
            Direction::Received => &mut self.received,
        };
        reader.read(bytes, &self.limits, &mut self.fields, sink);
    }
}

impl TracedDirection {
    fn new(direction: Direction, preface: usize) -> Self {
        Self {
            direction,
            preface,
            header: [0; FRAME_HEADER_BYTES],
            have: 0,
            frame: None,
            left: 0,
            payload: Vec::new(),
            block: Vec::new(),
            decoder: Some(Decoder::new(TABLE_BYTES_MAX)),
        }
    }
    fn read(
        &mut self,
        mut bytes: &[u8],
        limits: &Limits,
        fields: &mut Fields,
        sink: &mut dyn FnMut(TraceEvent<'_>),
    ) {
        let preface = self.preface.min(bytes.len());
        self.preface -= preface;
        bytes = &bytes[preface..];
        while let Some(frame) = self.next_frame(&mut bytes) {
            self.describe(frame, limits, fields, sink);
            self.payload.clear();
        }
    }
    /// Takes bytes up to the end of a frame, or of the header of DATA; `None`: more are needed.
    fn next_frame(&mut self, bytes: &mut &[u8]) -> Option<FrameHeader> {
        loop {
            let Some(frame) = self.frame else {
                if bytes.is_empty() {
                    return None;
                }
                let count = bytes.len().min(FRAME_HEADER_BYTES - self.have);
                let (head, rest) = bytes.split_at(count);
                self.header[self.have..self.have + count].copy_from_slice(head);
                self.have += count;
                *bytes = rest;
                if self.have < FRAME_HEADER_BYTES {
                    return None;
                }
                self.have = 0;
                let frame = FrameHeader::parse(&self.header);
                self.frame = Some(frame);
                self.left = frame.len as usize;
                if frame.kind == kind::DATA {
                    return Some(frame);
                }
                continue;
            };
            let count = bytes.len().min(self.left);
            let (payload, rest) = bytes.split_at(count);
            if frame.kind != kind::DATA && self.payload.len() < TRACED_BYTES_MAX {
                self.payload.extend_from_slice(payload);
            }
            self.left -= count;
            *bytes = rest;
            if self.left > 0 {
                return None;
            }
            self.frame = None;
            if frame.kind != kind::DATA {
                return Some(frame);
            }
        }
    }
    fn describe(
        &mut self,
        frame: FrameHeader,
        limits: &Limits,
        fields: &mut Fields,
        sink: &mut dyn FnMut(TraceEvent<'_>),
    ) {
        let ends = matches!(frame.kind, kind::DATA | kind::HEADERS) && frame.has(flag::END_STREAM);
        let mut values = Vec::new();
        let payload = &*self.payload;
        let contents = match frame.kind {
            kind::DATA => Contents::Data,
            kind::HEADERS | kind::CONTINUATION => {
                let is_first = frame.kind == kind::HEADERS;
                if is_first {
                    self.block.clear();
                }
                let fragment = if is_first {
                    fragment(frame, payload)
                } else {
                    payload
                };
                if self.block.len() < TRACED_BYTES_MAX {
                    self.block.extend_from_slice(fragment);
                }
                let is_read = frame.has(flag::END_HEADERS) && self.decode(limits, fields);
                let fields = is_read.then_some(&*fields);
                match is_first {
                    true => Contents::Headers(fields),
                    false => Contents::Continuation(fields),
                }
            }
            kind::SETTINGS => {
                let pairs = payload.chunks_exact(6);
                values.extend(pairs.map(|pair| (number(&pair[..2]), number(&pair[2..]))));
                Contents::Settings {
                    ack: frame.has(flag::ACK),
                    values: &values,
                }
            }
            kind::PUSH_PROMISE => {
                // It changes the table as HEADERS do, and no endpoint of ours sends or accepts one.
                self.decoder = None;
                Contents::PushPromise
            }
            _ => simple(frame, payload),
        };
        sink(TraceEvent::Frame(TracedFrame {
            direction: self.direction,
            stream: frame.stream.into(),
            bytes: frame.len.into(),
            ends,
            contents,
        }));
    }
    /// Decodes the section in `block`; false: it cannot be read, or is longer than we accept.
    fn decode(&mut self, limits: &Limits, fields: &mut Fields) -> bool {
        let block = std::mem::take(&mut self.block);
        let Some(decoder) = &mut self.decoder else {
            return false;
        };
        if block.len() >= TRACED_BYTES_MAX {
            self.decoder = None;
            return false;
        }
        let decoded = decoder.decode(&block, limits, fields);
        if decoded.is_err() {
            self.decoder = None;
        }
        decoded == Ok(DecodedBlock::Complete)
    }
}

/// The part of a HEADERS payload that is the field section (RFC 9113 section 6.2); nothing where the lengths are wrong.
fn fragment(frame: FrameHeader, payload: &[u8]) -> &[u8] {
    let (mut start, mut padding) = (0, 0);
    if frame.has(flag::PADDED) {
        start = 1;
        padding = payload.first().map_or(0, |&padding| padding.into());
    }
    if frame.has(flag::PRIORITY) {
        start += 5;
    }
    let end = payload.len().saturating_sub(padding);
    payload.get(start..end).unwrap_or_default()
}

/// The contents of a frame that says little.
fn simple(frame: FrameHeader, payload: &[u8]) -> Contents<'_> {
    let at = |from: usize| number(payload.get(from..from + 4).unwrap_or_default());
    match frame.kind {
        kind::PRIORITY => Contents::Priority,
        kind::RST_STREAM => Contents::ResetStream { code: at(0) },
        kind::PING => Contents::Ping {
            ack: frame.has(flag::ACK),
        },
        kind::GOAWAY => Contents::Goaway {
            id: at(0) & RESERVED_BIT_OFF,
            code: Some(at(4)),
        },
        kind::WINDOW_UPDATE => Contents::WindowUpdate {
            increment: (at(0) & RESERVED_BIT_OFF) as u32,
        },
        kind::PRIORITY_UPDATE => Contents::PriorityUpdate {
            id: at(0) & RESERVED_BIT_OFF,
            value: payload.get(4..).unwrap_or_default(),
        },
        other => Contents::Unknown { kind: other.into() },
    }
}

/// The top bit of stream ids and increments is reserved (RFC 9113 section 4.1).
const RESERVED_BIT_OFF: u64 = 0x7fff_ffff;

/// A number in network order, of at most 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
#[path = "trace_test.rs"]
mod trace_test;
