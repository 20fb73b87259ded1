//! One HTTP/3 connection, client or server: stream bytes and commands in, actions and facts out.
//!
//! The signatures come first; what stands behind them follows file by file.

use super::Action;
use crate::error::{H2Code, H3Code, Misuse};
use crate::http::{Event, Fields, RequestHead, ResponseHead, Side, StreamId};
use crate::limits::Config;
use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One HTTP/3 connection. Ids are QUIC stream ids.
#[derive(Debug)]
pub struct Conn {
    side: Side,
    config: Arc<Config>,
}

impl Conn {
    /// A fresh connection; make it as soon as the transport takes stream data (a server may before
    /// the handshake is done). Our control stream with SETTINGS is among the first actions.
    pub fn new(side: Side, config: Arc<Config>, now: Instant) -> Self {
        let _ = now;
        Self { side, config }
    }

    // The transport tells.

    /// The handshake is confirmed enough for requests: the deadlines of the connection start.
    pub fn handle_handshake_done(&mut self, now: Instant) {
        let _ = now;
    }
    /// The peer opened a stream, of either kind. Streams are told in the order of their ids; one
    /// that was not told is opened by its first bytes.
    pub fn handle_opened(&mut self, now: Instant, stream: StreamId) {
        let _ = (now, stream);
    }
    /// The next bytes of a stream, in order; `fin`: nothing follows (may come with no bytes).
    /// Give no more than [`read_room`](Self::read_room) allows: that is the back-pressure.
    pub fn handle_stream(&mut self, now: Instant, stream: StreamId, bytes: &[u8], fin: bool) {
        let _ = (now, stream, bytes, fin);
    }
    /// The peer reset its sending side (RESET_STREAM).
    pub fn handle_stream_reset(&mut self, now: Instant, stream: StreamId, code: H3Code) {
        let _ = (now, stream, code);
    }
    /// The peer wants no more of what we send (STOP_SENDING).
    pub fn handle_stop_sending(&mut self, now: Instant, stream: StreamId, code: H3Code) {
        let _ = (now, stream, code);
    }
    /// The transport did not take the whole [`Action::Write`] that it was just given: `rest` is
    /// what is left of its pieces, `fin` as it was. Call it before the next `poll_transport`.
    pub fn handle_stream_blocked(
        &mut self,
        now: Instant,
        stream: StreamId,
        rest: [Bytes; 2],
        fin: bool,
    ) {
        let _ = (now, stream, rest, fin);
    }
    /// The transport takes more on this stream.
    pub fn handle_stream_room(&mut self, now: Instant, stream: StreamId) {
        let _ = (now, stream);
    }
    /// The peer acknowledged everything up to our `fin` on this stream. Once per stream, and not
    /// for one that was reset.
    pub fn handle_finished(&mut self, now: Instant, stream: StreamId) {
        let _ = (now, stream);
    }
    /// Client: how many bidirectional streams may be opened, counted from the start (as
    /// MAX_STREAMS counts): never falls. 0 until told.
    pub fn handle_streams_available(&mut self, now: Instant, limit: u64) {
        let _ = (now, limit);
    }
    /// Server: the peer says that it waits for stream credit (STREAMS_BLOCKED), if the transport
    /// tells.
    pub fn handle_streams_blocked(&mut self, now: Instant) {
        let _ = now;
    }
    /// A QUIC datagram came.
    pub fn handle_datagram(&mut self, now: Instant, bytes: Bytes) {
        let _ = (now, bytes);
    }
    /// The transport's estimate of the round trip, whenever it is at hand.
    pub fn handle_round_trip(&mut self, rtt: Duration) {
        let _ = rtt;
    }
    /// The connection ended below us: with the application code of the peer's CONNECTION_CLOSE,
    /// or `None` for everything else (a transport error, a timeout, a reset).
    pub fn handle_close(&mut self, now: Instant, code: Option<H3Code>) {
        let _ = (now, code);
    }
    /// Carries out every deadline at or before `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
    }

    // Orders, facts and time out.

    /// The next order to the transport. Ask until there is none, after every input, command or
    /// batch of them.
    pub fn poll_transport(&mut self, now: Instant) -> Option<Action> {
        let _ = now;
        None
    }
    /// The next fact.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }
    /// The next datagram for an open request stream (RFC 9297).
    pub fn poll_datagram(&mut self) -> Option<(StreamId, Bytes)> {
        None
    }
    /// When `handle_timeout` is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        None
    }
    /// Bytes of this stream that the machine takes now. At 0 leave the rest in the transport until
    /// [`Action::Read`]. Large for streams that never push back.
    pub fn read_room(&self, stream: StreamId) -> usize {
        let _ = stream;
        0
    }
    /// True after [`Event::Closed`]. Actions may still follow.
    pub fn is_closed(&self) -> bool {
        true
    }

    // Questions and commands, as those of HTTP/2.

    /// Client: how many more exchanges may start now.
    pub fn capacity(&self) -> u32 {
        0
    }
    /// Whether the peer's SETTINGS have come.
    pub fn is_settled(&self) -> bool {
        false
    }
    /// Exchanges that are open.
    pub fn active(&self) -> u32 {
        0
    }
    /// Body bytes that `send_body` takes on this stream before the buffer is full.
    pub fn send_room(&self, stream: StreamId) -> usize {
        let _ = stream;
        0
    }
    /// Client: starts an exchange. `end`: no body follows.
    pub fn open(
        &mut self,
        now: Instant,
        head: &RequestHead,
        end: bool,
    ) -> Result<StreamId, Misuse> {
        let _ = (now, head, end);
        Err(Misuse::NoCapacity)
    }
    /// Server: a 1xx before the final head.
    pub fn send_interim(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
    ) -> Result<(), Misuse> {
        let _ = (now, stream, head);
        Err(Misuse::StreamNotOpen)
    }
    /// Server: the final head. `end`: no body follows.
    pub fn respond(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        end: bool,
    ) -> Result<(), Misuse> {
        let _ = (now, stream, head, end);
        Err(Misuse::StreamNotOpen)
    }
    /// Body bytes; `end` may come with empty `data`.
    pub fn send_body(
        &mut self,
        now: Instant,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) -> Result<(), Misuse> {
        let _ = (now, stream, data, end);
        Err(Misuse::StreamNotOpen)
    }
    /// Trailers, which end our side.
    pub fn send_trailers(
        &mut self,
        now: Instant,
        stream: StreamId,
        trailers: &Fields,
    ) -> Result<(), Misuse> {
        let _ = (now, stream, trailers);
        Err(Misuse::StreamNotOpen)
    }
    /// A datagram about an open request (RFC 9297). May be dropped on the way.
    pub fn send_datagram(&mut self, stream: StreamId, data: &[u8]) -> Result<(), Misuse> {
        let _ = (stream, data);
        Err(Misuse::StreamNotOpen)
    }
    /// The user took `bytes` of the body: the peer gets room for as many.
    pub fn consume(&mut self, now: Instant, stream: StreamId, bytes: usize) {
        let _ = (now, stream, bytes);
    }
    /// Ends an exchange early. The codes are HTTP/2's in every version; HTTP/3 sends its own.
    pub fn reset(&mut self, now: Instant, stream: StreamId, code: H2Code) {
        let _ = (now, stream, code);
    }
    /// Server: the handler of this stream is gone (finished or cancelled). Exactly once per
    /// `RequestReceived`. What is left of a request body whose answer is complete is then read to
    /// its end, or stopped with H3_NO_ERROR if it is long (RFC 9114 section 4.1).
    pub fn handler_done(&mut self, now: Instant, stream: StreamId) {
        let _ = (now, stream);
    }
    /// Drains: no new exchanges, open ones finish, then `Closed(Drained)`.
    pub fn shut_down(&mut self, now: Instant) {
        let _ = now;
    }
    /// Closes at once: what is open is reset.
    pub fn abort(&mut self, now: Instant, code: H2Code) {
        let _ = (now, code);
    }
    /// Gives the memory of a head that the owner has read back for the next one.
    pub fn recycle(&mut self, fields: Fields) {
        let _ = fields;
    }
    /// Gives buffers back while the connection idles.
    pub fn release(&mut self) {
        let _ = (&self.side, &self.config);
    }
}
