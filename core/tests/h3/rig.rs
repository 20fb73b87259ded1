//! A scripted peer on streams: it says frames to a machine, one byte at a time as well as whole,
//! and looks at everything that the machine asks of its transport.
#![allow(
    dead_code,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "every test file uses its own part of the rig; unused in one is used in another"
)]

use bytes::{Buf, Bytes};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::{Closed, H3Code, Violation};
use trunkline_core::h3::frame::{self, kind};
use trunkline_core::h3::{Conn, TransportAction, UniKind, settings};
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};
use trunkline_core::limits::{Config, Limits};
use trunkline_core::min_rate::Scarcity;
use trunkline_core::qpack::Decoder;
use trunkline_core::wire::varint;

/// How the bytes reach the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Whole,
    EveryByte,
    /// Every byte, and the end of the stream apart.
    EndApart,
}

/// Runs a script with its bytes whole, with a read per byte, and with the end by itself.
pub fn however_it_is_cut(script: impl Fn(Cut)) {
    script(Cut::Whole);
    script(Cut::EveryByte);
    script(Cut::EndApart);
}

/// The machine's actions on one stream.
#[derive(Clone, Debug, Default)]
pub struct WireStream {
    pub bytes: Vec<u8>,
    pub fin: bool,
    /// Writes it took.
    pub writes: usize,
    pub reset: Option<H3Code>,
    pub stopped: Option<H3Code>,
    pub order: Option<i32>,
}

/// The machine under test and the script's end of the transport.
pub struct Rig {
    pub conn: Conn,
    pub now: Instant,
    pub cut: Cut,
    pub wire_streams: BTreeMap<u64, WireStream>,
    pub opened: Vec<u64>,
    pub kinds: BTreeMap<u64, UniKind>,
    pub closed: Option<(H3Code, &'static str)>,
    pub granted: Option<u64>,
    /// The connection's receive window, each time it was announced.
    pub windows: Vec<u32>,
    /// Send windows told.
    pub send_windows: Vec<u64>,
    pub datagrams: Vec<Bytes>,
    pub reads: BTreeSet<u64>,
    /// Bytes that the transport still takes, per stream; without an entry all.
    pub room: BTreeMap<u64, usize>,
    /// Consume bodies as they come.
    pub reads_bodies: bool,
    pub decoder: Decoder,
}

impl Rig {
    /// A machine that has said its SETTINGS and heard nothing.
    pub fn fresh(side: Side, config: Config, cut: Cut) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "virtual time needs one real instant to count from"
        )]
        let now = Instant::now();
        let mut rig = Self {
            conn: Conn::new(side, Arc::new(config), now),
            now,
            cut,
            wire_streams: BTreeMap::new(),
            opened: Vec::new(),
            kinds: BTreeMap::new(),
            closed: None,
            granted: None,
            windows: Vec::new(),
            send_windows: Vec::new(),
            datagrams: Vec::new(),
            reads: BTreeSet::new(),
            room: BTreeMap::new(),
            reads_bodies: false,
            decoder: Decoder::new(4096, 16),
        };
        rig.conn.handle_handshake_done(now);
        rig.run();
        rig
    }
    /// A server whose client has said default SETTINGS.
    pub fn server(cut: Cut) -> Self {
        Self::server_with(Config::default(), cut)
    }
    pub fn server_with(config: Config, cut: Cut) -> Self {
        let mut rig = Self::fresh(Side::Server, config, cut);
        rig.sends(2, &control(&[]));
        rig
    }
    /// Makes the flag known to the connection by which its owner marks connections as scarce.
    pub fn follow_scarcity(&mut self) -> Scarcity {
        let scarcity = Scarcity::shared();
        let fresh = Self::server(Cut::Whole).conn;
        self.conn = std::mem::replace(&mut self.conn, fresh).with_scarcity(&scarcity);
        scarcity
    }
    /// A client whose server has said default SETTINGS and grants 100 streams.
    pub fn client(cut: Cut) -> Self {
        Self::client_with(Config::default(), &[], 100, cut)
    }
    pub fn client_with(config: Config, theirs: &[(u64, u64)], streams: u64, cut: Cut) -> Self {
        let mut rig = Self::fresh(Side::Client, config, cut);
        rig.conn.handle_streams_available(rig.now, streams);
        rig.sends(3, &control(theirs));
        while let Some(event) = rig.event() {
            assert!(matches!(event, Event::CapacityChanged), "{event:?}");
        }
        rig
    }

    /// The peer says `bytes` on a stream.
    pub fn sends(&mut self, stream: u64, bytes: &[u8]) {
        self.puts(stream, bytes, false);
    }
    /// The peer says `bytes` on a stream and ends it.
    pub fn sends_all(&mut self, stream: u64, bytes: &[u8]) {
        self.puts(stream, bytes, true);
    }
    fn puts(&mut self, stream: u64, bytes: &[u8], fin: bool) {
        let id = StreamId(stream);
        match self.cut {
            Cut::Whole => self.conn.handle_stream(self.now, id, bytes, fin),
            Cut::EveryByte | Cut::EndApart => {
                let apart = self.cut == Cut::EndApart || bytes.is_empty();
                for (at, byte) in bytes.iter().enumerate() {
                    let last = at + 1 == bytes.len();
                    let fin = fin && last && !apart;
                    self.conn
                        .handle_stream(self.now, id, std::slice::from_ref(byte), fin);
                }
                if fin && apart {
                    self.conn.handle_stream(self.now, id, &[], true);
                }
            }
        }
        // All that the peer has said was read.
        if self.conn.read_room(id) > 0 {
            self.conn.handle_drained(self.now, id);
        }
        self.run();
    }
    /// The peer resets its side.
    pub fn resets(&mut self, stream: u64, code: H3Code) {
        self.conn
            .handle_stream_reset(self.now, StreamId(stream), code);
        self.run();
    }
    /// The peer stops our side.
    pub fn stops(&mut self, stream: u64, code: H3Code) {
        self.conn
            .handle_stop_sending(self.now, StreamId(stream), code);
        self.run();
    }
    /// The transport takes `bytes` more on a stream that was blocked.
    pub fn takes(&mut self, stream: u64, bytes: usize) {
        self.room.insert(stream, bytes);
        self.conn.handle_stream_room(self.now, StreamId(stream));
        self.run();
    }
    /// Time passes, deadline by deadline.
    pub fn waits(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.conn.next_deadline().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.conn.handle_timeout(self.now);
            self.run();
            assert!(
                self.conn.next_deadline().is_none_or(|next| next > self.now),
                "a deadline that stays due would spin"
            );
        }
        self.now = until;
    }

    /// Carries out what the machine asks of its transport.
    pub fn run(&mut self) {
        while let Some(action) = self.conn.poll_transport(self.now) {
            assert!(self.closed.is_none(), "after Close: {action:?}");
            match action {
                TransportAction::OpenUni { stream, kind } => {
                    self.opened.push(stream.0);
                    self.kinds.insert(stream.0, kind);
                    self.wire_streams.insert(stream.0, WireStream::default());
                }
                TransportAction::OpenBidi { stream } => {
                    self.opened.push(stream.0);
                    self.wire_streams.insert(stream.0, WireStream::default());
                }
                TransportAction::Write {
                    stream,
                    pieces,
                    fin,
                } => self.write(stream, pieces, fin),
                TransportAction::Reset { stream, code } => {
                    let wire_stream = self.wire_stream(stream.0);
                    assert_eq!(
                        (wire_stream.reset, wire_stream.fin),
                        (None, false),
                        "ended twice: {code:?}"
                    );
                    wire_stream.reset = Some(code);
                }
                TransportAction::StopSending { stream, code } => {
                    let wire_stream = self.wire_stream(stream.0);
                    assert_eq!(wire_stream.stopped, None, "stopped twice: {code:?}");
                    wire_stream.stopped = Some(code);
                }
                TransportAction::Read { stream } => {
                    self.reads.insert(stream.0);
                }
                TransportAction::SetPriority { stream, order } => {
                    self.wire_stream(stream.0).order = Some(order);
                }
                TransportAction::GrantStreams { limit } => {
                    assert!(self.granted < Some(limit), "grants rise");
                    self.granted = Some(limit);
                }
                TransportAction::GrantBytes { window } => self.windows.push(window),
                TransportAction::HoldBytes { bytes } => self.send_windows.push(bytes),
                TransportAction::Datagram { bytes } => self.datagrams.push(bytes),
                TransportAction::Close { code, reason } => self.closed = Some((code, reason)),
            }
        }
    }
    fn wire_stream(&mut self, stream: u64) -> &mut WireStream {
        self.wire_streams.entry(stream).or_default()
    }
    fn write(&mut self, stream: StreamId, mut pieces: [Bytes; 2], fin: bool) {
        let len = pieces[0].len() + pieces[1].len();
        let room = self.room.get(&stream.0).copied().unwrap_or(usize::MAX);
        let mut left = len.min(room);
        if let Some(room) = self.room.get_mut(&stream.0) {
            *room -= left;
        }
        let taken = left;
        let wire_stream = self.wire_stream(stream.0);
        assert!(
            !wire_stream.fin && wire_stream.reset.is_none(),
            "a write after the end"
        );
        wire_stream.writes += 1;
        for piece in &mut pieces {
            let now = left.min(piece.len());
            wire_stream.bytes.extend_from_slice(&piece[..now]);
            piece.advance(now);
            left -= now;
        }
        if taken == len {
            wire_stream.fin = fin;
        } else {
            self.conn
                .handle_stream_blocked(self.now, stream, pieces, fin);
        }
    }

    /// The frames written on a request stream so far; what was looked at is forgotten.
    #[track_caller]
    pub fn frames(&mut self, stream: u64) -> Vec<(u64, Vec<u8>)> {
        let wire_stream = self.wire_stream(stream);
        let bytes = std::mem::take(&mut wire_stream.bytes);
        let (frames, rest) = split(&bytes);
        assert!(rest.is_empty(), "half a frame was written: {rest:?}");
        frames
    }
    /// The frames on our control stream since the last look, without the type.
    pub fn control_frames(&mut self) -> Vec<(u64, Vec<u8>)> {
        let id = self.uni(UniKind::Control).unwrap();
        let mut bytes = std::mem::take(&mut self.wire_stream(id).bytes);
        if bytes.first() == Some(&0) {
            bytes.remove(0);
        }
        split(&bytes).0
    }
    pub fn uni(&self, kind: UniKind) -> Option<u64> {
        let mut kinds = self.kinds.iter();
        kinds.find(|(_, found)| **found == kind).map(|(&id, _)| id)
    }
    /// Whether nothing was written, stopped or reset on a stream.
    #[track_caller]
    pub fn is_quiet(&mut self, stream: u64, why: &str) {
        let wire_stream = self.wire_stream(stream);
        assert!(
            wire_stream.bytes.is_empty()
                && !wire_stream.fin
                && wire_stream.reset.is_none()
                && wire_stream.stopped.is_none(),
            "{why}: {wire_stream:?}"
        );
    }
    /// Decodes a section of the machine's.
    pub fn decode(&mut self, stream: u64, section: &[u8]) -> Vec<(String, String)> {
        let mut fields = Fields::new();
        self.decoder
            .decode(StreamId(stream), section, &Limits::default(), &mut fields)
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        fields
            .iter()
            .map(|field| (text(field.name), text(field.value)))
            .collect()
    }

    // Facts.

    /// The next fact; pieces of one body that came in several reads are one here.
    pub fn event(&mut self) -> Option<Event> {
        self.conn.poll_event()
    }
    pub fn events(&mut self) -> Vec<Event> {
        let events: Vec<_> = std::iter::from_fn(|| self.conn.poll_event()).collect();
        if self.reads_bodies {
            for event in &events {
                if let Event::BodyReceived { stream, data, .. } = event {
                    self.conn.consume(self.now, *stream, data.len());
                }
            }
            self.run();
        }
        events
    }
    /// All body bytes of a stream among the next events, and whether the end came.
    pub fn body(&mut self, stream: u64) -> (Vec<u8>, bool) {
        let mut whole = Vec::new();
        let mut ended = false;
        for event in self.events() {
            if let Event::BodyReceived {
                stream: of,
                data,
                end,
            } = event
            {
                assert_eq!(of, StreamId(stream));
                assert!(!ended, "nothing comes behind the end");
                whole.extend_from_slice(&data);
                ended = end;
            }
        }
        (whole, ended)
    }
    /// The next event is a request; its head.
    #[track_caller]
    pub fn request(&mut self, id: u64) -> (RequestHead, bool) {
        match self.event() {
            Some(Event::RequestReceived { stream, head, end }) => {
                assert_eq!(stream, StreamId(id));
                (head, end)
            }
            other => panic!("a request on {id} was due: {other:?}"),
        }
    }
    /// The next event is a response; its head.
    #[track_caller]
    pub fn response(&mut self, id: u64) -> (ResponseHead, bool) {
        loop {
            match self.event() {
                Some(Event::ResponseReceived { stream, head, end }) => {
                    assert_eq!(stream, StreamId(id));
                    return (head, end);
                }
                Some(Event::CapacityChanged) => {}
                other => panic!("a response on {id} was due: {other:?}"),
            }
        }
    }
    #[track_caller]
    pub fn no_event(&mut self, why: &str) {
        let event = self.event();
        assert!(event.is_none(), "{why}: {event:?}");
    }
    /// The machine closed the connection for this violation, with its code.
    #[track_caller]
    pub fn breaks(&mut self, violation: Violation) {
        let last = self.events().pop();
        assert!(
            matches!(last, Some(Event::Closed(Closed::ByUs(found))) if found == violation),
            "{violation:?} was due: {last:?}"
        );
        assert_eq!(
            self.closed,
            Some((violation.h3_code(), violation.text())),
            "{violation:?}"
        );
        assert!(self.conn.is_closed());
        assert_eq!(self.conn.next_deadline(), None);
    }

    // The user of the machine.

    /// Client: opens GET /.
    #[track_caller]
    pub fn get(&mut self) -> u64 {
        let id = self.conn.open(self.now, &request("GET"), true).unwrap().0;
        self.run();
        id
    }
    /// Server: answers 200.
    #[track_caller]
    pub fn respond(&mut self, id: u64, fields: &[(&str, &str)], end: bool) {
        let head = response(200, fields);
        self.conn
            .respond(self.now, StreamId(id), &head, end)
            .unwrap();
        self.run();
    }
    #[track_caller]
    pub fn send(&mut self, id: u64, body: impl Into<Bytes>, end: bool) {
        self.conn
            .send_body(self.now, StreamId(id), body.into(), end)
            .unwrap();
        self.run();
    }
    /// Server: answers 200 with this body in one turn; the handler is done.
    #[track_caller]
    pub fn answer(&mut self, id: u64, body: impl Into<Bytes>) {
        let (now, stream) = (self.now, StreamId(id));
        let head = response(200, &[]);
        self.conn.respond(now, stream, &head, false).unwrap();
        self.conn.send_body(now, stream, body.into(), true).unwrap();
        self.conn.handler_done(now, stream);
        self.run();
    }
    /// Server: the peer has everything that was written.
    pub fn acknowledge(&mut self, id: u64) {
        self.conn.handle_finished(self.now, StreamId(id));
        self.run();
    }
}

fn split(mut rest: &[u8]) -> (Vec<(u64, Vec<u8>)>, &[u8]) {
    let mut frames = Vec::new();
    while let Some((kind, at)) = varint::take(rest)
        && let Some((len, more)) = varint::take(&rest[at..])
        && rest.len() >= at + more + len as usize
    {
        let end = at + more + len as usize;
        frames.push((kind, rest[at + more..end].to_vec()));
        rest = &rest[end..];
    }
    (frames, rest)
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
    RequestHead::from_fields(fields, Version::Http3).unwrap()
}
pub fn response(status: u16, more: &[(&str, &str)]) -> ResponseHead {
    ResponseHead::new(status, fields(more), Version::Http3).unwrap()
}
pub fn fields(list: &[(&str, &str)]) -> Fields {
    list.iter().copied().collect()
}

// Frames to say.

/// A section of literals: the same bytes whatever came before (RFC 9204 section 4.5.6).
pub fn section(list: &[(&str, &str)]) -> Vec<u8> {
    let mut out = vec![0, 0];
    for (name, value) in list {
        let name_len = name.len();
        assert!(name_len < 134 && value.len() < 127, "short ones only");
        if name_len < 7 {
            out.push(0x20 | name_len as u8);
        } else {
            out.extend([0x27, (name_len - 7) as u8]);
        }
        out.extend_from_slice(name.as_bytes());
        out.push(value.len() as u8);
        out.extend_from_slice(value.as_bytes());
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
pub fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::put_frame(kind, payload, &mut out);
    out
}
pub fn headers(list: &[(&str, &str)]) -> Vec<u8> {
    frame(kind::HEADERS, &section(list))
}
pub fn data(body: &[u8]) -> Vec<u8> {
    frame(kind::DATA, body)
}
/// A control stream that begins with these settings.
pub fn control(pairs: &[(u64, u64)]) -> Vec<u8> {
    let mut out = vec![0];
    settings::write(pairs, &mut out);
    out
}
/// A frame whose payload is one integer.
pub fn number(kind: u64, value: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    varint::put(value, &mut payload);
    frame(kind, &payload)
}
