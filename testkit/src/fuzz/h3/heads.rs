//! Heads of HTTP/3 that come again: a server and a client, which remember some, are given the same
//! sections and instructions as a decoder that remembers nothing, and take the same heads from them.
//! Sections that they skip must be acknowledged as if they had been decoded (RFC 9204 section 4.4.1).
//!
//! The input is a side and a program: each byte adds an instruction or a line, repeats an earlier
//! section or ends this one.

use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::Closed;
use trunkline_core::h3::{Conn, TransportAction, UniKind};
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};
use trunkline_core::limits::{Config, Limits, QPACK_BLOCKED_STREAMS_MAX, QPACK_TABLE_BYTES_MAX};
use trunkline_core::qpack::{DecodedSection, Decoder};

/// `GET https://a/`, and `200`, of the static table alone (RFC 9204 appendix A).
const REQUEST: &[u8] = &[0xd1, 0xd7, 0xc1, 0x50, 1, b'a'];
const RESPONSE: &[u8] = &[0xd9];
/// Capacities that the table is set to: no entry fits, one, some, all.
const CAPACITIES: [usize; 4] = [0, 40, 200, 4096];
/// RFC 9204 section 4.5.1.1: twice the entries of 32 bytes that the largest table holds.
const FULL_RANGE: u64 = 2 * (QPACK_TABLE_BYTES_MAX as u64 / 32);
const STREAMS_MAX: u64 = 1000;

/// Feeds a machine with sections that a decoder without a memory reads too.
pub fn h3_heads(data: &[u8]) {
    let Some((&side, program)) = data.split_first() else {
        return;
    };
    let side = match side & 1 {
        0 => Side::Server,
        _ => Side::Client,
    };
    let mut pair = MemoPair::new(side);
    let mut earlier: Vec<Vec<u8>> = Vec::new();
    let mut section = Section::default();
    for &byte in program {
        let argument = byte >> 3;
        let goes_on = match byte & 7 {
            0 => {
                let mut capacity = Vec::new();
                let bytes = match argument {
                    31 => QPACK_TABLE_BYTES_MAX + 1,
                    _ => CAPACITIES[usize::from(argument & 3)],
                };
                put_integer(&mut capacity, 0x20, 5, bytes as u64);
                pair.instructs(&capacity)
            }
            1 => {
                let mut insert = Vec::new();
                put_literal(&mut insert, 0x40, 5, argument);
                pair.instructs(&insert)
            }
            2 => section.literal(0x20, argument),
            3 => section.literal(0x30, argument),
            4 => section.refers(pair.inserted, argument, false),
            5 => section.refers(pair.inserted, argument, true),
            6 => match earlier.iter().rev().nth(usize::from(argument & 3)) {
                Some(again) => pair.takes(&again.clone()),
                None => true,
            },
            _ => {
                let whole = std::mem::take(&mut section).whole(side, pair.inserted);
                let goes_on = pair.takes(&whole);
                earlier.push(whole);
                goes_on
            }
        };
        if !goes_on {
            return;
        }
    }
}

/// The lines of a section to come.
#[derive(Default)]
struct Section {
    /// References to entries by their absolute index (`Ok`), and other bytes.
    lines: Vec<FieldLine>,
}

enum FieldLine {
    Bytes(Vec<u8>),
    Entry { absolute: u64, with_value: bool },
}

impl Section {
    fn literal(&mut self, first: u8, argument: u8) -> bool {
        let mut line = Vec::new();
        put_literal(&mut line, first, 3, argument);
        self.lines.push(FieldLine::Bytes(line));
        true
    }
    /// An entry of the table, which may be gone; `with_value`: its name alone.
    fn refers(&mut self, inserted: u64, argument: u8, with_value: bool) -> bool {
        if let Some(absolute) = inserted.checked_sub(1 + u64::from(argument)) {
            self.lines.push(FieldLine::Entry {
                absolute,
                with_value,
            });
        }
        true
    }
    /// Its bytes: the base is the count of insertions, of which as many are required as it refers to.
    fn whole(self, side: Side, inserted: u64) -> Vec<u8> {
        let required = self.lines.iter().filter_map(|line| match line {
            FieldLine::Entry { absolute, .. } => Some(absolute + 1),
            FieldLine::Bytes(_) => None,
        });
        let mut out = Vec::new();
        match required.max() {
            None => out.extend([0, 0]),
            Some(required) => {
                put_integer(&mut out, 0, 8, required % FULL_RANGE + 1);
                put_integer(&mut out, 0, 7, inserted - required);
            }
        }
        out.extend_from_slice(match side {
            Side::Server => REQUEST,
            Side::Client => RESPONSE,
        });
        for line in self.lines {
            match line {
                FieldLine::Bytes(bytes) => out.extend(bytes),
                FieldLine::Entry {
                    absolute,
                    with_value: false,
                } => put_integer(&mut out, 0x80, 6, inserted - absolute - 1),
                FieldLine::Entry { absolute, .. } => {
                    put_integer(&mut out, 0x40, 4, inserted - absolute - 1);
                    out.extend([1, b'a']);
                }
            }
        }
        out
    }
}

/// An integer of RFC 7541 section 5.1 behind the bits of `first`.
fn put_integer(out: &mut Vec<u8>, first: u8, prefix_bits: u32, value: u64) {
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
fn put_literal(out: &mut Vec<u8>, first: u8, prefix_bits: u32, argument: u8) {
    let (name, value) = (b'p' + (argument & 1), (argument >> 1) & 3);
    let length = if value == 3 { 100 } else { 1 + value };
    put_integer(out, first, prefix_bits, 1);
    out.extend([name, length]);
    out.extend(std::iter::repeat_n(b'0' + value, usize::from(length)));
}

/// The machine, and the decoder beside it.
struct MemoPair {
    side: Side,
    conn: Conn,
    now: Instant,
    decoder: Decoder,
    limits: Limits,
    next: u64,
    inserted: u64,
    /// Our decoder stream, once it is open, and what was written there; and what the decoder says.
    feedback: Option<StreamId>,
    written: Vec<u8>,
    due: Vec<u8>,
}

impl MemoPair {
    fn new(side: Side) -> Self {
        let now = Instant::now();
        let config = Config::default();
        let limits = config.limits.clone();
        let mut pair = Self {
            side,
            conn: Conn::new(side, Arc::new(config), now),
            now,
            decoder: Decoder::new(QPACK_TABLE_BYTES_MAX, QPACK_BLOCKED_STREAMS_MAX),
            limits,
            next: 0,
            inserted: 0,
            feedback: None,
            written: Vec::new(),
            // The stream's type goes before the first of it.
            due: vec![3],
        };
        pair.conn.handle_handshake_done(now);
        if side == Side::Client {
            pair.conn.handle_streams_available(now, STREAMS_MAX);
        }
        // The control stream with SETTINGS that say nothing, and the encoder stream.
        pair.conn.handle_stream(now, pair.uni(0), &[0, 4, 0], false);
        pair.conn.handle_stream(now, pair.uni(1), &[2], false);
        pair.carry_out_actions();
        pair
    }
    /// The peer's unidirectional stream with this number.
    fn uni(&self, number: u64) -> StreamId {
        StreamId(number * 4 + if self.side == Side::Server { 2 } else { 3 })
    }
    /// Gives both an instruction. Whether the connection goes on.
    fn instructs(&mut self, instruction: &[u8]) -> bool {
        let handled = self.decoder.handle_encoder_bytes(instruction);
        let stream = self.uni(1);
        self.conn
            .handle_stream(self.now, stream, instruction, false);
        let came = self.take_events();
        let expected = match handled {
            Ok(()) => Came::Nothing,
            Err(violation) => Came::Closed(Closed::ByUs(violation)),
        };
        assert_eq!(came, expected, "{instruction:?}");
        // RFC 9204 section 4.3: the other instruction is an insertion.
        self.inserted += u64::from(instruction[0] & 0x40 != 0);
        self.compare_feedback();
        handled.is_ok()
    }
    /// Gives both a section. Whether the connection goes on.
    fn takes(&mut self, section: &[u8]) -> bool {
        let stream = StreamId(self.next);
        self.next += 4;
        // No budget is to be used up.
        self.now += Duration::from_millis(100);
        if self.next > 4 * STREAMS_MAX || self.side == Side::Client && !self.opens(stream) {
            return false;
        }
        let mut fields = Fields::new();
        let decoded = self
            .decoder
            .decode(stream, section, &self.limits, &mut fields);
        let mut frame = vec![1];
        put_length(&mut frame, section.len());
        frame.extend_from_slice(section);
        self.conn.handle_stream(self.now, stream, &frame, true);
        let came = self.take_events();
        match decoded {
            Err(violation) => {
                assert_eq!(came, Came::Closed(Closed::ByUs(violation)), "{section:?}");
                return false;
            }
            Ok(DecodedSection::Complete) => {
                let expected = match self.side {
                    Side::Server => RequestHead::received(fields, Version::Http3)
                        .map(|head| pairs(head.section())),
                    Side::Client => ResponseHead::received(fields, Version::Http3)
                        .map(|head| pairs(head.section())),
                };
                let expected = expected.map_or(Came::Nothing, Came::Head);
                assert_eq!(came, expected, "{section:?}");
            }
            Ok(DecodedSection::Refused(_)) => assert_eq!(came, Came::Nothing, "{section:?}"),
            // It repeats a section whose count of insertions means another one by now.
            Ok(DecodedSection::Blocked) => return false,
        }
        if came == Came::Nothing {
            // A refused section may be cancelled too, which is not the decoder's to say.
            return false;
        }
        self.compare_feedback();
        true
    }
    fn opens(&mut self, stream: StreamId) -> bool {
        let mut fields = Fields::new();
        fields.push(Token::METHOD, b"GET");
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::AUTHORITY, b"a");
        fields.push(Token::PATH, b"/");
        let head = RequestHead::from_fields(fields, Version::Http3).expect("it is valid");
        let opened = self.conn.open(self.now, &head, true);
        self.carry_out_actions();
        opened == Ok(stream)
    }
    /// Acknowledgements, cancellations and counts are those of the decoder that remembers nothing.
    fn compare_feedback(&mut self) {
        self.decoder.decoder_stream_bytes(&mut self.due);
        if self.written.is_empty() {
            assert!(self.due.len() <= 1, "of our decoder stream: {:?}", self.due);
            return;
        }
        assert_eq!(self.written, self.due, "of our decoder stream");
        // Each is compared once.
        self.written.truncate(1);
        self.due.truncate(1);
    }
    /// The head or the end that came; a request is answered.
    fn take_events(&mut self) -> Came {
        let mut came = Came::Nothing;
        self.carry_out_actions();
        while let Some(event) = self.conn.poll_event() {
            match event {
                Event::RequestReceived { stream, head, .. } => {
                    came = Came::Head(pairs(head.section()));
                    self.conn.recycle_head(head);
                    let answer = ResponseHead::new(204, Fields::new(), Version::Http3);
                    if let Ok(answer) = answer {
                        let _ = self.conn.respond(self.now, stream, &answer, true);
                    }
                    self.conn.handler_done(self.now, stream);
                }
                Event::ResponseReceived { head, .. } => came = Came::Head(pairs(head.section())),
                Event::Closed(closed) => came = Came::Closed(closed),
                _ => {}
            }
            self.carry_out_actions();
        }
        came
    }
    /// Carries out the machine's orders: everything that it writes is acknowledged.
    fn carry_out_actions(&mut self) {
        while let Some(action) = self.conn.poll_transport(self.now) {
            match action {
                TransportAction::OpenUni {
                    stream,
                    kind: UniKind::QpackDecoder,
                } => self.feedback = Some(stream),
                TransportAction::Write {
                    stream,
                    pieces,
                    fin,
                } => {
                    if self.feedback == Some(stream) {
                        self.written
                            .extend(pieces.iter().flat_map(|piece| piece.iter().copied()));
                    }
                    if fin {
                        self.conn.handle_finished(self.now, stream);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A length of RFC 9000 section 16, of one or two bytes.
fn put_length(out: &mut Vec<u8>, length: usize) {
    match length {
        0..64 => out.push(length as u8),
        _ => out.extend((length as u16 | 0x4000).to_be_bytes()),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Came {
    Nothing,
    Head(Vec<(Bytes, Bytes)>),
    Closed(Closed),
}

fn pairs(fields: &Fields) -> Vec<(Bytes, Bytes)> {
    let copy = Bytes::copy_from_slice;
    fields
        .iter()
        .map(|field| (copy(field.name), copy(field.value)))
        .collect()
}
