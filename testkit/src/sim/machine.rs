//! An HTTP/1.1 or an HTTP/2 machine behind one set of verbs, and its bytes for the socket.

use bytes::{Bytes, BytesMut};
use std::io::IoSlice;
use std::time::{Duration, Instant};
use trunkline_core::error::{H2Code, Misuse, TransportEnd};
use trunkline_core::http::{Event, Fields, RequestHead, ResponseHead, StreamId, Token, Version};
use trunkline_core::wire::Outbox;
use trunkline_core::{h1, h2};

/// The machine of one end.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a few hundred of them at a time")]
pub enum Machine {
    /// HTTP/1.1.
    H1(h1::Conn),
    /// HTTP/2.
    H2(h2::Conn),
}

macro_rules! verbs {
    ($($verb:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        $(#[allow(missing_docs, reason = "the machine's own verb")]
        pub fn $verb(&mut self $(, $argument: $kind)*) $(-> $result)? {
            match self {
                Self::H1(conn) => conn.$verb($($argument),*),
                Self::H2(conn) => conn.$verb($($argument),*),
            }
        })*
    };
}

impl Machine {
    verbs! {
        handle_bytes(now: Instant, bytes: &[u8]);
        handle_timeout(now: Instant);
        handle_close(now: Instant, end: TransportEnd);
        poll_write(now: Instant) -> &mut Outbox;
        poll_event() -> Option<Event>;
        open(now: Instant, head: &RequestHead, end: bool) -> Result<StreamId, Misuse>;
        respond(now: Instant, stream: StreamId, head: &ResponseHead, end: bool) -> Result<(), Misuse>;
        send_body(now: Instant, stream: StreamId, data: Bytes, end: bool) -> Result<(), Misuse>;
        consume(now: Instant, stream: StreamId, bytes: usize);
        reset(now: Instant, stream: StreamId, code: H2Code);
        shut_down(now: Instant);
        next_deadline() -> Option<Instant>;
        wants_read() -> bool;
        is_closed() -> bool;
        capacity() -> u32;
        active() -> u32;
        send_room(stream: StreamId) -> usize;
    }

    /// The machine's own verb.
    pub fn handler_done(&mut self, now: Instant, stream: StreamId) {
        match self {
            Self::H1(conn) => conn.handler_done(stream),
            Self::H2(conn) => conn.handler_done(now, stream),
        }
    }
    /// The version whose rules a head to send must meet.
    pub fn version(&self) -> Version {
        match self {
            Self::H1(_) => Version::Http11,
            Self::H2(_) => Version::Http2,
        }
    }
    /// Whether the peer has said how many exchanges it allows.
    pub fn is_limit_known(&self) -> bool {
        self.h2().is_none_or(h2::Conn::is_limit_known)
    }
    /// The round trip, where it is measured.
    pub fn round_trip(&self) -> Option<Duration> {
        self.h2()?.round_trip()
    }
    /// Asks whether the peer lives. HTTP/1.1 cannot.
    pub fn ping(&mut self, now: Instant) -> bool {
        match self {
            Self::H1(_) => false,
            Self::H2(conn) => !conn.awaits_pong() && conn.ping(now, *b"are you?"),
        }
    }
    /// The HTTP/2 machine, if it is one.
    pub fn h2(&self) -> Option<&h2::Conn> {
        match self {
            Self::H1(_) => None,
            Self::H2(conn) => Some(conn),
        }
    }
    /// Everything that may be written now: whole frames.
    pub fn written(&mut self, now: Instant) -> Bytes {
        let outbox = self.poll_write(now);
        let mut written = BytesMut::with_capacity(outbox.len());
        while !outbox.is_empty() {
            let mut slices = [IoSlice::new(&[]); 16];
            let filled = outbox.slices(&mut slices, usize::MAX);
            let before = written.len();
            for slice in &slices[..filled] {
                written.extend_from_slice(slice);
            }
            outbox.advance(written.len() - before);
        }
        written.freeze()
    }
}

/// A request to the one host of every world. `length`: of its body, if it says one.
pub(super) fn request_head(method: &[u8], path: &str, length: Option<u64>) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, method);
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"origin.example");
    fields.push(Token::PATH, path.as_bytes());
    if let Some(length) = length {
        fields.push(Token::CONTENT_LENGTH, length.to_string().as_bytes());
    }
    RequestHead::from_fields(fields, Version::Http2).expect("the head is valid")
}
