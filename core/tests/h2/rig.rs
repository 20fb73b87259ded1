//! A scripted peer: it says frames to a machine, one byte at a time as well as whole, and looks
//! at every frame that comes back.
#![allow(
    dead_code,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "every test file uses its own part of the rig; unused in one is used in another"
)]

use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::{Closed, H2Code};
use trunkline_core::h2::Conn;
use trunkline_core::h2::frame::{
    Continuation, FRAME_HEADER_BYTES, FrameHeader, Goaway, Ping, PriorityUpdate, RstStream,
    Setting, StreamDependency, WindowUpdate, data, flag, kind, settings,
};
use trunkline_core::hpack::{Decoder, Encoder};
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};
use trunkline_core::limits::{Config, Limits};
use trunkline_core::min_rate::Scarcity;

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How the bytes reach the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Whole,
    EveryByte,
}

/// Runs a script with its bytes whole, and again with a read per byte.
pub fn however_it_is_cut(script: impl Fn(Cut)) {
    script(Cut::Whole);
    script(Cut::EveryByte);
}

/// A frame that the machine sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    pub fn ends(&self) -> bool {
        self.flags & flag::END_STREAM != 0
    }
    pub fn code(&self) -> H2Code {
        let at = match self.kind {
            kind::RST_STREAM => 0,
            kind::GOAWAY => 4,
            other => panic!("frame kind {other} has no code: {self:?}"),
        };
        H2Code(u32::from_be_bytes(
            self.payload[at..at + 4].try_into().unwrap(),
        ))
    }
    pub fn number(&self) -> u32 {
        u32::from_be_bytes(self.payload[..4].try_into().unwrap())
    }
}

/// The machine under test and the script's end of the wire.
pub struct Rig {
    pub conn: Conn,
    pub now: Instant,
    cut: Cut,
    output: Vec<u8>,
    pub encoder: Encoder,
    pub decoder: Decoder,
    /// Consume bodies as they come.
    pub reads_bodies: bool,
    pending: std::collections::VecDeque<Event>,
}

impl Rig {
    /// A machine that has said its preface and heard nothing.
    pub fn fresh(side: Side, config: Config, cut: Cut) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "virtual time needs one real instant to count from"
        )]
        let now = Instant::now();
        Self {
            conn: Conn::new(side, Arc::new(config), now),
            now,
            cut,
            output: Vec::new(),
            encoder: Encoder::new(),
            decoder: Decoder::new(4096),
            reads_bodies: false,
            pending: std::collections::VecDeque::new(),
        }
    }
    /// A server whose client has said its preface and default SETTINGS, and has acknowledged.
    pub fn server(cut: Cut) -> Self {
        Self::server_with(Config::default(), cut)
    }
    pub fn server_with(config: Config, cut: Cut) -> Self {
        let mut rig = Self::fresh(Side::Server, config, cut);
        rig.sends(PREFACE);
        rig.handshake(&[]);
        rig
    }
    /// Makes the flag known to the connection by which its owner marks connections as scarce.
    pub fn follow_scarcity(&mut self) -> Scarcity {
        let scarcity = Scarcity::shared();
        let fresh = Self::server(Cut::Whole).conn;
        self.conn = std::mem::replace(&mut self.conn, fresh).with_scarcity(&scarcity);
        scarcity
    }
    /// A client whose server has said default SETTINGS, and has acknowledged.
    pub fn client(cut: Cut) -> Self {
        Self::client_with(Config::default(), &[], cut)
    }
    pub fn client_with(config: Config, theirs: &[Setting], cut: Cut) -> Self {
        let mut rig = Self::fresh(Side::Client, config, cut);
        rig.handshake(theirs);
        rig
    }
    fn handshake(&mut self, theirs: &[Setting]) {
        self.sends(&settings_frame(theirs));
        self.sends(&settings_ack());
        self.frames();
        while let Some(event) = self.event() {
            assert!(matches!(event, Event::CapacityChanged), "{event:?}");
        }
    }

    /// The peer says `bytes`.
    pub fn sends(&mut self, bytes: &[u8]) {
        match self.cut {
            Cut::Whole => self.conn.handle_bytes(self.now, bytes),
            Cut::EveryByte => {
                for byte in bytes {
                    self.conn.handle_bytes(self.now, std::slice::from_ref(byte));
                }
            }
        }
    }
    /// Time passes, deadline by deadline.
    pub fn waits(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.conn.next_deadline().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.conn.handle_timeout(self.now);
            assert!(
                self.conn.next_deadline().is_none_or(|next| next > self.now),
                "a deadline that stays due would spin"
            );
        }
        self.now = until;
    }

    /// Every frame that the machine has written since the last look. Nothing is left over.
    pub fn frames(&mut self) -> Vec<Frame> {
        self.drain_outbox();
        let mut rest = &self.output[..];
        if rest.starts_with(PREFACE) {
            rest = &rest[PREFACE.len()..];
        }
        let mut frames = Vec::new();
        while let Some((header, after)) = rest.split_first_chunk::<FRAME_HEADER_BYTES>() {
            let header = FrameHeader::parse(header);
            let (payload, after) = after.split_at(header.len as usize);
            frames.push(Frame {
                kind: header.kind,
                flags: header.flags,
                stream: header.stream,
                payload: payload.to_vec(),
            });
            rest = after;
        }
        assert!(rest.is_empty(), "half a frame was written: {rest:?}");
        self.output.clear();
        frames
    }
    fn drain_outbox(&mut self) {
        loop {
            let outbox = self.conn.poll_write(self.now);
            if outbox.is_empty() {
                return;
            }
            let mut slices = [std::io::IoSlice::new(&[]); 8];
            let filled = outbox.slices(&mut slices, usize::MAX);
            let len = slices[..filled].iter().map(|slice| slice.len()).sum();
            for slice in &slices[..filled] {
                self.output.extend_from_slice(slice);
            }
            outbox.advance(len);
        }
    }
    /// The machine has written one frame, of this kind on this stream.
    #[track_caller]
    pub fn expects(&mut self, kind: u8, stream: u32, why: &str) -> Frame {
        let frames = self.frames();
        match <[Frame; 1]>::try_from(frames) {
            Ok([frame]) if frame.kind == kind && frame.stream == stream => frame,
            Ok([frame]) => panic!("{why}: another frame came: {frame:?}"),
            Err(frames) => panic!("{why}: {} frames came: {frames:?}", frames.len()),
        }
    }
    /// The machine has written nothing.
    #[track_caller]
    pub fn is_quiet(&mut self, why: &str) {
        let frames = self.frames();
        assert!(frames.is_empty(), "{why}: {frames:?}");
    }
    /// The stream is reset with `code`, and the connection lives.
    #[track_caller]
    pub fn expects_reset(&mut self, stream: u32, code: H2Code, why: &str) {
        let frame = self.expects(kind::RST_STREAM, stream, why);
        assert_eq!(frame.code(), code, "{why}");
        assert!(!self.conn.is_closed(), "{why}: the connection lives");
    }
    /// The connection ends with `code`: one GOAWAY, and `Closed` is the last event.
    #[track_caller]
    pub fn expects_close(&mut self, code: H2Code, why: &str) -> Closed {
        let frames = self.frames();
        let goaway = frames.last().unwrap_or_else(|| panic!("{why}: silence"));
        assert_eq!((goaway.kind, goaway.code()), (kind::GOAWAY, code), "{why}");
        assert!(self.conn.is_closed(), "{why}");
        let closed = match self.events().pop() {
            Some(Event::Closed(closed)) => closed,
            other => panic!("{why}: the last event is {other:?}"),
        };
        self.sends(&ping([7; 8]));
        self.is_quiet("a closed machine ignores input");
        assert!(self.event().is_none(), "nothing comes after Closed");
        closed
    }

    /// The next event; pieces of one body that follow each other are joined, because how many
    /// there are depends on the reads.
    pub fn event(&mut self) -> Option<Event> {
        while let Some(event) = self.conn.poll_event() {
            self.pending.push_back(event);
        }
        let first = self.pending.pop_front()?;
        let Event::BodyReceived {
            stream,
            data,
            mut end,
        } = first
        else {
            return Some(first);
        };
        let mut whole = data.to_vec();
        while !end
            && let Some(Event::BodyReceived {
                stream: next,
                data,
                end: last,
            }) = self.pending.front()
            && *next == stream
        {
            whole.extend_from_slice(data);
            end = *last;
            self.pending.pop_front();
        }
        if self.reads_bodies {
            self.conn.consume(self.now, stream, whole.len());
        }
        Some(Event::BodyReceived {
            stream,
            data: Bytes::from(whole),
            end,
        })
    }
    pub fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.event()).collect()
    }
    /// The only event is a request; its head.
    #[track_caller]
    pub fn request(&mut self, id: u32) -> (RequestHead, bool) {
        match self.event() {
            Some(Event::RequestReceived { stream, head, end }) => {
                assert_eq!(stream, StreamId(id.into()));
                (head, end)
            }
            other => panic!("a request on {id} was due: {other:?}"),
        }
    }
    /// The only event is a response; its head.
    #[track_caller]
    pub fn response(&mut self, id: u64) -> (ResponseHead, bool) {
        match self.event() {
            Some(Event::ResponseReceived { stream, head, end }) => {
                assert_eq!(stream, StreamId(id));
                (head, end)
            }
            other => panic!("a response on {id} was due: {other:?}"),
        }
    }
    #[track_caller]
    pub fn no_event(&mut self, why: &str) {
        let event = self.event();
        assert!(event.is_none(), "{why}: {event:?}");
    }
    /// Decodes a header block of the machine's.
    pub fn decode(&mut self, frame: &Frame) -> Vec<(String, String)> {
        assert_eq!(frame.kind, kind::HEADERS);
        let mut fields = Fields::new();
        self.decoder
            .decode(&frame.payload, &Limits::default(), &mut fields)
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        fields
            .iter()
            .map(|field| (text(field.name), text(field.value)))
            .collect()
    }

    // The user of the machine.

    /// Client: opens GET /.
    pub fn get(&mut self) -> u32 {
        self.conn.open(self.now, &request("GET"), true).unwrap().0 as u32
    }
    /// Server: answers 200.
    #[track_caller]
    pub fn respond(&mut self, id: u32, fields: &[(&str, &str)], end: bool) {
        let head = response(200, fields);
        self.conn
            .respond(self.now, StreamId(id.into()), &head, end)
            .unwrap();
    }
    #[track_caller]
    pub fn send(&mut self, id: u32, body: impl Into<Bytes>, end: bool) {
        self.conn
            .send_body(self.now, StreamId(id.into()), body.into(), end)
            .unwrap();
    }
}

pub fn request(method: &str) -> RequestHead {
    request_with(method, &[])
}
pub fn request_with(method: &str, more: &[(&str, &str)]) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, method.as_bytes());
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"example.org");
    fields.push(Token::PATH, b"/");
    for (name, value) in more {
        fields.push_named(name.as_bytes(), value.as_bytes());
    }
    RequestHead::from_fields(fields, Version::Http2).unwrap()
}
pub fn response(status: u16, more: &[(&str, &str)]) -> ResponseHead {
    ResponseHead::new(status, fields(more), Version::Http2).unwrap()
}
pub fn fields(list: &[(&str, &str)]) -> Fields {
    list.iter().copied().collect()
}

// Frames to say.

/// A header block of literals without indexing: the same bytes whatever came before.
pub fn block(list: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in list {
        out.push(0);
        for text in [name, value] {
            assert!(text.len() < 127, "one length byte: {}", text.len());
            out.push(text.len() as u8);
            out.extend_from_slice(text.as_bytes());
        }
    }
    out
}
pub const GET: &[(&str, &str)] = &[
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "example.org"),
    (":path", "/"),
];
pub const POST: &[(&str, &str)] = &[
    (":method", "POST"),
    (":scheme", "https"),
    (":authority", "example.org"),
    (":path", "/"),
];
pub const OK: &[(&str, &str)] = &[(":status", "200")];

pub fn with<'a>(
    head: &[(&'a str, &'a str)],
    more: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    [head, more].concat()
}
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHeader {
        len: payload.len() as u32,
        kind,
        flags,
        stream,
    }
    .write(&mut out);
    out.extend_from_slice(payload);
    out
}
pub fn headers(stream: u32, list: &[(&str, &str)], end: bool) -> Vec<u8> {
    let flags = flag::END_HEADERS | if end { flag::END_STREAM } else { 0 };
    frame(kind::HEADERS, flags, stream, &block(list))
}
pub fn body(stream: u32, bytes: &[u8], end: bool) -> Vec<u8> {
    let mut out = Vec::new();
    data::write(stream, bytes, end, &mut out);
    out
}
pub fn continuation(stream: u32, fragment: &[u8], end_headers: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let frame = Continuation {
        stream,
        fragment,
        end_headers,
    };
    frame.write(&mut out);
    out
}
pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    let mut out = Vec::new();
    WindowUpdate { stream, increment }.write(&mut out);
    out
}
pub fn rst(stream: u32, code: H2Code) -> Vec<u8> {
    let mut out = Vec::new();
    RstStream { stream, code }.write(&mut out);
    out
}
pub fn goaway(last_stream: u32, code: H2Code) -> Vec<u8> {
    let mut out = Vec::new();
    let frame = Goaway {
        last_stream,
        code,
        debug: b"",
    };
    frame.write(&mut out);
    out
}
pub fn ping(opaque: [u8; 8]) -> Vec<u8> {
    let mut out = Vec::new();
    Ping { ack: false, opaque }.write(&mut out);
    out
}
pub fn pong(opaque: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let opaque = opaque.try_into().unwrap();
    Ping { ack: true, opaque }.write(&mut out);
    out
}
pub fn priority(stream: u32, dependency: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let frame = StreamDependency {
        stream,
        dependency,
        exclusive: false,
        weight: 15,
    };
    frame.write(&mut out);
    out
}
pub fn priority_update(prioritized: u32, value: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let value = value.as_bytes();
    PriorityUpdate { prioritized, value }.write(&mut out);
    out
}
pub fn settings_frame(list: &[Setting]) -> Vec<u8> {
    let mut out = Vec::new();
    settings::write(list, &mut out);
    out
}
pub fn settings_ack() -> Vec<u8> {
    let mut out = Vec::new();
    settings::write_ack(&mut out);
    out
}
