//! Repeated heads of HTTP/2: a server with its head cache and a decoder without one get the same
//! blocks and must read the same requests. A cache hit must leave the compression table as decoding
//! would (RFC 7541 section 2.3.2).
//!
//! The input is a program: each byte adds a field to the block, repeats an earlier block or ends this
//! one.

use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::Closed;
use trunkline_core::h2::Conn;
use trunkline_core::h2::frame::{FrameHeader, flag, kind};
use trunkline_core::hpack::{DecodedBlock, Decoder};
use trunkline_core::http::{Event, Fields, RequestHead, ResponseHead, Side, Version};
use trunkline_core::limits::{Config, Limits};

const PREFACE: &[u8] =
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0";
/// `GET http://a/` without the table.
const LINE: &[u8] = &[0x82, 0x86, 0x84, 0x01, 1, b'a'];
/// Sizes of table updates: no entry fits, one, some, all.
const SIZES: [usize; 4] = [0, 40, 200, 4096];
const STREAMS_MAX: u32 = 2000;

/// Feeds a server with blocks that a decoder without a memory reads too.
pub fn h2_heads(data: &[u8]) {
    let mut pair = HeadPair::new();
    let mut earlier: Vec<Vec<u8>> = Vec::new();
    let mut updates = Vec::new();
    let mut fields = Vec::new();
    for &byte in data {
        let argument = byte >> 3;
        match byte & 7 {
            0 => {
                // More than was allowed is refused (RFC 7541 section 6.3).
                let size = match argument {
                    31 => 4097,
                    _ => SIZES[usize::from(argument & 3)],
                };
                put_integer(&mut updates, 0x20, 5, size);
            }
            1 => put_literal(&mut fields, 0x40, argument),
            2 => put_literal(&mut fields, 0x00, argument),
            3 => put_literal(&mut fields, 0x10, argument),
            4 => {
                if let Some(index) = pair.index(argument) {
                    put_integer(&mut fields, 0x80, 7, index);
                }
            }
            5 => {
                // An indexed name and a new value: the entry that it names may go.
                if let Some(index) = pair.index(argument) {
                    put_integer(&mut fields, 0x40, 6, index);
                    fields.extend([1, b'a' + argument]);
                }
            }
            6 => {
                let again = usize::from(argument & 3);
                if let Some(block) = earlier.iter().rev().nth(again) {
                    let block = block.clone();
                    if !pair.takes(&block) {
                        return;
                    }
                }
            }
            _ => {
                let block = [&updates[..], LINE, &fields].concat();
                updates.clear();
                fields.clear();
                if !pair.takes(&block) {
                    return;
                }
                earlier.push(block);
            }
        }
    }
}

/// An integer of RFC 7541 section 5.1 behind the bits of `first`.
fn put_integer(out: &mut Vec<u8>, first: u8, prefix_bits: u32, value: usize) {
    let most = (1 << prefix_bits) - 1;
    if value < most {
        out.push(first | value as u8);
        return;
    }
    out.push(first | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// A literal with a new name: a few names and values, of which one does not fit into a small table.
fn put_literal(out: &mut Vec<u8>, kind: u8, argument: u8) {
    let (name, value) = (b'p' + (argument & 1), (argument >> 1) & 3);
    let length = if value == 3 { 100 } else { 1 + value };
    out.extend([kind, 1, name, length]);
    out.extend(std::iter::repeat_n(b'0' + value, usize::from(length)));
}

/// The server, and the decoder beside it.
struct HeadPair {
    conn: Conn,
    now: Instant,
    decoder: Decoder,
    limits: Limits,
    stream: u32,
}

impl HeadPair {
    fn new() -> Self {
        let now = Instant::now();
        let config = Config::default();
        let limits = config.limits.clone();
        let mut conn = Conn::new(Side::Server, Arc::new(config), now);
        conn.handle_bytes(now, PREFACE);
        while conn.poll_event().is_some() {}
        Self {
            conn,
            now,
            decoder: Decoder::new(4096),
            limits,
            stream: 1,
        }
    }
    /// The index of an entry of the dynamic table, which mostly is there: one that is not ends the
    /// connection, and what would come behind it is not compared.
    fn index(&self, argument: u8) -> Option<usize> {
        const FIRST: usize = 62;
        const ENTRY_BYTES_MAX: usize = 32 + 1 + 100;
        if argument == 31 {
            return Some(FIRST + 40);
        }
        let entries = self.decoder.table_size().div_ceil(ENTRY_BYTES_MAX);
        (entries > 0).then(|| FIRST + usize::from(argument) % entries)
    }
    /// Gives both a block. Whether the connection goes on.
    fn takes(&mut self, block: &[u8]) -> bool {
        let stream = self.stream;
        if stream > 2 * STREAMS_MAX {
            return false;
        }
        self.stream += 2;
        // No budget is to be used up.
        self.now += Duration::from_millis(100);
        let mut expected = Fields::new();
        let decoded = self.decoder.decode(block, &self.limits, &mut expected);
        let mut frame = Vec::new();
        let header = FrameHeader {
            len: block.len() as u32,
            kind: kind::HEADERS,
            flags: flag::END_HEADERS | flag::END_STREAM,
            stream,
        };
        header.write(&mut frame);
        frame.extend_from_slice(block);
        self.conn.handle_bytes(self.now, &frame);
        let came = self.request(stream);
        match decoded {
            Err(violation) => {
                assert_eq!(came, Came::Closed(Closed::ByUs(violation)), "{block:?}");
                false
            }
            Ok(DecodedBlock::Refused(_)) => {
                assert_eq!(came, Came::Nothing, "{block:?}");
                true
            }
            Ok(DecodedBlock::Complete) => {
                let head = RequestHead::received(expected, Version::Http2);
                let expected = match head {
                    Ok(head) => Came::Request(pairs(&head)),
                    Err(_) => Came::Nothing,
                };
                assert_eq!(came, expected, "{block:?}");
                true
            }
        }
    }
    /// The outcome of a block; a request is answered.
    fn request(&mut self, id: u32) -> Came {
        let mut came = Came::Nothing;
        while let Some(event) = self.conn.poll_event() {
            match event {
                Event::RequestReceived { stream, head, .. } => {
                    assert_eq!(stream.0, u64::from(id));
                    came = Came::Request(pairs(&head));
                    self.conn.recycle_head(head);
                    let answer = ResponseHead::new(204, Fields::new(), Version::Http2);
                    if let Ok(answer) = answer {
                        let _ = self.conn.respond(self.now, stream, &answer, true);
                    }
                    self.conn.handler_done(self.now, stream);
                }
                Event::Closed(closed) => came = Came::Closed(closed),
                _ => {}
            }
        }
        let outbox = self.conn.poll_write(self.now);
        let len = outbox.len();
        outbox.advance(len);
        came
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Came {
    Nothing,
    Request(Vec<(Bytes, Bytes)>),
    Closed(Closed),
}

fn pairs(head: &RequestHead) -> Vec<(Bytes, Bytes)> {
    let copy = Bytes::copy_from_slice;
    let fields = head.section().iter();
    fields
        .map(|field| (copy(field.name), copy(field.value)))
        .collect()
}
