//! Composes frames in a slab and turns them into writes, in the order of the commands, then of RFC
//! 9218.
//!
//! Invariants: bytes of the stream in `open` stand at the end of `slab`, those of no other; a
//! write that came back is the first of what its stream sends next; the end rides on the last
//! write, where it was known in time.

use super::Conn;
use crate::exchange::Framing;
use crate::h3::TransportAction;
use crate::h3::frame::{kind, put_header};
use crate::h3::stream::H3SendQueue;
use crate::h3::stream_kind::StreamOrigin;
use crate::http::priority::Priority;
use crate::http::{ResponseHead, StreamId};
use bytes::{Bytes, BytesMut};
use std::time::Instant;

/// A slab for heads and small bodies: some forty small answers share an allocation.
const SLAB_BYTES: usize = 16 * 1024;
/// Bodies of this size and more go out by reference; a copy of less costs less than another piece
/// in the transport's queue.
const BY_REFERENCE_BYTES_MIN: usize = 4 * 1024;
/// One write of a body: what a more urgent stream may have to wait behind.
const TURN_BYTES: usize = 64 * 1024;
/// So much may wait in actions before bodies queue on their streams.
const QUEUED_BYTES_MAX: usize = 64 * 1024;

impl Conn {
    /// The next command to the transport. Ask until there is none, after every input, command or
    /// batch of them.
    pub fn poll_transport(&mut self, now: Instant) -> Option<TransportAction> {
        if let Some((stream, fin)) = self.actions.take_given() {
            self.taken(now, stream, fin);
        }
        loop {
            let action = self.actions.pop();
            if action.is_some() {
                return action;
            }
            if self.closed {
                return None;
            }
            self.flush_ours(now);
            self.close_slab(false);
            if self.actions.is_empty() {
                self.resume_unblocked();
                self.send_turn();
            }
            if self.actions.is_empty() {
                self.account_for_waiting();
                return None;
            }
        }
    }

    /// The transport did not take the whole [`TransportAction::Write`] that it was just given: `rest` is
    /// what is left of its pieces, `fin` as it was. Call it before the next `poll_transport`.
    pub fn handle_stream_blocked(
        &mut self,
        now: Instant,
        stream: StreamId,
        rest: [Bytes; 2],
        fin: bool,
    ) {
        self.close_slab(false);
        let was_served = self.actions.given_bytes() > rest.iter().map(Bytes::len).sum();
        let mut pieces = Vec::from(rest);
        let fin = self.actions.take_back(stream, &mut pieces) || fin;
        if StreamOrigin::of(stream.0) != StreamOrigin::ClientBidi {
            return self.uni_blocked(stream, &pieces);
        }
        let max = self.queue_max();
        let (Some(key), Some(open)) = (self.streams.key(stream), self.streams.get_mut(stream))
        else {
            return;
        };
        let queue = open
            .queue
            .get_or_insert_with(|| self.free_queues.pop().unwrap_or_default());
        let before = queue.len();
        if before == 0 && !queue.has_turn {
            queue.has_turn = self.session.send_account_mut().begin_turn(stream.0);
        }
        for piece in pieces.into_iter().rev() {
            // It was counted when it was asked for: only what is taken moves the clock of a peer
            // that drips credit.
            queue.clock.take_back(piece.len() as u64);
            queue.put_back(piece);
        }
        self.session.note_queued(queue.len() - before);
        self.actions.note_returned(queue.len() - before);
        queue
            .clock
            .start_if_stopped(now, self.actions.carried_out());
        // Streams that found no room because of these bytes get an event when there is some again.
        queue.is_full |= queue.len() >= max;
        open.blocked = true;
        if fin {
            open.end_queued = false;
        }
        self.session.schedule_mut().remove(key);
        self.blocked_streams.push(stream, was_served);
        self.watch_waiting(now);
        self.account_for_waiting();
    }

    /// The transport takes more on this stream.
    pub fn handle_stream_room(&mut self, now: Instant, stream: StreamId) {
        let _ = now;
        if StreamOrigin::of(stream.0) != StreamOrigin::ClientBidi {
            return self.uni_room(stream);
        }
        if let Some(open) = self.streams.get_mut(stream) {
            open.blocked = false;
            self.blocked_streams.note_room();
        }
    }

    // From the commands.

    /// HEADERS with a response's head.
    pub(super) fn write_response(
        &mut self,
        now: Instant,
        id: StreamId,
        head: &ResponseHead,
        end: bool,
    ) {
        self.section.clear();
        self.encoder.encode_response(id, head, &mut self.section);
        self.put_section(now, id, end);
    }

    /// HEADERS with the section that was encoded last.
    pub(super) fn put_section(&mut self, now: Instant, id: StreamId, end: bool) {
        if let Some(open) = self.streams.get_mut(id)
            && end
        {
            open.sent.finish();
        }
        let is_direct = self.is_direct(id);
        if !is_direct {
            self.close_slab(false);
        }
        // RFC 9204 section 2.1.2: insertions first, or the peer's stream waits for them.
        self.flush_encoder(now);
        self.begin_slab(id, self.section.len());
        put_header(kind::HEADERS, self.section.len(), &mut self.slab);
        self.slab.extend_from_slice(&self.section);
        if !is_direct {
            let framed = self.slab.split().freeze();
            self.open = None;
            self.enqueue(now, id, framed, true);
        } else if end {
            self.close_slab(true);
        }
        if end {
            self.answer_ended(now, id);
        }
    }

    /// Whether a body of `len` bytes goes out at once with its head, by copy.
    pub(super) fn takes_whole(&self, len: usize) -> bool {
        let waits = self.actions.queued_bytes() + self.slab.len() >= QUEUED_BYTES_MAX;
        (1..BY_REFERENCE_BYTES_MIN).contains(&len) && self.session.schedule().is_empty() && !waits
    }

    /// HEADERS with the section that was encoded last and DATA with all of the body that
    /// [`takes_whole`](Self::takes_whole) allows, which is our side's end: one write.
    pub(super) fn put_answer(&mut self, now: Instant, id: StreamId, body: &[u8]) {
        // RFC 9204 section 2.1.2: insertions first, or the peer's stream waits for them.
        self.flush_encoder(now);
        self.session.note_frame_sent(body.len());
        let section = self.section.len();
        self.begin_slab(id, section + FRAME_HEADER_ROOM + body.len());
        put_header(kind::HEADERS, section, &mut self.slab);
        self.slab.extend_from_slice(&self.section);
        put_header(kind::DATA, body.len(), &mut self.slab);
        self.slab.extend_from_slice(body);
        self.open = None;
        let bytes = self.slab.split().freeze();
        self.actions.push_write(id, [bytes, Bytes::new()], true);
        if let Some(open) = self.streams.get_mut(id) {
            open.sent.finish();
            open.sent_bytes += body.len() as u64;
            open.end_queued = true;
        }
        self.answer_ended(now, id);
    }

    /// DATA with these bytes, now or when it is their turn.
    pub(super) fn put_body(&mut self, now: Instant, id: StreamId, data: Bytes, end: bool) {
        let waits = self.actions.queued_bytes() + self.slab.len() >= QUEUED_BYTES_MAX;
        let now_or_never = self.session.schedule().is_empty() && !waits && data.len() <= TURN_BYTES;
        if !self.is_direct(id) || !now_or_never && !data.is_empty() {
            if self.open == Some(id) {
                self.close_slab(false);
            }
            return self.enqueue(now, id, data, false);
        }
        if !data.is_empty() {
            self.session.note_frame_sent(data.len());
            if let Some(open) = self.streams.get_mut(id) {
                open.sent_bytes += data.len() as u64;
            }
            let is_small = data.len() < BY_REFERENCE_BYTES_MIN;
            self.begin_slab(id, if is_small { data.len() } else { 0 });
            put_header(kind::DATA, data.len(), &mut self.slab);
            if !is_small {
                let framed = self.slab.split().freeze();
                self.open = None;
                self.note_end_queued(id, end);
                return self.actions.push_write(id, [framed, data], end);
            }
            self.slab.extend_from_slice(&data);
        }
        if end {
            self.begin_slab(id, 0);
            self.close_slab(true);
        }
    }

    /// The queue of the stream knows the waiting bytes.
    fn enqueue(&mut self, now: Instant, id: StreamId, bytes: Bytes, framed: bool) {
        let max = self.queue_max();
        let Some(open) = self.streams.get_mut(id) else {
            return;
        };
        let queue = open
            .queue
            .get_or_insert_with(|| self.free_queues.pop().unwrap_or_default());
        self.session.note_queued(bytes.len());
        if queue.is_empty() && !queue.has_turn {
            queue.has_turn = self.session.send_account_mut().begin_turn(id.0);
        }
        queue.push(bytes, framed);
        queue
            .clock
            .start_if_stopped(now, self.actions.carried_out());
        queue.is_full |= queue.len() >= max;
        self.schedule_stream(id);
        self.watch_waiting(now);
        self.account_for_waiting();
    }

    /// Whether a frame of this stream may go out behind those that were asked for.
    fn is_direct(&self, id: StreamId) -> bool {
        self.streams.get(id).is_some_and(|open| open.is_direct())
    }

    // The slab.

    /// Makes the end of the slab this stream's, with room for a header and `len` bytes.
    fn begin_slab(&mut self, id: StreamId, len: usize) {
        if self.open != Some(id) {
            self.close_slab(false);
            self.open = Some(id);
        }
        let needed = len + FRAME_HEADER_ROOM;
        if self.slab.capacity() - self.slab.len() < needed {
            self.slab.reserve(needed.max(SLAB_BYTES));
        }
    }

    /// Asks for a write of what stands in the slab.
    pub(super) fn close_slab(&mut self, fin: bool) {
        if let Some(id) = self.open.take() {
            let bytes = self.slab.split().freeze();
            self.note_end_queued(id, fin);
            self.actions.push_write(id, [bytes, Bytes::new()], fin);
        }
    }

    fn note_end_queued(&mut self, id: StreamId, fin: bool) {
        if let Some(open) = self.streams.get_mut(id)
            && fin
        {
            open.end_queued = true;
        }
    }

    /// The encoder's instructions go out before the section that needs them.
    fn flush_encoder(&mut self, now: Instant) {
        if self.encoder_has_output() {
            self.close_slab(false);
            self.flush_ours(now);
        }
    }

    fn encoder_has_output(&mut self) -> bool {
        let waiting = self.ours.out(crate::h3::UniKind::QpackEncoder);
        self.encoder.encoder_stream_bytes(waiting);
        !waiting.is_empty()
    }

    // The scheduler's turn.

    /// One write of the stream whose turn it is.
    fn send_turn(&mut self) {
        let Some(key) = self.session.schedule().choose() else {
            return;
        };
        let Some((id, open)) = self.streams.by_key_mut(key) else {
            debug_assert!(false, "a stream that is gone was scheduled");
            self.session.schedule_mut().remove(key);
            return;
        };
        let mut large = Bytes::new();
        let mut frames = 0;
        let mut body_bytes = 0;
        if let Some(queue) = &mut open.queue {
            let before = queue.len();
            debug_assert_eq!(self.slab.len(), 0, "closed before a turn");
            while large.is_empty() && self.slab.len() < TURN_BYTES {
                let Some(body) = next_pieces(queue, &mut self.slab, &mut large) else {
                    break;
                };
                frames += u64::from(body > 0);
                body_bytes += body as u64;
            }
            self.session.note_unqueued(before - queue.len());
            queue
                .clock
                .note_sent((self.slab.len() + large.len()) as u64);
        }
        let is_empty = open.queue.as_ref().is_none_or(|queue| queue.is_empty());
        let fin = is_empty && open.sent.is_ended();
        open.end_queued |= fin;
        open.sent_bytes += body_bytes;
        self.session.note_data_sent(frames, body_bytes);
        let framed = self.slab.split().freeze();
        self.actions.push_write(id, [framed, large], fin);
        if is_empty {
            self.session.schedule_mut().remove(key);
        } else {
            self.session.schedule_mut().took_turn(key);
        }
    }

    /// Puts a stream into the scheduler if it has something to send and the transport takes it.
    pub(super) fn schedule_stream(&mut self, id: StreamId) {
        if let (Some(key), Some(open)) = (self.streams.key(id), self.streams.get(id))
            && !open.blocked
            && open.wants_to_send()
        {
            let priority = open.priority.unwrap_or(Priority::SHARED);
            self.session.schedule_mut().push(key, priority);
        }
    }

    /// Sets the transport's priority to the client's (RFC 9218 section 10). Without one, streams
    /// share: a small response must not wait behind a download without a priority.
    pub(super) fn set_priority(&mut self, id: StreamId) {
        let Some(open) = self.streams.get(id).filter(|open| !open.is_sent) else {
            return;
        };
        if open.sent.awaits_head() && !open.received.has_request() {
            return;
        }
        if let Some(priority) = open.priority {
            let order = order_of(priority, id);
            self.actions
                .push(TransportAction::SetPriority { stream: id, order });
        }
    }
}

/// Room for a frame header in the slab.
const FRAME_HEADER_ROOM: usize = 16;

/// Moves the next pieces of a queue into `slab`, a large one into `large`. How many body bytes;
/// `None`: nothing is left.
fn next_pieces(queue: &mut H3SendQueue, slab: &mut BytesMut, large: &mut Bytes) -> Option<usize> {
    let front = queue.pieces.front()?;
    let len = front.bytes.len();
    if front.framed {
        let bytes = queue.take(usize::MAX)?;
        if len < BY_REFERENCE_BYTES_MIN {
            slab.extend_from_slice(&bytes);
        } else {
            *large = bytes;
        }
        return Some(0);
    }
    if len >= BY_REFERENCE_BYTES_MIN {
        let body = queue.take(TURN_BYTES)?;
        put_header(kind::DATA, body.len(), slab);
        let len = body.len();
        *large = body;
        return Some(len);
    }
    let run = queue.small_body(BY_REFERENCE_BYTES_MIN, TURN_BYTES);
    put_header(kind::DATA, run, slab);
    let mut left = run;
    while left > 0 {
        let body = queue.take(left)?;
        left -= body.len();
        slab.extend_from_slice(&body);
    }
    Some(run)
}

/// The order among streams: by urgency; within one, non-incremental streams in the order of their
/// requests, then the incremental ones in turn.
fn order_of(priority: Priority, id: StreamId) -> i32 {
    const STEP: i32 = 1 << 27;
    const POSITIONS: u64 = 1 << 26;
    let base = (3 - i32::from(priority.urgency)) * STEP;
    match priority.incremental {
        true => base,
        false => base + (POSITIONS - id.0 / 4 % POSITIONS) as i32,
    }
}
