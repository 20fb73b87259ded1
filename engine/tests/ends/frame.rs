//! Frames of HTTP/2 by hand, and the codes that end a stream or a connection.

use super::wire::Wire;
use std::io::{Read, Write};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const END_STREAM: u8 = 0x1;
pub(crate) const END_HEADERS: u8 = 0x4;

/// Every code of RFC 9113 section 7, and one that it does not know.
pub(crate) const CODES: std::ops::RangeInclusive<u32> = 0..=14;
pub(crate) const REFUSED_STREAM: u32 = 7;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;
pub(crate) const HTTP_1_1_REQUIRED: u32 = 13;

/// One frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

pub(crate) fn rst_stream(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub(crate) fn goaway(last: u32, code: u32) -> Vec<u8> {
    let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
    frame(GOAWAY, 0, 0, &payload)
}

/// A PING of another length than eight bytes, which costs the connection (RFC 9113 section 6.7).
pub(crate) fn malformed() -> Vec<u8> {
    frame(PING, 0, 0, b"short")
}

/// The kind, the flags and the stream of the next frame; `None` at the end of the connection.
pub(crate) fn read_frame(wire: &mut Wire) -> Option<(u8, u8, u32)> {
    let mut header = [0; 9];
    wire.read_exact(&mut header).ok()?;
    let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
    let mut payload = vec![0; length];
    wire.read_exact(&mut payload).ok()?;
    let (kind, flags) = (header[3], header[4]);
    if kind == SETTINGS && flags == 0 {
        let _ = wire.write_all(&frame(SETTINGS, 1, 0, &[]));
    }
    let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
    Some((kind, flags, stream))
}

/// Reads to the end of the next request; its stream.
pub(crate) fn read_request(wire: &mut Wire) -> Option<u32> {
    loop {
        let (kind, flags, stream) = read_frame(wire)?;
        if matches!(kind, HEADERS | DATA) && flags & END_STREAM != 0 {
            return Some(stream);
        }
    }
}
