//! An application on a connection, driven by the control bytes: opens requests, answers those of
//! the peer, reads bodies, lets time pass. Asserts for every machine that exchanges begin once and
//! end once, and that no event follows the end.

use bytes::Bytes;
use std::collections::BTreeSet;
use std::time::Instant;
use trunkline_core::Machine;
use trunkline_core::error::{Closed, H2Code, Misuse, TransportEnd, Violation};
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};

/// Exchanges that a client starts in one run.
pub(super) const OPENED_MAX: u32 = 64;

/// The stream numbers from one request of a client to its next (RFC 9113 section 5.1.1, RFC 9000
/// section 2.1; HTTP/1.1 counts as HTTP/2).
fn stream_step(version: Version) -> u64 {
    match version {
        Version::Http3 => 4,
        _ => 2,
    }
}

/// A machine and its application.
pub(super) struct Application<M> {
    pub(super) conn: M,
    pub(super) side: Side,
    pub(super) now: Instant,
    /// Exchanges whose end was not reported.
    pub(super) open: BTreeSet<StreamId>,
    /// Server: handlers that have not been reported as done.
    pub(super) handlers: BTreeSet<StreamId>,
    /// Requests it opened.
    pub(super) opened: u32,
    /// The end of the connection, once it is reported.
    pub(super) closed: Option<Closed>,
    /// It left HTTP.
    pub(super) upgraded: bool,
    /// How the peer's bytes ended.
    pub(super) transport_end: Option<TransportEnd>,
    seen: BTreeSet<StreamId>,
    unread: Vec<(StreamId, usize)>,
}

/// Goes to the next deadline of `conn`, at `now` or later; the time it is then.
pub(super) fn pass_deadline(conn: &mut impl Machine, now: Instant) -> Instant {
    let Some(deadline) = conn.next_deadline() else {
        return now;
    };
    let now = now.max(deadline);
    conn.handle_timeout(now);
    let next = conn.next_deadline();
    assert!(
        next.is_none_or(|next| next > now),
        "a deadline that stays due would spin"
    );
    now
}

impl<M: Machine> Application<M> {
    pub(super) fn new(conn: M, side: Side, now: Instant) -> Self {
        Self {
            conn,
            side,
            now,
            open: BTreeSet::new(),
            handlers: BTreeSet::new(),
            opened: 0,
            closed: None,
            upgraded: false,
            transport_end: None,
            seen: BTreeSet::new(),
            unread: Vec::new(),
        }
    }
    /// Goes to the next deadline.
    pub(super) fn pass_time(&mut self) {
        self.now = pass_deadline(&mut self.conn, self.now);
    }
    /// Opens what the machine takes.
    pub(super) fn open_some(&mut self, choice: u8) {
        while self.side == Side::Client && self.conn.capacity() > 0 && self.opened < OPENED_MAX {
            let method: &[u8] = match (u32::from(choice) + self.opened) % 4 {
                0 => b"POST",
                1 => b"HEAD",
                _ => b"GET",
            };
            let post = method == b"POST";
            let head = request(method, self.conn.version());
            let stream = match self.conn.open(self.now, &head, !post) {
                // The peer takes no head of this size (SETTINGS_MAX_FIELD_SECTION_SIZE).
                Err(Misuse::Invalid(Violation::FieldSectionTooLarge)) => return,
                stream => stream.expect("there was capacity and the head is valid"),
            };
            assert!(self.open.insert(stream), "{stream:?} was open already");
            self.opened += 1;
            if post {
                let sent = self.conn.send_body(self.now, stream, "body".into(), true);
                assert_eq!(sent, Ok(()), "the request is open and its body fits");
            }
        }
    }
    /// Answers what happened; the number of events.
    pub(super) fn answer(&mut self, choice: u8) -> usize {
        let mut count = 0;
        while !self.upgraded
            && let Some(event) = self.conn.poll_event()
        {
            count += 1;
            self.handle(event, choice);
        }
        count
    }
    fn handle(&mut self, event: Event, choice: u8) {
        assert_eq!(self.closed, None, "{event:?} after the end");
        match event {
            Event::RequestReceived { stream, head, .. } => {
                assert!(self.seen.insert(stream), "{stream:?} came again");
                // QUIC's streams overtake each other.
                let is_last = self.seen.last() == Some(&stream);
                let is_quic = self.conn.version() == Version::Http3;
                assert!(is_last || is_quic, "{stream:?} is old");
                assert!(!head.method().is_empty());
                self.conn.recycle_head(head);
                self.open.insert(stream);
                self.handlers.insert(stream);
                self.respond(stream, choice);
            }
            Event::BodyReceived { stream, data, end } => {
                assert!(self.open.contains(&stream), "a body of {stream:?}");
                let cut = self
                    .transport_end
                    .is_some_and(|end| end != TransportEnd::InOrder);
                assert!(
                    !(end && cut),
                    "{stream:?} is complete after {:?}",
                    self.transport_end
                );
                self.unread.push((stream, data.len()));
            }
            Event::StreamReset { stream, .. } => {
                assert!(self.open.remove(&stream), "{stream:?} ended twice");
                self.done(stream);
            }
            Event::SendReady { stream } => {
                // Refused where the exchange has ended meanwhile.
                let data = Bytes::from_static(&[7; 999]);
                let _ = self.conn.send_body(self.now, stream, data, true);
            }
            Event::Upgraded { .. } => self.upgraded = true,
            Event::Closed(why) => self.closed = Some(why),
            _ => {}
        }
    }
    /// Its response to a request, by the control byte.
    fn respond(&mut self, stream: StreamId, choice: u8) {
        let version = self.conn.version();
        let head = response(version);
        let (conn, now) = (&mut self.conn, self.now);
        // Misuse is not an error here: the peer may have ended the exchange meanwhile.
        match (u64::from(choice) + stream.0 / stream_step(version)) % 4 {
            0 => {
                let _ = conn.respond(now, stream, &head, true);
            }
            1 => {
                let _ = conn.respond(now, stream, &head, false);
                let end = conn.send_room(stream) > 0;
                let data = Bytes::from_static(&[7; 20_000]);
                let _ = conn.send_body(now, stream, data, end);
            }
            // Events already queued still arrive.
            2 => conn.reset(now, stream, H2Code::CANCEL),
            // A handler that never answers.
            _ => return,
        }
        self.done(stream);
    }
    fn done(&mut self, stream: StreamId) {
        if self.handlers.remove(&stream) {
            self.conn.handler_done(self.now, stream);
        }
    }
    /// Reads every body as far as it came.
    pub(super) fn consume_all(&mut self) {
        for (stream, bytes) in std::mem::take(&mut self.unread) {
            self.conn.consume(self.now, stream, bytes);
        }
    }
    /// The user of a client gives up all that is open.
    pub(super) fn cancel_all(&mut self) {
        for stream in std::mem::take(&mut self.open) {
            self.conn.reset(self.now, stream, H2Code::CANCEL);
        }
    }
}

fn request(method: &[u8], version: Version) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, method);
    if version != Version::Http11 {
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::AUTHORITY, b"a.example");
        fields.push(Token::PATH, b"/");
    } else {
        fields.push(Token::PATH, b"/");
        fields.push(Token::HOST, b"a.example");
    }
    if method == b"POST" {
        fields.push(Token::CONTENT_LENGTH, b"4");
    }
    RequestHead::from_fields(fields, version).expect("a valid request")
}

fn response(version: Version) -> ResponseHead {
    let mut fields = Fields::new();
    fields.push(Token::CONTENT_TYPE, b"text/plain");
    ResponseHead::new(200, fields, version).expect("a valid response")
}
