//! Writes frames. Heads go straight into the outbox, in the order of the commands, because a header
//! block depends on the ones before it. Bodies go there too when no others wait; otherwise they
//! queue on their stream, and `fill` frames them in the order of RFC 9218.
//!
//! Invariant: END_STREAM rides on the last DATA or HEADERS frame, where the end was known in time.

use super::{Conn, Timer};
use crate::error::{Misuse, Violation};
use crate::exchange::{
    Framing, Received, Sent, check_final, check_interim, check_open, check_trailers,
};
use crate::h2::frame::headers::HeaderBlockStart;
use crate::h2::frame::{WindowUpdate, data};
use crate::h2::stream::H2SendQueue;
use crate::h2::stream_state::StreamInput;
use crate::http::priority::Priority;
use crate::http::{Fields, RequestHead, ResponseHead, StreamId, Token, Version};
use crate::wire::Outbox;
use bytes::Bytes;
use std::time::Instant;

/// The outbox size up to which `fill` adds frames, bytes: one large write, and little for a more
/// urgent stream to wait behind.
const OUTBOX_TARGET_BYTES: usize = 128 * 1024;
/// DATA frames are not made larger than this, whatever the peer takes: a turn of the scheduler.
const DATA_FRAME_BYTES_MAX: u32 = 16 * 1024;

impl Conn {
    /// Client: starts an exchange. `end`: no body follows.
    ///
    /// # Errors
    /// `WrongSide` on a server; `ConnectionClosed` when the connection takes no more exchanges;
    /// `NoCapacity` when [`capacity`](Self::capacity) is 0; `Invalid(ConnectMalformed)` for an
    /// extended CONNECT that the server has not allowed; `BodyLength` when `end` contradicts
    /// content-length.
    pub fn open(
        &mut self,
        now: Instant,
        head: &RequestHead,
        end: bool,
    ) -> Result<StreamId, Misuse> {
        check_open(self, head)?;
        let sent = Sent::request(head, end)?;
        let mut stream = self.fresh_stream(Received::awaiting_response(head), sent, now);
        stream.priority = upload_priority(head);
        let mut incoming = self.fresh_incoming(now);
        let raise = self.raise_fresh(now, &mut incoming);
        stream.incoming = Some(incoming);
        stream.advance(StreamInput::SendHeaders { end });
        let id = self.ids.open();
        let out = self.outbox.buffer();
        let block = HeaderBlockStart::reserve(out);
        self.encoder.encode_request(head, out);
        block.finish(id, end, self.peer.max_frame_size, out);
        if let Some(increment) = raise {
            let stream = id;
            self.send_window_update(WindowUpdate { stream, increment });
        }
        self.streams.insert(id, stream);
        self.timers.stop(Timer::Idle);
        if !self.ids.has_next() {
            // RFC 9113 section 5.1.1: ids are never used again; a new connection has fresh ones.
            self.shut_down(now);
        }
        let capacity = self.capacity();
        self.session.opened(capacity);
        Ok(StreamId(u64::from(id)))
    }

    /// Server: a 1xx before the final head.
    ///
    /// # Errors
    /// `Invalid(StatusInvalid)` for 101 and for a final status; `WrongSide` on a client;
    /// `ConnectionClosed` when it is; `StreamNotOpen` when the exchange is over or answered.
    pub fn send_interim(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
    ) -> Result<(), Misuse> {
        check_interim(head)?;
        let (id, key) = self.answerable(stream)?;
        let carried = self.session.totals().body_bytes_received;
        if head.status == 100
            && let Some((_, open)) = self.streams.by_key_mut(key)
        {
            open.received.ask_for_content();
            if let Some(incoming) = &mut open.incoming {
                incoming.min_rate.restart(now, carried);
            }
        }
        self.write_response(id, head, false);
        Ok(())
    }

    /// Server: the final head. `end`: no body follows. A `priority` field overrides, member by
    /// member, what the request asked for (RFC 9218 section 8).
    ///
    /// # Errors
    /// `Invalid(StatusInvalid)` for an interim status; `WrongSide` on a client; `ConnectionClosed`
    /// when it is; `StreamNotOpen` when the exchange is over or answered; `BodyLength` when `end`
    /// contradicts content-length.
    pub fn respond(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        end: bool,
    ) -> Result<(), Misuse> {
        check_final(head)?;
        let (id, key) = self.answerable(stream)?;
        let Some((_, stream)) = self.streams.by_key_mut(key) else {
            return Err(Misuse::StreamNotOpen);
        };
        let method = stream.received.method();
        stream.sent.respond(method, head, end)?;
        if !end && let Some(value) = head.get(Token::PRIORITY) {
            // RFC 9218 section 8. A PRIORITY_UPDATE that comes later wins over both.
            stream.priority = stream.priority.overridden_by(value);
        }
        self.write_response(id, head, end);
        if end {
            self.side_ended(now, key, StreamInput::SendHeaders { end });
        }
        Ok(())
    }

    /// Server: the final head and all of the body: [`respond`](Self::respond) and
    /// [`send_body`](Self::send_body) at the price of one.
    ///
    /// # Errors
    /// As theirs; `BodyLength`, with nothing sent, when content-length is another.
    pub fn answer(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        body: Bytes,
    ) -> Result<(), Misuse> {
        let (id, key) = self.answerable(stream)?;
        let Some((_, open)) = self.streams.by_key_mut(key) else {
            return Err(Misuse::StreamNotOpen);
        };
        Sent::check_answer(open.received.method(), head, body.len())?;
        let room = open.quota.available().min(self.window.sendable());
        let frame_max = self.peer.max_frame_size.min(DATA_FRAME_BYTES_MAX).min(room);
        let idle = self.session.schedule().is_empty() && self.outbox.len() < OUTBOX_TARGET_BYTES;
        if !idle || body.is_empty() || body.len() > frame_max as usize || head.is_interim() {
            self.respond(now, stream, head, body.is_empty())?;
            return match body.is_empty() {
                true => Ok(()),
                false => self.send_body(now, stream, body, true),
            };
        }
        let len = body.len() as u32;
        open.sent.finish();
        open.quota.spend(len);
        self.window.spend(len);
        self.write_response(id, head, false);
        self.write_body(id, body);
        self.side_ended(now, key, StreamInput::SendData { end: true });
        Ok(())
    }

    /// Body bytes; `end` may come with empty `data`.
    ///
    /// # Errors
    /// `ConnectionClosed` when it is; `StreamNotOpen` when our side is not in its body;
    /// `BodyLength` when the body would differ from the content-length that was sent (nothing is
    /// queued then).
    pub fn send_body(
        &mut self,
        now: Instant,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) -> Result<(), Misuse> {
        let key = self.live_key(stream)?;
        let Some((id, stream)) = self.streams.by_key_mut(key) else {
            return Err(Misuse::StreamNotOpen);
        };
        stream.sent.content(data.len(), end)?;
        if end && stream.queued() == 0 {
            // The one-shot answer: nothing to gain from waiting for more.
            let len = data.len() as u32;
            let fits = data.len() <= self.peer.max_frame_size.min(DATA_FRAME_BYTES_MAX) as usize
                && len <= stream.quota.available().min(self.window.sendable());
            let idle =
                self.session.schedule().is_empty() && self.outbox.len() < OUTBOX_TARGET_BYTES;
            if data.is_empty() || fits && idle {
                stream.quota.spend(len);
                self.window.spend(len);
                self.write_body(id, data);
                self.side_ended(now, key, StreamInput::SendData { end });
                return Ok(());
            }
        }
        if data.is_empty() && !end {
            return Ok(());
        }
        let spare = &mut self.free_bodies;
        let queue = stream.queue.get_or_insert_with(|| {
            let spare = spare.as_mut().and_then(|spare| spare.queues.pop());
            spare.unwrap_or_default()
        });
        if queue.is_empty() {
            queue.clock.start(now, self.outbox.written());
            queue.has_turn = self.session.send_account_mut().begin_turn(u64::from(id));
        }
        self.session.note_queued(data.len());
        queue.push(data);
        queue.end |= end;
        let (len, quota) = (queue.len(), stream.quota);
        let is_full = len >= self.queue_max(quota);
        if let Some((_, stream)) = self.streams.by_key_mut(key)
            && let Some(queue) = &mut stream.queue
        {
            queue.is_full = is_full;
        }
        self.schedule_stream(id);
        self.account_for_waiting();
        self.watch_waiting(now);
        Ok(())
    }

    /// Trailers, which end our side.
    ///
    /// # Errors
    /// As [`send_body`](Self::send_body), and `Invalid` for trailers that the validator refuses.
    pub fn send_trailers(
        &mut self,
        now: Instant,
        stream: StreamId,
        trailers: &Fields,
    ) -> Result<(), Misuse> {
        check_trailers(trailers, Version::Http2)?;
        let id = self.live_id(stream)?;
        let Some(stream) = self.streams.get_mut(id) else {
            return Err(Misuse::StreamNotOpen);
        };
        stream.sent.trailers()?;
        match stream.queue.as_mut().filter(|queue| !queue.is_empty()) {
            Some(queue) => queue.trailers = Some(Box::new(trailers.clone())),
            None => self.write_trailers(now, id, trailers),
        }
        Ok(())
    }

    // The scheduler's turn.

    /// Makes DATA frames of what waits until the outbox holds enough for one write.
    pub(super) fn fill(&mut self, now: Instant) {
        while self.outbox.len() < OUTBOX_TARGET_BYTES && self.window.sendable() > 0 {
            let Some(key) = self.session.schedule().choose() else {
                break;
            };
            self.send_turn(now, key);
        }
        self.account_for_waiting();
    }

    /// Makes DATA frames of what waits on one stream, as far as the windows let it go. The outbox may grow beyond its
    /// target by what was queued already.
    pub(super) fn frame_queued(&mut self, now: Instant, key: u32) {
        while self.window.sendable() > 0
            && let Some((_, stream)) = self.streams.by_key(key)
            && stream.queued() > 0
            && stream.quota.available() > 0
        {
            self.send_turn(now, key);
        }
        self.account_for_waiting();
    }

    /// As [`frame_queued`](Self::frame_queued), of all streams in the order of RFC 9218.
    pub(super) fn frame_all_queued(&mut self, now: Instant) {
        while self.window.sendable() > 0
            && let Some(key) = self.session.schedule().choose()
        {
            self.send_turn(now, key);
        }
        self.account_for_waiting();
    }

    /// One DATA frame of the stream at `key`, and its trailers if they are next.
    fn send_turn(&mut self, now: Instant, key: u32) {
        let Some((id, stream)) = self.streams.by_key_mut(key) else {
            debug_assert!(false, "a stream that is gone was scheduled");
            self.session.schedule_mut().remove(key);
            return;
        };
        let Some(queue) = &mut stream.queue else {
            self.session.schedule_mut().remove(key);
            return;
        };
        let room = stream.quota.available().min(self.window.sendable());
        let frame_max = self.peer.max_frame_size.min(DATA_FRAME_BYTES_MAX).min(room);
        let len = queue.len().min(frame_max as usize);
        let end = queue.end && len == queue.len();
        stream.quota.spend(len as u32);
        self.window.spend(len as u32);
        write_data(&mut self.outbox, id, queue, len, end);
        self.session.note_unqueued(len);
        queue.clock.note_sent(len as u64);
        let drained = queue.is_empty();
        if drained {
            queue.clock.stop();
            let had_turn = std::mem::take(&mut queue.has_turn);
            self.session.send_account_mut().end_turn(had_turn);
        }
        if drained || stream.quota.available() == 0 {
            self.session.schedule_mut().remove(key);
        } else {
            self.session.schedule_mut().took_turn(key);
        }
        let is_full = queue.is_full;
        let trailers = if drained { queue.trailers.take() } else { None };
        self.session.note_frame_sent(len);
        if is_full {
            self.note_room(key);
        }
        if end {
            self.side_ended(now, key, StreamInput::SendData { end });
        } else if let Some(trailers) = trailers {
            self.write_trailers(now, id, &trailers);
        }
    }

    /// Puts a stream into the scheduler if it has bytes and its window allows one.
    pub(super) fn schedule_stream(&mut self, id: u32) {
        let Some(key) = self.streams.key(id) else {
            return;
        };
        if let Some((_, stream)) = self.streams.by_key(key)
            && stream.queued() > 0
            && stream.quota.available() > 0
        {
            self.session.schedule_mut().push(key, stream.priority);
        }
    }

    // Frames.

    pub(super) fn write_response(&mut self, id: u32, head: &ResponseHead, end: bool) {
        let out = self.outbox.buffer();
        let block = HeaderBlockStart::reserve(out);
        self.encoder.encode_response(head, out);
        block.finish(id, end, self.peer.max_frame_size, out);
    }

    /// The one DATA frame that a stream ends with.
    fn write_body(&mut self, id: u32, body: Bytes) {
        let len = body.len();
        data::write_header(id, len as u32, true, self.outbox.buffer());
        self.outbox.push_body(body);
        self.session.note_frame_sent(len);
    }

    fn write_trailers(&mut self, now: Instant, id: u32, trailers: &Fields) {
        let out = self.outbox.buffer();
        let block = HeaderBlockStart::reserve(out);
        self.encoder.encode_trailers(trailers, out);
        block.finish(id, true, self.peer.max_frame_size, out);
        self.peer_ended(now, id, StreamInput::SendHeaders { end: true });
    }

    // Checks before a call.

    /// RFC 9113 section 10.5.1: a peer may answer a section that is larger than it has said to take with an error of the
    /// connection, which takes every other exchange with it. `open` leaves that to the peer.
    ///
    /// # Errors
    /// `Invalid(FieldSectionTooLarge)` for a section above the peer's limit, as far as that is known.
    pub fn check_size(&self, section: &Fields) -> Result<(), Misuse> {
        match section.size() > self.peer.max_header_list_size as usize {
            true => Err(Misuse::Invalid(Violation::FieldSectionTooLarge)),
            false => Ok(()),
        }
    }

    /// The id of an open stream.
    pub(super) fn live_id(&self, stream: StreamId) -> Result<u32, Misuse> {
        self.live_key(stream).map(|_| stream.0 as u32)
    }

    /// The id and the key of a request that has no final head yet.
    fn answerable(&self, stream: StreamId) -> Result<(u32, u32), Misuse> {
        let key = self.answerable_key(stream)?;
        // A stream with a key has an id of 32 bits.
        Ok((stream.0 as u32, key))
    }
}

/// How a client's body takes turns with its others. A server waits for each body with a timer of
/// its own, and most act on the bytes as they come: unless the request says otherwise, they share
/// the line (RFC 9218 section 10 leaves the order of what a client sends to the client).
fn upload_priority(head: &RequestHead) -> Priority {
    head.priority().map_or(Priority::SHARED, Priority::parse)
}

/// Appends one DATA frame with the first `len` queued bytes.
fn write_data(outbox: &mut Outbox, id: u32, queue: &mut H2SendQueue, len: usize, end: bool) {
    data::write_header(id, len as u32, end, outbox.buffer());
    let mut left = len;
    while let Some(piece) = queue.take(left) {
        left -= piece.len();
        outbox.push_body(piece);
        if left == 0 {
            break;
        }
    }
}
