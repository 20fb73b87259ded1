//! Ends of one side of a stream, of streams before their time, and of the connection. Every open
//! stream gets exactly one end, and the connection exactly one.

use super::ping::RESET_PING;
use super::{Conn, Life, Timer};
use crate::error::{Closed, H2Code, Scope, Violation};
use crate::exchange::{Framing, charge_reset, charge_violation, is_answered, too_large_answer};
use crate::h2::frame::{FrameHeader, Goaway, RstStream};
use crate::h2::stream_state::{ClosedHow, StreamInput, StreamState, step};
use crate::http::event::ResetBy;
use crate::http::{Event, Reset, Side, StreamId, Version};
use crate::limits::LEFT_TUNNEL_TIME_MAX;
use bytes::Bytes;
use std::time::Instant;

/// Points of the glitch budget for a frame on a stream that is gone.
const LATE_FRAME_POINTS: u32 = 1;

impl Conn {
    // One side of a stream ends.

    /// END_STREAM came.
    pub(super) fn peer_ended(&mut self, now: Instant, id: u32, input: StreamInput) {
        if let Some(key) = self.streams.key(id) {
            self.side_ended(now, key, input);
        }
    }

    /// END_STREAM came for the stream at `key`, or is in the outbox.
    pub(super) fn side_ended(&mut self, now: Instant, key: u32, input: StreamInput) {
        if let Some((id, stream)) = self.streams.by_key_mut(key) {
            stream.advance(input);
            if stream.state.is_closed() {
                self.drop_stream_at(now, id, key, ClosedHow::Ended);
            } else if stream.stops && stream.state == StreamState::HalfClosedLocal {
                self.reset(now, StreamId(u64::from(id)), H2Code::NO_ERROR);
            } else {
                self.watch_unwanted(now, key);
            }
        }
    }

    // A stream ends early.

    /// Ends an exchange early. On HTTP/1.1 this costs the connection unless it is complete.
    pub fn reset(&mut self, now: Instant, stream: StreamId, code: H2Code) {
        if let Ok(stream) = self.live_id(stream) {
            RstStream { stream, code }.write(self.outbox.buffer());
            self.session.totals_mut().resets += 1;
            self.drop_stream(now, stream, ClosedHow::ResetByUs);
            self.hold_slot(now);
            self.note_capacity();
        }
    }

    /// As [`reset`](Self::reset), behind as many of the body's queued bytes as the peer's windows let go now:
    /// a reset says that no more follows, and takes back nothing that was given before it. A complete response goes out
    /// whole when the code is NO_ERROR, and the reset, which asks for no more of the request, follows its end.
    pub fn reset_behind_body(&mut self, now: Instant, stream: StreamId, code: H2Code) {
        if let Ok(key) = self.live_key(stream) {
            if code == H2Code::NO_ERROR && self.stop_behind_response(key) {
                return;
            }
            self.frame_queued(now, key);
        }
        self.reset(now, stream, code);
    }

    /// RFC 9113 section 8.1: the server resets with NO_ERROR behind a complete response, which a cut one would look like.
    /// False: none waits.
    fn stop_behind_response(&mut self, key: u32) -> bool {
        let is_server = self.session.side() == Side::Server;
        let Some((_, stream)) = self.streams.by_key_mut(key).filter(|_| is_server) else {
            return false;
        };
        let waits = stream.sent.is_ended() && stream.queued() > 0;
        stream.stops |= waits;
        waits
    }

    /// The owner of a tunnel is gone: END_STREAM behind what was given of it, and behind that a reset with NO_ERROR, which
    /// asks for no more of the peer's (RFC 9113 section 8.1). Bytes that the peer takes none of are given up after
    /// [`LEFT_TUNNEL_TIME_MAX`].
    pub fn leave(&mut self, now: Instant, stream: StreamId) {
        let Ok(key) = self.live_key(stream) else {
            return;
        };
        let open = self.streams.by_key(key);
        if open.is_some_and(|(_, open)| open.sent.takes_content())
            && self.send_body(now, stream, Bytes::new(), true).is_err()
        {
            return self.reset(now, stream, H2Code::CANCEL);
        }
        // It is over if the peer's end was there.
        let Some((_, open)) = self.streams.by_key_mut(key) else {
            return;
        };
        let is_ended = open.sent.is_ended();
        match &mut open.queue {
            Some(queue) if is_ended && !queue.is_empty() => {
                queue.left_until = Some(now + LEFT_TUNNEL_TIME_MAX);
                open.stops = true;
                self.watch_streams(now, Some(LEFT_TUNNEL_TIME_MAX));
            }
            _ if is_ended => self.reset(now, stream, H2Code::NO_ERROR),
            _ => self.reset(now, stream, H2Code::CANCEL),
        }
    }

    /// RST_STREAM is in the outbox: the peer counts the stream until it has seen it.
    fn hold_slot(&mut self, now: Instant) {
        if self.session.side() == Side::Server || self.life == Life::Closed {
            return;
        }
        self.reset_slots.hold(now);
        self.ask_for_slots(now);
    }

    /// Where there is no room for another exchange, the peer is asked for what it has seen.
    pub(super) fn ask_for_slots(&mut self, now: Instant) {
        if self.capacity() == 0 && self.takes_exchanges() && self.reset_slots.ask(now) {
            self.write_ping(RESET_PING);
        }
        self.watch_reset_slots();
    }

    pub(super) fn watch_reset_slots(&mut self) {
        if let Some(at) = self.reset_slots.next_deadline(self.session.round_trip()) {
            self.timers.set(Timer::ResetSlots, at);
        }
    }

    /// The peer broke a rule: its stream ends, or with `Err` the connection.
    pub(super) fn break_stream(
        &mut self,
        now: Instant,
        id: u32,
        violation: Violation,
    ) -> Result<(), Violation> {
        charge_violation(self, now, violation)?;
        let code = violation.h2_code();
        RstStream { stream: id, code }.write(self.outbox.buffer());
        let by = ResetBy::Us(violation);
        self.end_early(now, id, by, false, ClosedHow::ResetByUs);
        self.hold_slot(now);
        Ok(())
    }

    /// Server: a request that does not become an exchange.
    pub(super) fn refuse(
        &mut self,
        now: Instant,
        id: u32,
        end: bool,
        violation: Violation,
    ) -> Result<(), Violation> {
        self.session.note_refused(violation);
        charge_violation(self, now, violation)?;
        let code = match too_large_answer(self.session.config(), now, violation, Version::Http2) {
            Some(head) => {
                self.write_response(id, &head, true);
                H2Code::NO_ERROR
            }
            None => violation.h2_code(),
        };
        // RFC 9113 section 8.1: behind an answer the reset says that the rest is not wanted.
        let how = match end && code == H2Code::NO_ERROR {
            true => ClosedHow::Ended,
            false => {
                RstStream { stream: id, code }.write(self.outbox.buffer());
                ClosedHow::ResetByUs
            }
        };
        // Late frames find how it ended.
        self.ids.close(id, how);
        Ok(())
    }

    pub(super) fn take_reset(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let RstStream { stream, code } = RstStream::parse(header, payload)?;
        let Some(ended) = self.streams.get(stream) else {
            return match self.is_idle(stream) {
                true => Err(Violation::StreamIdle),
                // RFC 9113 section 5.1: it crossed our own end.
                false => self.glitch(now, LATE_FRAME_POINTS),
            };
        };
        let ended = (ended.opened_at, is_answered(ended));
        charge_reset(self, now, ended)?;
        let by = ResetBy::Peer(code);
        let unprocessed = self.session.side() == Side::Client && code == H2Code::REFUSED_STREAM;
        self.end_early(now, stream, by, unprocessed, ClosedHow::ResetByPeer);
        Ok(())
    }

    /// Ends an open exchange before its time and reports it to the owner.
    pub(super) fn end_early(
        &mut self,
        now: Instant,
        id: u32,
        by: ResetBy,
        unprocessed: bool,
        how: ClosedHow,
    ) {
        if self.streams.key(id).is_none() {
            return;
        }
        self.session.totals_mut().resets += 1;
        self.session.push_event(Event::StreamReset {
            stream: StreamId(u64::from(id)),
            reset: Reset {
                by,
                unprocessed,
                behind: false,
            },
        });
        self.drop_stream(now, id, how);
    }

    /// Forgets a stream: what its user did not read goes back to the connection's window.
    fn drop_stream(&mut self, now: Instant, id: u32, how: ClosedHow) {
        if let Some(key) = self.streams.key(id) {
            self.drop_stream_at(now, id, key, how);
        }
    }

    fn drop_stream_at(&mut self, now: Instant, id: u32, key: u32, how: ClosedHow) {
        self.session.schedule_mut().remove(key);
        if let Some(stream) = self.streams.remove(id) {
            self.ids.close(id, how);
            if let Some(mut incoming) = stream.incoming {
                let abuse = self.session.abuse_mut();
                abuse.data_discarded(&mut incoming.frames);
                if how == ClosedHow::ResetByUs && stream.state.can_recv() {
                    abuse.stream_abandoned(incoming.credit.remaining());
                }
                let unread = incoming.credit.close(self.session.receive_budget());
                let spare = self.free_bodies.get_or_insert_default();
                spare.incoming.push(incoming);
                self.refund(unread as u32);
            }
            if let Some(mut queue) = stream.queue {
                let waited = queue.len();
                self.session.note_unqueued(waited);
                if waited > 0 {
                    self.session.send_account_mut().end_turn(queue.has_turn);
                }
                queue.clear();
                let spare = self.free_bodies.get_or_insert_default();
                spare.queues.push(queue);
                if waited > 0 {
                    self.account_for_waiting();
                }
            }
        }
        if self.streams.is_empty() && self.life != Life::Closed {
            if let Some(idle) = self.session.config().timeouts.idle {
                self.timers.set(Timer::Idle, now + idle);
            }
            self.timers.stop(Timer::Streams);
            self.finish_drain(now);
        }
    }

    // Frames on streams that are not open.

    /// Whether no frame but HEADERS and PRIORITY may come on it yet (RFC 9113 section 5.1).
    pub(super) fn is_idle(&self, id: u32) -> bool {
        self.ids.is_idle(id, self.session.side())
    }

    /// Judges a frame on a stream that is not open: an error, or late and ignored.
    pub(super) fn frame_on_closed(
        &mut self,
        now: Instant,
        id: u32,
        input: StreamInput,
    ) -> Result<(), Violation> {
        if self.is_idle(id) {
            return Err(Violation::StreamIdle);
        }
        match self.ids.closed(id) {
            Some(how) => {
                if let Err(violation) = step(StreamState::Closed(how), input) {
                    if violation.scope() == Scope::Connection {
                        return Err(violation);
                    }
                    let verdict = self.session.abuse_mut().reset_provoked(violation, now);
                    self.judge(now, verdict)?;
                    let code = violation.h2_code();
                    RstStream { stream: id, code }.write(self.outbox.buffer());
                    return Ok(());
                }
            }
            // RFC 9113 section 5.1.1: an id that was skipped cannot be opened any more.
            None if matches!(input, StreamInput::RecvHeaders { .. }) && self.was_skipped(id) => {
                return Err(Violation::StreamIdInvalid);
            }
            None => {}
        }
        self.glitch(now, LATE_FRAME_POINTS)
    }

    fn was_skipped(&self, id: u32) -> bool {
        self.session.side() == Side::Server
            && self.ids.was_skipped(id)
            && !self.session.drain().ignores(u64::from(id))
    }

    // The connection ends.

    /// The peer broke a rule of the connection: GOAWAY with its code, then the end.
    pub(super) fn fail(&mut self, now: Instant, violation: Violation) {
        if self.life == Life::Closed {
            return;
        }
        self.write_goaway(self.ids.last_peer(), violation.h2_code());
        self.close(now, Closed::ByUs(violation));
    }

    /// Ends every open stream, then the connection.
    pub(in crate::h2) fn close(&mut self, now: Instant, closed: Closed) {
        if self.life == Life::Closed {
            return;
        }
        self.life = Life::Closed;
        for id in self.streams.ids() {
            let by = ResetBy::Connection(closed);
            self.end_early(now, id, by, self.is_unprocessed(id), ClosedHow::ResetByUs);
        }
        self.session.push_event(Event::Closed(closed));
    }

    pub(super) fn write_goaway(&mut self, last_stream: u32, code: H2Code) {
        let goaway = Goaway {
            last_stream,
            code,
            debug: &[],
        };
        goaway.write(self.outbox.buffer());
    }

    /// Closes at once: what is open is reset.
    pub fn abort(&mut self, now: Instant, code: H2Code) {
        if self.life != Life::Closed {
            self.write_goaway(self.ids.last_peer(), code);
            self.close(now, Closed::Drained);
        }
    }

    /// As [`abort`](Self::abort), behind as many of the bodies' queued bytes as the peer's windows let go now.
    pub fn abort_behind_bodies(&mut self, now: Instant, code: H2Code) {
        if self.life != Life::Closed {
            self.frame_all_queued(now);
            self.abort(now, code);
        }
    }

    /// A drained connection with nothing open is done. One that the client has left drains in a while.
    pub(super) fn finish_drain(&mut self, now: Instant) {
        if !self.streams.is_empty() {
            return;
        }
        let side = self.session.side();
        if self.session.drain().is_left(side) {
            return self.await_left_client(now);
        }
        if let Some(closed) = self.session.drain().end(side) {
            self.close(now, closed);
        }
    }
}
