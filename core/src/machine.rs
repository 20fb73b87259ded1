//! The verbs that every machine has: [`Machine`] those of exchanges, on any version of HTTP;
//! [`ByteMachine`] those of a byte stream, which HTTP/1.1 and HTTP/2 live on. HTTP/3 lives on the
//! streams of QUIC, and has verbs of its own for them ([`h3::Conn`]).
//!
//! Meant for generic code; nothing here is dispatched at run time.

use crate::credit::Readback;
use crate::error::{H2Code, Misuse, TransportEnd, Violation};
use crate::http::{Event, Fields, RequestHead, ResponseHead, Side, StreamId, Version};
use crate::inspect::ConnectionSnapshot;
use crate::wire::Outbox;
use crate::{h1, h2, h3};
use bytes::Bytes;
use std::time::{Duration, Instant};

/// One connection's machine: exchanges and time in, events out.
pub trait Machine {
    /// The version whose rules a head to send must meet.
    fn version(&self) -> Version;
    /// Which end of the connection it is.
    fn side(&self) -> Side;
    /// Whether [`Event::Closed`] was queued: nothing more happens.
    fn is_closed(&self) -> bool;
    /// Client: exchanges that may start now.
    fn capacity(&self) -> u32;
    /// Exchanges that are open.
    fn active(&self) -> u32;
    /// Client: whether the peer has announced how many exchanges it allows. HTTP/1.1 has nothing to
    /// announce.
    fn is_limit_known(&self) -> bool {
        true
    }

    /// Carries out every deadline at or before `now`.
    fn handle_timeout(&mut self, now: Instant);
    /// When `handle_timeout` is due.
    fn next_deadline(&self) -> Option<Instant>;
    /// Nothing was read for `by`, because our user did not keep up: every deadline is as much later.
    fn postpone(&mut self, by: Duration);
    /// The next event.
    fn poll_event(&mut self) -> Option<Event>;
    /// Server: a rule that a request broke which became no exchange, for metrics. HTTP/1.1 closes
    /// with it.
    fn poll_refused(&mut self) -> Option<Violation> {
        None
    }

    /// Client: starts an exchange. `end`: no body follows.
    ///
    /// # Errors
    /// The connection takes no exchange now, or not this one.
    fn open(&mut self, now: Instant, head: &RequestHead, end: bool) -> Result<StreamId, Misuse>;
    /// Server: a 1xx before the final head.
    ///
    /// # Errors
    /// The stream awaits no head, or not this one.
    fn send_interim(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
    ) -> Result<(), Misuse>;
    /// Server: the final head. `end`: no body follows.
    ///
    /// # Errors
    /// The stream awaits no head, or not this one.
    fn respond(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        end: bool,
    ) -> Result<(), Misuse>;
    /// Server: the final head and all of the body.
    ///
    /// # Errors
    /// As those of `respond`; with nothing sent when content-length is another.
    fn answer(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        body: Bytes,
    ) -> Result<(), Misuse>;
    /// Body bytes; `end` may come with empty `data`.
    ///
    /// # Errors
    /// The stream awaits no body, or content-length is another.
    fn send_body(
        &mut self,
        now: Instant,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) -> Result<(), Misuse>;
    /// Trailers, which end our side.
    ///
    /// # Errors
    /// The stream awaits none, or a field may not stand there.
    fn send_trailers(
        &mut self,
        now: Instant,
        stream: StreamId,
        trailers: &Fields,
    ) -> Result<(), Misuse>;
    /// Body bytes that `send_body` takes on this stream before the buffer is full.
    fn send_room(&self, stream: StreamId) -> usize;
    /// The user took `bytes` of the body: the peer gets room for as many.
    fn consume(&mut self, now: Instant, stream: StreamId, bytes: usize);
    /// Ends an exchange early.
    fn reset(&mut self, now: Instant, stream: StreamId, code: H2Code);
    /// The owner of a tunnel is gone: our side ends behind what was given of it, and what the peer sends is
    /// not delivered. Its time is [`LEFT_TUNNEL_TIME_MAX`](crate::limits::LEFT_TUNNEL_TIME_MAX) at most. A tunnel of HTTP/1.1 is
    /// no exchange of the machine any more; any exchange that is one is reset.
    fn leave(&mut self, now: Instant, stream: StreamId) {
        self.reset(now, stream, H2Code::CANCEL);
    }
    /// Server: nothing reads the rest of the request's body. Over HTTP/1.1 a response behind it says that the connection
    /// closes where the rest is too long to be discarded, or chunked.
    fn decline(&mut self, stream: StreamId) {
        let _ = stream;
    }
    /// Server: the handler of this stream is gone, once per request.
    fn handler_done(&mut self, now: Instant, stream: StreamId);
    /// Drains: no new exchanges, open ones finish.
    fn shut_down(&mut self, now: Instant);
    /// Closes at once.
    fn abort(&mut self, now: Instant, code: H2Code);

    /// Takes the memory of a head that the owner has read.
    fn recycle(&mut self, fields: Fields);
    /// Takes a request head that the owner has read.
    fn recycle_head(&mut self, head: RequestHead);
    /// Gives buffers back while the connection idles.
    fn release(&mut self);
    /// The connection and its `streams_max` oldest exchanges, now. Takes time for each of them.
    fn inspect(&self, now: Instant, streams_max: usize) -> ConnectionSnapshot;

    /// Server: whether connections or the budget of the bytes that wait for clients are scarce, so that one that reads
    /// nothing has less time ([`Timeouts::scarce_stall`](crate::limits::Timeouts::scarce_stall)).
    fn is_scarce_to_send(&self) -> bool;
    /// The shortest round trip so far, where the version measures it.
    fn round_trip(&self) -> Option<Duration> {
        None
    }
    /// The receive window that the path has needed recently, in bytes; 0: nothing was seen.
    fn bdp_bytes(&self, now: Instant) -> u32 {
        let _ = now;
        0
    }
    /// A receive window, of a stream or (`None`) of the connection; `None` when the stream is over.
    fn receive_window(&self, stream: Option<StreamId>) -> Option<Readback>;
    /// Sets a receive window, in bytes: it only grows.
    ///
    /// # Errors
    /// The window is smaller than now or out of range, or the stream is over.
    fn set_receive_window(
        &mut self,
        now: Instant,
        stream: Option<StreamId>,
        window: u32,
    ) -> Result<(), Misuse>;
    /// How large the body to come is thought to be, in bytes. HTTP/1.1 has no window to raise for it.
    fn expect_body(&mut self, now: Instant, stream: StreamId, bytes: u64) {
        let _ = (now, stream, bytes);
    }
}

/// A machine on a byte stream.
pub trait ByteMachine: Machine {
    /// Takes all of `bytes`; keeps an unparsed tail itself.
    fn handle_bytes(&mut self, now: Instant, bytes: &[u8]);
    /// The peer's bytes ended.
    fn handle_close(&mut self, now: Instant, end: TransportEnd);
    /// Fills the outbox with what may go out now, and returns it.
    fn poll_write(&mut self, now: Instant) -> &mut Outbox;
    /// Bytes that wait to be written already.
    fn written(&mut self) -> &mut Outbox;
    /// Whether it takes bytes now.
    fn wants_read(&self) -> bool;
}

/// Implements a trait by methods of the same name and arguments that the type has itself, and by
/// `own` ones.
macro_rules! forward {
    ($kind:ident for $conn:ty { $($own:tt)* }
        $(mut $verb:ident($($argument:ident: $of:ty),*) $(-> $result:ty)?;)*
        $(ref $question:ident($($asked:ident: $as_of:ty),*) -> $answer:ty;)*
        $(and $(mut $more:ident($($with:ident: $more_of:ty),*) $(-> $gives:ty)?;)*)?
    ) => {
        impl $kind for $conn {
            $(#[inline]
            fn $verb(&mut self $(, $argument: $of)*) $(-> $result)? {
                <$conn>::$verb(self $(, $argument)*)
            })*
            $(#[inline]
            fn $question(&self $(, $asked: $as_of)*) -> $answer {
                <$conn>::$question(self $(, $asked)*)
            })*
            $($(#[inline]
            fn $more(&mut self $(, $with: $more_of)*) $(-> $gives)? {
                <$conn>::$more(self $(, $with)*)
            })*)?
            $($own)*
        }
    };
}

/// [`Machine`] by the verbs of all three, `own` ones, and `more` that some machines have.
macro_rules! machine {
    ($conn:ty, $version:expr, { $($own:tt)* } $($more:tt)*) => {
        forward! {
            Machine for $conn {
                #[inline]
                fn version(&self) -> Version {
                    $version
                }
                $($own)*
            }
            mut handle_timeout(now: Instant);
            mut postpone(by: Duration);
            mut poll_event() -> Option<Event>;
            mut open(now: Instant, head: &RequestHead, end: bool) -> Result<StreamId, Misuse>;
            mut send_interim(now: Instant, stream: StreamId, head: &ResponseHead) -> Result<(), Misuse>;
            mut respond(now: Instant, stream: StreamId, head: &ResponseHead, end: bool) -> Result<(), Misuse>;
            mut answer(now: Instant, stream: StreamId, head: &ResponseHead, body: Bytes) -> Result<(), Misuse>;
            mut send_body(now: Instant, stream: StreamId, data: Bytes, end: bool) -> Result<(), Misuse>;
            mut send_trailers(now: Instant, stream: StreamId, trailers: &Fields) -> Result<(), Misuse>;
            mut consume(now: Instant, stream: StreamId, bytes: usize);
            mut reset(now: Instant, stream: StreamId, code: H2Code);
            mut shut_down(now: Instant);
            mut abort(now: Instant, code: H2Code);
            mut recycle(fields: Fields);
            mut recycle_head(head: RequestHead);
            mut release();
            ref side() -> Side;
            ref next_deadline() -> Option<Instant>;
            ref is_closed() -> bool;
            ref capacity() -> u32;
            ref active() -> u32;
            ref send_room(stream: StreamId) -> usize;
            ref is_scarce_to_send() -> bool;
            ref receive_window(stream: Option<StreamId>) -> Option<Readback>;
            ref inspect(now: Instant, streams_max: usize) -> ConnectionSnapshot;
            $($more)*
        }
    };
}

/// [`Machine`] of the versions with windows of their own and several exchanges at a time.
macro_rules! multiplexed {
    ($conn:ty, $version:expr) => {
        machine! { $conn, $version, {}
            ref is_limit_known() -> bool;
            ref round_trip() -> Option<Duration>;
            ref bdp_bytes(now: Instant) -> u32;
            and
            mut leave(now: Instant, stream: StreamId);
            mut handler_done(now: Instant, stream: StreamId);
            mut poll_refused() -> Option<Violation>;
            mut set_receive_window(now: Instant, stream: Option<StreamId>, window: u32) -> Result<(), Misuse>;
            mut expect_body(now: Instant, stream: StreamId, bytes: u64);
        }
    };
}

/// [`ByteMachine`], which is alike in both.
macro_rules! byte_machine {
    ($conn:ty) => {
        forward! {
            ByteMachine for $conn {
                #[inline]
                fn poll_write(&mut self, now: Instant) -> &mut Outbox {
                    <$conn>::poll_write(self, now)
                }
                #[inline]
                fn written(&mut self) -> &mut Outbox {
                    <$conn>::written(self)
                }
            }
            mut handle_bytes(now: Instant, bytes: &[u8]);
            mut handle_close(now: Instant, end: TransportEnd);
            ref wants_read() -> bool;
        }
    };
}

machine!(h1::Conn, Version::Http11, {
    fn decline(&mut self, stream: StreamId) {
        Self::handler_done(self, stream);
    }
    #[inline]
    fn handler_done(&mut self, _now: Instant, stream: StreamId) {
        Self::handler_done(self, stream);
    }
    fn set_receive_window(
        &mut self,
        _now: Instant,
        stream: Option<StreamId>,
        window: u32,
    ) -> Result<(), Misuse> {
        Self::set_receive_window(self, stream, window)
    }
});
multiplexed!(h2::Conn, Version::Http2);
multiplexed!(h3::Conn, Version::Http3);
byte_machine!(h1::Conn);
byte_machine!(h2::Conn);

#[cfg(test)]
#[path = "machine_test.rs"]
mod machine_test;
