//! The rig of the machine's tests: a [`Script`] drives one connection in virtual time and records
//! its output. [`at_every_split`] runs a script with its input whole, split once at every position,
//! and byte by byte, and asserts equal results.

use crate::error::TransportEnd;
use crate::h1::Conn;
use crate::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version, event::ResetBy,
};
use crate::limits::Config;
use bytes::Bytes;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The owner's reaction to an event.
pub(in crate::h1) type React = fn(&mut Script, &Event);

pub(in crate::h1) struct Script {
    pub(in crate::h1) conn: Conn,
    pub(in crate::h1::conn) now: Instant,
    /// Facts in words, body pieces of one exchange merged.
    pub(in crate::h1::conn) facts: Vec<String>,
    /// Bytes that went out.
    pub(in crate::h1) written: Vec<u8>,
    react: React,
    /// How the peer's bytes are cut.
    cut: Cut,
}

#[derive(Clone, Copy, Debug)]
enum Cut {
    Whole,
    At(usize),
    EveryByte,
}

impl Script {
    pub(in crate::h1) fn server() -> Self {
        Self::new(Side::Server, Config::default())
    }
    pub(in crate::h1) fn client() -> Self {
        Self::new(Side::Client, Config::default())
    }
    #[allow(
        clippy::disallowed_methods,
        reason = "any instant will do as the start of virtual time"
    )]
    pub(in crate::h1) fn new(side: Side, config: Config) -> Self {
        let now = Instant::now();
        Self {
            conn: Conn::new(side, Arc::new(config), now),
            now,
            facts: Vec::new(),
            written: Vec::new(),
            react: |_, _| {},
            cut: Cut::Whole,
        }
    }
    pub(in crate::h1::conn) fn reacting(mut self, react: React) -> Self {
        self.react = react;
        self
    }
    /// The peer sends `bytes`.
    pub(in crate::h1::conn) fn connection_lists(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let pieces: Vec<&[u8]> = match self.cut {
            Cut::Whole => vec![bytes],
            Cut::At(at) => {
                let (left, right) = bytes.split_at(at.min(bytes.len()));
                vec![left, right]
            }
            Cut::EveryByte => bytes.chunks(1).collect(),
        };
        for piece in pieces {
            self.conn.handle_bytes(self.now, piece);
            self.listen();
        }
    }
    /// The transport ends.
    pub(in crate::h1::conn) fn ends_as(&mut self, end: TransportEnd) {
        self.conn.handle_close(self.now, end);
        self.listen();
    }
    /// The transport fails.
    pub(in crate::h1::conn) fn hangs_up(&mut self) {
        self.ends_as(TransportEnd::Failed);
    }
    /// The peer ends its side in order.
    pub(in crate::h1) fn ends(&mut self) {
        self.ends_as(TransportEnd::InOrder);
    }
    /// Time passes; deadlines are carried out when they come.
    pub(in crate::h1) fn waits(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.conn.next_deadline().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.conn.handle_timeout(self.now);
            self.listen();
        }
        self.now = until;
    }
    /// Takes facts and bytes out, as a driver does, until both are quiet.
    pub(in crate::h1::conn) fn listen(&mut self) {
        loop {
            let mut quiet = true;
            while let Some(event) = self.conn.poll_event() {
                quiet = false;
                (self.react)(self, &event);
                self.note(event);
            }
            quiet &= self.write(usize::MAX) == 0;
            if quiet {
                break;
            }
        }
    }
    /// Takes the events without writing.
    pub(in crate::h1::conn) fn receives(&mut self) {
        while let Some(event) = self.conn.poll_event() {
            self.note(event);
        }
    }
    /// The transport takes up to `max` bytes.
    pub(in crate::h1) fn write(&mut self, max: usize) -> usize {
        let outbox = self.conn.poll_write(self.now);
        let mut slices = [IoSlice::new(&[]); 8];
        let filled = outbox.slices(&mut slices, usize::MAX);
        let mut left = max;
        for slice in &slices[..filled] {
            let take = slice.len().min(left);
            self.written.extend_from_slice(&slice[..take]);
            left -= take;
        }
        let taken = max - left;
        outbox.advance(taken);
        self.conn.poll_write(self.now);
        taken
    }
    fn note(&mut self, event: Event) {
        let fact = describe(event);
        let last = self.facts.iter_mut().rev().find(|fact| *fact != "capacity");
        if let (Some(last), Some((stream, data))) = (last, fact.split_once(" body "))
            && let Some((before, _)) = last.clone().split_once(" body ")
            && before == stream
            && !last.ends_with(" end")
        {
            last.push_str(data);
            return;
        }
        self.facts.push(fact);
    }
    /// The facts since the last call.
    pub(in crate::h1) fn received(&mut self) -> Vec<String> {
        std::mem::take(&mut self.facts)
    }
    /// The bytes since the last call, as text.
    pub(in crate::h1::conn) fn wrote(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.written)).into_owned()
    }
    pub(in crate::h1::conn) fn respond(&mut self, stream: u64, head: &ResponseHead, end: bool) {
        self.conn
            .respond(self.now, StreamId(stream), head, end)
            .expect("the exchange waits for a response");
        self.listen();
    }
    pub(in crate::h1) fn send(&mut self, stream: u64, data: &'static str, end: bool) {
        let data = Bytes::from_static(data.as_bytes());
        self.conn
            .send_body(self.now, StreamId(stream), data, end)
            .expect("the exchange sends a body");
        self.listen();
    }
    pub(in crate::h1) fn open(&mut self, head: &RequestHead, end: bool) -> u64 {
        let stream = self
            .conn
            .open(self.now, head, end)
            .expect("there is capacity");
        self.listen();
        stream.0
    }
}

/// Runs `play` with the peer's bytes whole, split at every position of `len`, and byte by byte; all
/// runs must give the same events and bytes. `CapacityChanged` is left out: it comes once per call,
/// so its count depends on the split.
#[track_caller]
pub(in crate::h1::conn) fn at_every_split(
    make: impl Fn() -> Script,
    len: usize,
    play: impl Fn(&mut Script),
) -> (Vec<String>, String) {
    let run = |cut| {
        let mut script = make();
        script.cut = cut;
        play(&mut script);
        let mut received = script.received();
        received.retain(|fact| fact != "capacity");
        (received, script.wrote())
    };
    let whole = run(Cut::Whole);
    for cut in (1..len).map(Cut::At).chain([Cut::EveryByte]) {
        assert_eq!(run(cut), whole, "{cut:?} makes a difference");
    }
    whole
}

/// The response of a server with this behaviour to `input`, equal at every split.
#[track_caller]
pub(in crate::h1::conn) fn server_receives(react: React, input: &str) -> (Vec<String>, String) {
    at_every_split(
        || Script::server().reacting(react),
        input.len(),
        |script| script.connection_lists(input),
    )
}

/// Answers every request with 200 and no body, at once.
pub(in crate::h1::conn) fn answer_at_once(script: &mut Script, event: &Event) {
    if let Event::RequestReceived { stream, .. } = event {
        script
            .conn
            .respond(script.now, *stream, &response(200, &[]), true)
            .expect("the request waits for its response");
        script.conn.handler_done(*stream);
    }
    take_body(script, event);
}

/// Answers every request with 200 and no body, when all of it has come.
pub(in crate::h1::conn) fn answer_when_complete(script: &mut Script, event: &Event) {
    take_body(script, event);
    if let Event::RequestReceived {
        stream, end: true, ..
    }
    | Event::BodyReceived {
        stream, end: true, ..
    }
    | Event::TrailersReceived { stream, .. } = event
    {
        // It may be over: refused, or given up.
        let _ = script
            .conn
            .respond(script.now, *stream, &response(200, &[]), true);
        script.conn.handler_done(*stream);
    }
}

/// Consumes bodies as they come.
pub(in crate::h1::conn) fn take_body(script: &mut Script, event: &Event) {
    if let Event::BodyReceived { stream, data, .. } = event {
        script.conn.consume(script.now, *stream, data.len());
    }
}

pub(in crate::h1) fn response(status: u16, fields: &[(&str, &str)]) -> ResponseHead {
    ResponseHead::new(status, section(&[], fields), Version::Http11).expect("a valid head")
}

pub(in crate::h1) fn request(method: &str, path: &str, fields: &[(&str, &str)]) -> RequestHead {
    let pseudo = [
        (Token::METHOD, method),
        (Token::SCHEME, "http"),
        (Token::AUTHORITY, "a.test"),
        (Token::PATH, path),
    ];
    let fields: Vec<_> = fields.iter().copied().chain([("host", "a.test")]).collect();
    RequestHead::from_fields(section(&pseudo, &fields), Version::Http11).expect("a valid head")
}

pub(in crate::h1) fn section(pseudo: &[(Token, &str)], fields: &[(&str, &str)]) -> Fields {
    let mut section = Fields::new();
    for (token, value) in pseudo {
        section.push(*token, value.as_bytes());
    }
    for (name, value) in fields {
        section.push_named(name.as_bytes(), value.as_bytes());
    }
    section
}

fn describe(event: Event) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ending = |end| if end { " end" } else { "" };
    match event {
        Event::RequestReceived { stream, head, end } => format!(
            "{} {} {}{}",
            stream.0,
            text(head.method()),
            text(head.path().or(head.authority()).unwrap_or_default()),
            ending(end)
        ),
        Event::InterimReceived { stream, head } => format!("{} interim {}", stream.0, head.status),
        Event::ResponseReceived { stream, head, end } => {
            let sent = head.reason().map(String::from_utf8_lossy);
            let sent = sent.map_or(String::new(), |words| format!(" ({words})"));
            format!("{} status {}{sent}{}", stream.0, head.status, ending(end))
        }
        Event::BodyReceived { stream, data, end } => {
            format!("{} body {}{}", stream.0, text(&data), ending(end))
        }
        Event::TrailersReceived { stream, trailers } => {
            format!("{} trailers {trailers:?}", stream.0)
        }
        Event::StreamReset { stream, reset } => {
            let by = match reset.by {
                ResetBy::Us(violation) => violation.name().to_owned(),
                ResetBy::Peer(code) => format!("peer {}", code.0),
                ResetBy::Connection(closed) => format!("{closed:?}"),
                ResetBy::EarlyDataRejected => "early data".to_owned(),
            };
            let unprocessed = if reset.unprocessed {
                " unprocessed"
            } else {
                ""
            };
            let behind = if reset.behind && !reset.unprocessed {
                " behind"
            } else {
                ""
            };
            format!("{} reset {by}{unprocessed}{behind}", stream.0)
        }
        Event::BodyLost { stream, reset } => format!("{} lost {:?}", stream.0, reset.by),
        Event::SendReady { stream } => format!("{} ready", stream.0),
        Event::SendStopped { stream } => format!("{} stopped", stream.0),
        Event::CapacityChanged => "capacity".to_owned(),
        Event::InputEnded => "input ended".to_owned(),
        Event::GoingAway { code, .. } => format!("going away {}", code.0),
        Event::RequestRefused { stream, refused } => {
            format!("{} refused {:?}", stream.0, refused.violation)
        }
        Event::Upgraded { stream, rest } => format!("{} upgraded {}", stream.0, text(&rest)),
        Event::PongReceived { .. }
        | Event::PingReceived { .. }
        | Event::SettingsReceived { .. }
        | Event::OriginsReceived { .. }
        | Event::AltSvcReceived { .. }
        | Event::SettingsAcknowledged { .. } => "a frame of HTTP/2".to_owned(),
        Event::Closed(closed) => format!("closed {closed:?}"),
    }
}
