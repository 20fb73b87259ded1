//! One HTTP/2 connection, client or server: bytes and commands in, bytes and facts out.

use crate::error::{H2Code, Misuse};
use crate::http::{Event, Fields, RequestHead, ResponseHead, Side, StreamId};
use crate::limits::Config;
use crate::wire::Outbox;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Instant;

/// One HTTP/2 connection.
#[derive(Debug)]
pub struct Conn {
    outbox: Outbox,
}

#[allow(unused_variables, clippy::todo, reason = "signatures first")]
impl Conn {
    /// A fresh connection. The preface with our SETTINGS and the raised connection window waits in the outbox.
    pub fn new(side: Side, config: Arc<Config>, now: Instant) -> Self {
        todo!()
    }

    // Bytes and time in.

    /// Takes all of `bytes`; keeps an unparsed tail itself.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        todo!()
    }
    /// Carries out every deadline at or before `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        todo!()
    }
    /// The transport ended: end of file from the peer, or an error.
    pub fn handle_close(&mut self, now: Instant) {
        todo!()
    }

    // Bytes, facts and time out.

    /// Fills the outbox with what may go out now, in priority order, up to about 64 KiB, and
    /// returns it. Write its slices, `advance` it, and call again until it is empty.
    pub fn poll_write(&mut self, now: Instant) -> &mut Outbox {
        todo!()
    }
    /// The next fact.
    pub fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }
    /// When `handle_timeout` is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        todo!()
    }
    /// False while the driver must not read: too much waits to be written or to be consumed.
    pub fn wants_read(&self) -> bool {
        todo!()
    }
    /// True when nothing more will be written than what the outbox holds: close after it.
    pub fn is_closed(&self) -> bool {
        todo!()
    }

    // Questions.

    /// Client: how many more exchanges may start now.
    pub fn capacity(&self) -> u32 {
        todo!()
    }
    /// Exchanges that are open.
    pub fn active(&self) -> u32 {
        todo!()
    }
    /// Body bytes that `send_body` takes on this stream before the buffer is full; `SendReady`
    /// tells when 0 is over. `send_body` never refuses for size: this is the back-pressure.
    pub fn send_room(&self, stream: StreamId) -> usize {
        todo!()
    }

    // Commands.

    /// Client: starts an exchange. `end`: no body follows.
    pub fn open(
        &mut self,
        now: Instant,
        head: &RequestHead,
        end: bool,
    ) -> Result<StreamId, Misuse> {
        todo!()
    }
    /// Server: a 1xx before the final head.
    pub fn send_interim(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
    ) -> Result<(), Misuse> {
        todo!()
    }
    /// Server: the final head. `end`: no body follows.
    pub fn respond(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        end: bool,
    ) -> Result<(), Misuse> {
        todo!()
    }
    /// Body bytes; `end` may come with empty `data`.
    pub fn send_body(
        &mut self,
        now: Instant,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) -> Result<(), Misuse> {
        todo!()
    }
    /// Trailers, which end our side.
    pub fn send_trailers(
        &mut self,
        now: Instant,
        stream: StreamId,
        trailers: &Fields,
    ) -> Result<(), Misuse> {
        todo!()
    }
    /// The user took `bytes` of the body: the peer gets room for as many.
    pub fn consume(&mut self, now: Instant, stream: StreamId, bytes: usize) {
        todo!()
    }
    /// Ends an exchange early. On HTTP/1.1 this costs the connection unless it is complete.
    pub fn reset(&mut self, now: Instant, stream: StreamId, code: H2Code) {
        todo!()
    }
    /// Server: the handler of this stream is gone (finished or cancelled): it no longer counts
    /// against `running_handlers_max`. Called exactly once per `RequestReceived`.
    pub fn handler_done(&mut self, stream: StreamId) {
        todo!()
    }
    /// Drains: no new exchanges, open ones finish, then `Closed(Drained)`.
    pub fn shut_down(&mut self, now: Instant) {
        todo!()
    }
    /// Closes at once: what is open is reset.
    pub fn abort(&mut self, now: Instant, code: H2Code) {
        todo!()
    }
    /// Gives the memory of a head that the owner has read back for the next one.
    pub fn recycle(&mut self, fields: Fields) {
        todo!()
    }
    /// Gives buffers back while the connection idles (an idle connection owns no buffer).
    pub fn release(&mut self) {
        self.outbox.release();
    }
}
