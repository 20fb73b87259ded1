//! An HTTP/1.1, HTTP/2 or HTTP/3 machine behind one set of verbs; ALPN or the first bytes decide
//! the version once per connection. Exchange verbs exist for all three versions, byte verbs for
//! HTTP/1.1 and HTTP/2 only: [`quic::session`](super::quic::session) moves HTTP/3's streams.

pub(crate) mod inspection;
pub(crate) mod qlog;

use bytes::Bytes;
use std::time::{Duration, Instant};
use trunkline_core::credit::Readback;
use trunkline_core::error::{H2Code, Misuse, TransportEnd, Violation};
use trunkline_core::http::{Event, Fields, RequestHead, ResponseHead, Side, StreamId, Version};
use trunkline_core::inspect::ConnectionSnapshot;
use trunkline_core::min_rate::Scarcity;
use trunkline_core::wire::Outbox;
use trunkline_core::{Machine as Verbs, h1, h2, h3};

/// The machine of one connection.
///
/// Boxed: an idle HTTP/1.1 connection does not pay for the size of the other.
#[derive(Debug)]
pub(crate) enum Machine {
    /// HTTP/1.0 and HTTP/1.1.
    H1(Box<h1::Conn>),
    /// HTTP/2.
    H2(Box<h2::Conn>),
    /// HTTP/3.
    H3(Box<Http3>),
}

/// An HTTP/3 machine, and the byte stream that it does not have.
#[derive(Debug)]
pub(crate) struct Http3 {
    conn: h3::Conn,
    /// Always empty.
    bytes: Outbox,
}

/// Verbs of [`trunkline_core::Machine`], each to the machine of this connection's version: a match
/// and a direct call.
macro_rules! delegate {
    ($($(#[$attribute:meta])* $verb:ident(&mut self $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?;)*) => {
        $($(#[$attribute])*
        pub(crate) fn $verb(&mut self $(, $argument: $kind)*) $(-> $result)? {
            match self {
                Self::H1(conn) => Verbs::$verb(&mut **conn $(, $argument)*),
                Self::H2(conn) => Verbs::$verb(&mut **conn $(, $argument)*),
                Self::H3(http3) => Verbs::$verb(&mut http3.conn $(, $argument)*),
            }
        })*
    };
    ($($(#[$attribute:meta])* $verb:ident(&self $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?;)*) => {
        $($(#[$attribute])*
        pub(crate) fn $verb(&self $(, $argument: $kind)*) $(-> $result)? {
            match self {
                Self::H1(conn) => Verbs::$verb(&**conn $(, $argument)*),
                Self::H2(conn) => Verbs::$verb(&**conn $(, $argument)*),
                Self::H3(http3) => Verbs::$verb(&http3.conn $(, $argument)*),
            }
        })*
    };
}

/// The bytes of a PING that asks for nothing else.
const ARE_YOU_THERE: [u8; 8] = *b"are you?";

#[allow(dead_code, reason = "some verbs are one side's only")]
impl Machine {
    /// An HTTP/3 machine.
    pub(crate) fn http3(conn: h3::Conn) -> Self {
        Self::H3(Box::new(Http3 {
            conn,
            bytes: Outbox::default(),
        }))
    }
    /// The HTTP/3 machine, if it is one.
    pub(crate) fn h3(&mut self) -> Option<&mut h3::Conn> {
        match self {
            Self::H3(http3) => Some(&mut http3.conn),
            Self::H1(_) | Self::H2(_) => None,
        }
    }
    /// The HTTP/2 machine, if it is one.
    pub(crate) fn h2(&mut self) -> Option<&mut h2::Conn> {
        match self {
            Self::H2(conn) => Some(conn),
            Self::H1(_) | Self::H3(_) => None,
        }
    }
    /// Whether the request of this stream is one of HTTP/1.0.
    pub(crate) fn is_http10(&self, stream: StreamId) -> bool {
        match self {
            Self::H1(conn) => conn.is_http10(stream),
            Self::H2(_) | Self::H3(_) => false,
        }
    }
    /// Whether connections are scarce, for the tunnel that a connection of HTTP/1.1 becomes.
    pub(crate) fn scarcity(&self) -> Scarcity {
        match self {
            Self::H1(conn) => conn.scarcity().clone(),
            Self::H2(_) | Self::H3(_) => Scarcity::default(),
        }
    }
    /// The bytes so far behind a request of HTTP/1.1 that may leave HTTP.
    pub(crate) fn upgrade_head(&self) -> &[u8] {
        match self {
            Self::H1(conn) => conn.upgrade_head(),
            Self::H2(_) | Self::H3(_) => &[],
        }
    }
    /// Ends an exchange early, behind what was given of its body, where the version can say both: on HTTP/1.1 the end of
    /// the connection is the reset, and over QUIC a reset stream delivers nothing more (RFC 9000 section 3.3).
    pub(crate) fn reset_behind_body(&mut self, now: Instant, stream: StreamId, code: H2Code) {
        match self {
            Self::H2(conn) => conn.reset_behind_body(now, stream, code),
            other => other.reset(now, stream, code),
        }
    }
    /// Client: whether bytes of a request's body, or their end, are still here behind its response. Those of HTTP/1.1 are with the
    /// bytes for the transport at once.
    pub(crate) fn is_sending(&self, stream: StreamId) -> bool {
        match self {
            Self::H1(_) => false,
            Self::H2(conn) => conn.is_open(stream),
            Self::H3(http3) => http3.conn.is_sending(stream),
        }
    }
    /// Bytes of a body that were given and have not left; on HTTP/1.1 all that waits for the transport.
    pub(crate) fn queued(&mut self, stream: StreamId) -> usize {
        match self {
            Self::H1(conn) => conn.written().len(),
            Self::H2(conn) => conn.queued(stream),
            Self::H3(http3) => http3.conn.queued(stream),
        }
    }
    /// Server: whether the connection leaves HTTP with this exchange next; HTTP/1.1's alone.
    pub(crate) fn leaves_with(&self, stream: StreamId) -> bool {
        matches!(self, Self::H1(conn) if conn.leaves_with(stream))
    }
    /// Closes at once, behind what was given of the bodies; see [`reset_behind_body`](Self::reset_behind_body).
    pub(crate) fn abort_behind_bodies(&mut self, now: Instant, code: H2Code) {
        match self {
            Self::H2(conn) => conn.abort_behind_bodies(now, code),
            other => other.abort(now, code),
        }
    }
    /// Client: the other end is a proxy that forwards requests; HTTP/1.1's alone
    /// (RFC 9112 section 3.2.2).
    pub(crate) fn through(self, proxy: h1::Proxy) -> Self {
        match self {
            Self::H1(conn) => Self::H1(Box::new((*conn).through(proxy))),
            other => other,
        }
    }

    /// Bytes from the transport.
    pub(crate) fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        match self {
            Self::H1(conn) => conn.handle_bytes(now, bytes),
            Self::H2(conn) => conn.handle_bytes(now, bytes),
            Self::H3(_) => debug_assert!(false, "HTTP/3 has no byte stream"),
        }
    }
    /// The peer's bytes ended. HTTP/1.1 lets a client read on that ended its side.
    pub(crate) fn handle_close(&mut self, now: Instant, end: TransportEnd) {
        match self {
            Self::H1(conn) => conn.handle_close(now, end),
            Self::H2(conn) => conn.handle_close(now, end),
            // The end of a QUIC connection has a code, which the session passes on itself.
            Self::H3(http3) => http3.conn.handle_close(now, None),
        }
    }
    /// Bytes for the transport.
    pub(crate) fn poll_write(&mut self, now: Instant) -> &mut Outbox {
        match self {
            Self::H1(conn) => conn.poll_write(now),
            Self::H2(conn) => conn.poll_write(now),
            Self::H3(http3) => &mut http3.bytes,
        }
    }
    /// The bytes that already wait for the transport; [`poll_write`](Self::poll_write) chooses what
    /// follows them.
    pub(crate) fn written(&mut self) -> &mut Outbox {
        match self {
            Self::H1(conn) => conn.written(),
            Self::H2(conn) => conn.written(),
            Self::H3(http3) => &mut http3.bytes,
        }
    }
    /// Whether it takes bytes now.
    pub(crate) fn wants_read(&self) -> bool {
        match self {
            Self::H1(conn) => conn.wants_read(),
            Self::H2(conn) => conn.wants_read(),
            Self::H3(_) => false,
        }
    }
    /// HTTP/1.1, a server: the client has ended its side, all that it sent is parsed, and responses are due.
    pub(crate) fn has_concluded_input(&self) -> bool {
        matches!(self, Self::H1(conn) if conn.has_concluded_input())
    }
    /// Client: sets HTTP/1.1's options of the exchange that is opened next. Connections of other versions are shared, and
    /// their requests have a scheme and an authority of their own.
    pub(crate) fn set_open_options(&mut self, options: h1::OpenOptions) {
        if let Self::H1(conn) = self {
            conn.set_open_options(options);
        }
    }

    /// HTTP/2: asks whether the peer lives, unless an answer is due already. HTTP/1.1 has no such
    /// question, and QUIC asks itself.
    pub(crate) fn ping(&mut self, now: Instant) -> bool {
        match self {
            Self::H1(_) | Self::H3(_) => false,
            Self::H2(conn) => !conn.awaits_pong() && conn.ping(now, ARE_YOU_THERE),
        }
    }
    /// A receive window, of a stream or (`None`) of the connection.
    pub(crate) fn receive_window(&self, stream: Option<StreamId>) -> Result<Readback, Misuse> {
        let read = match self {
            Self::H1(conn) => conn.receive_window(stream),
            Self::H2(conn) => conn.receive_window(stream),
            Self::H3(http3) => http3.conn.receive_window(stream),
        };
        read.ok_or(Misuse::StreamNotOpen)
    }
    /// Whether the peer takes a section of this size, where it has said how many bytes it takes. HTTP/3's `open` asks by itself.
    pub(crate) fn check_size(&self, section: &Fields) -> Result<(), Misuse> {
        match self {
            Self::H2(conn) => conn.check_size(section),
            Self::H1(_) | Self::H3(_) => Ok(()),
        }
    }
    delegate! {
        decline(&mut self, stream: StreamId);
        handler_done(&mut self, now: Instant, stream: StreamId);
        poll_refused(&mut self) -> Option<Violation>;
        set_receive_window(&mut self, now: Instant, stream: Option<StreamId>, window: u32) -> Result<(), Misuse>;
        expect_body(&mut self, now: Instant, stream: StreamId, bytes: u64);
        handle_timeout(&mut self, now: Instant);
        postpone(&mut self, by: Duration);
        poll_event(&mut self) -> Option<Event>;
        open(&mut self, now: Instant, head: &RequestHead, end: bool) -> Result<StreamId, Misuse>;
        send_interim(&mut self, now: Instant, stream: StreamId, head: &ResponseHead) -> Result<(), Misuse>;
        respond(&mut self, now: Instant, stream: StreamId, head: &ResponseHead, end: bool) -> Result<(), Misuse>;
        answer(&mut self, now: Instant, stream: StreamId, head: &ResponseHead, body: Bytes) -> Result<(), Misuse>;
        send_body(&mut self, now: Instant, stream: StreamId, data: Bytes, end: bool) -> Result<(), Misuse>;
        send_trailers(&mut self, now: Instant, stream: StreamId, trailers: &Fields) -> Result<(), Misuse>;
        consume(&mut self, now: Instant, stream: StreamId, bytes: usize);
        reset(&mut self, now: Instant, stream: StreamId, code: H2Code);
        leave(&mut self, now: Instant, stream: StreamId);
        shut_down(&mut self, now: Instant);
        abort(&mut self, now: Instant, code: H2Code);
        recycle(&mut self, fields: Fields);
        recycle_head(&mut self, head: RequestHead);
        release(&mut self);
    }
    delegate! {
        version(&self) -> Version;
        side(&self) -> Side;
        is_limit_known(&self) -> bool;
        round_trip(&self) -> Option<Duration>;
        bdp_bytes(&self, now: Instant) -> u32;
        next_deadline(&self) -> Option<Instant>;
        is_closed(&self) -> bool;
        capacity(&self) -> u32;
        active(&self) -> u32;
        send_room(&self, stream: StreamId) -> usize;
        is_scarce_to_send(&self) -> bool;
        inspect(&self, now: Instant, streams_max: usize) -> ConnectionSnapshot;
    }
}
