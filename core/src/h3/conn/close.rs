//! Ends of one side of a stream, of streams before their time, and of the connection. Every open
//! exchange gets exactly one end, and the connection exactly one. A request stream is always
//! finished or reset, and read to its end or stopped, because otherwise its stream credit does not
//! return.

use super::{Conn, Timer};
use crate::error::{Closed, H2Code, H3Code, Violation};
use crate::exchange::{Framing, charge_reset, charge_violation, is_answered, too_large_answer};
use crate::h3::TransportAction;
use crate::http::event::ResetBy;
use crate::http::{Event, Reset, Side, StreamId, Version};
use crate::limits::LEFT_TUNNEL_TIME_MAX;
use bytes::Bytes;
use std::time::Instant;

impl Conn {
    // One side of a stream ends.

    /// The peer's message is complete.
    pub(super) fn peer_ended(&mut self, now: Instant, id: StreamId) {
        let is_server = self.session.is_server();
        if let Some(stream) = self.streams.get_mut(id) {
            stream.received.stop();
            // A head alone is all there where it was answered.
            let has_content = stream.sent_bytes > 0;
            if !is_server && has_content && stream.is_sent && !stream.is_acknowledged {
                self.unacknowledged.note(id);
            }
        }
        self.drop_if_over(now, id);
    }

    /// The transport took the write that it was given.
    pub(in crate::h3) fn taken(&mut self, now: Instant, id: StreamId, fin: bool) {
        self.note_send_room(id);
        if fin {
            let is_server = self.session.is_server();
            if let Some(stream) = self.streams.get_mut(id) {
                stream.is_sent = true;
                if is_server || stream.received.is_ended() {
                    self.unacknowledged.note(id);
                }
            }
            self.abandon_request(now, id);
            self.drop_if_over(now, id);
            self.note_capacity();
        }
    }

    /// The peer's side is not wanted any more.
    pub(super) fn stop_receiving(&mut self, now: Instant, id: StreamId, code: H3Code) {
        self.ask_to_stop(id, code);
        self.drop_if_over(now, id);
    }

    /// STOP_SENDING, if the peer's message is not over.
    fn ask_to_stop(&mut self, id: StreamId, code: H3Code) {
        if let Some(stream) = self.streams.get_mut(id)
            && !stream.received.is_ended()
        {
            stream.received.stop();
            self.decoder.cancel(id);
            self.actions
                .push(TransportAction::StopSending { stream: id, code });
        }
    }

    fn drop_if_over(&mut self, now: Instant, id: StreamId) {
        if self.streams.get(id).is_some_and(|stream| stream.is_over()) {
            self.drop_stream(now, id);
        }
    }

    // A stream ends early.

    /// Ends an exchange early. The codes are HTTP/2's in every version; HTTP/3 sends its own. An
    /// answer that is complete still goes out when the code is NO_ERROR: only the rest of the
    /// request is stopped.
    pub fn reset(&mut self, now: Instant, stream: StreamId, code: H2Code) {
        let Some(open) = self.streams.get(stream).filter(|_| !self.closed) else {
            return;
        };
        let is_answered = open.sent.is_ended() && code == H2Code::NO_ERROR;
        self.session.totals_mut().resets += 1;
        if is_answered {
            self.stop_receiving(now, stream, H3Code::NO_ERROR);
        } else {
            self.stop_both(stream, H3Code::of_h2(code));
            self.drop_stream(now, stream);
        }
        if !self.session.is_server() {
            self.stream_quota.note_reset(now);
            self.follow_reset_pace(now);
        }
        self.note_capacity();
    }

    /// Holds streams behind resets until the next one may begin.
    pub(super) fn follow_reset_pace(&mut self, now: Instant) {
        if let Some(at) = self.stream_quota.follow_pace(now) {
            self.timers.set(Timer::ResetPace, at);
        }
    }

    /// The owner of a tunnel is gone: FIN behind what was given of it. What the peer sends is discarded, and refused with
    /// H3_NO_ERROR where it is long, or when [`LEFT_TUNNEL_TIME_MAX`] has passed; not before our bytes have gone, because a
    /// peer may take STOP_SENDING for the end of both directions.
    pub fn leave(&mut self, now: Instant, stream: StreamId) {
        let Some(open) = self.streams.get(stream).filter(|_| !self.closed) else {
            return;
        };
        if open.sent.takes_content() && self.send_body(now, stream, Bytes::new(), true).is_err() {
            return self.reset(now, stream, H2Code::CANCEL);
        }
        let Some(open) = self.streams.get_mut(stream).filter(|it| it.sent.is_ended()) else {
            return self.reset(now, stream, H2Code::CANCEL);
        };
        open.released = true;
        open.left_until = Some(now + LEFT_TUNNEL_TIME_MAX);
        self.watch_streams(now, Some(LEFT_TUNNEL_TIME_MAX));
        self.abandon_request(now, stream);
    }

    /// The peer broke a rule: its stream ends, or with `Err` the connection.
    pub(super) fn break_stream(
        &mut self,
        now: Instant,
        id: StreamId,
        violation: Violation,
    ) -> Result<(), Violation> {
        charge_violation(self, now, violation)?;
        self.stop_both(id, violation.h3_code());
        self.end_early(now, id, ResetBy::Us(violation), false);
        Ok(())
    }

    /// A section that breaks a rule. A request head that is too large is answered with 431 (RFC 6585
    /// section 5, RFC 9114 section 4.2.2), and the rest of its request refused with H3_NO_ERROR (RFC
    /// 9114 section 4.1); everything else is [`break_stream`](Self::break_stream). `ends`: nothing
    /// follows the section.
    pub(super) fn refuse_section(
        &mut self,
        now: Instant,
        id: StreamId,
        ends: bool,
        violation: Violation,
    ) -> Result<(), Violation> {
        let stream = self.streams.get(id);
        let is_head = stream.is_some_and(|stream| stream.received.awaits_head());
        let answer = too_large_answer(self.session.config(), now, violation, Version::Http3)
            .filter(|head| self.check_size(head.section()).is_ok());
        let Some(head) = answer.filter(|_| self.session.is_server() && is_head) else {
            return self.break_stream(now, id, violation);
        };
        charge_violation(self, now, violation)?;
        self.session.note_refused(violation);
        self.write_response(now, id, &head, true);
        if let Some(stream) = self.streams.get_mut(id) {
            // The kept bytes of the head are not needed any more.
            stream.section = Vec::new();
            if ends {
                stream.received.stop();
                self.decoder.cancel(id);
            }
        }
        self.stop_receiving(now, id, H3Code::NO_ERROR);
        Ok(())
    }

    /// RESET_STREAM came: the peer's message will not be complete.
    pub(super) fn take_reset(
        &mut self,
        now: Instant,
        id: StreamId,
        code: H3Code,
    ) -> Result<(), Violation> {
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        if stream.received.is_ended() {
            // It says less than the end that was read.
            return Ok(());
        }
        if stream.discarding.is_some() {
            stream.received.stop();
            self.decoder.cancel(id);
            self.drop_if_over(now, id);
            return Ok(());
        }
        let ended = (stream.opened_at, is_answered(stream));
        charge_reset(self, now, ended)?;
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        stream.received.stop();
        self.decoder.cancel(id);
        // RFC 9114 section 4.1.1.
        let unprocessed = self.session.side() == Side::Client && code == H3Code::REQUEST_REJECTED;
        self.stop_both(id, H3Code::REQUEST_CANCELLED);
        self.end_early(now, id, ResetBy::Peer(code.as_h2()), unprocessed);
        Ok(())
    }

    /// STOP_SENDING came: the peer takes no more of our message.
    pub(super) fn take_stop(
        &mut self,
        now: Instant,
        id: StreamId,
        code: H3Code,
    ) -> Result<(), Violation> {
        let Some(stream) = self.streams.get_mut(id).filter(|stream| !stream.is_sent) else {
            // The end is out, and its bytes are not wanted any more.
            self.acknowledged(now, id);
            return Ok(());
        };
        if self.session.side() == Side::Client {
            // RFC 9114 section 4.1: the answer may still be complete.
            stream.sent.stop();
            stream.is_sent = true;
            stream.is_acknowledged = true;
            let was_full = stream.queue.as_ref().is_some_and(|queue| queue.is_full);
            if let Some(queue) = &mut stream.queue {
                self.session.note_unqueued(queue.len());
                if queue.clock.is_running() {
                    self.session.send_account_mut().end_turn(queue.has_turn);
                }
                queue.clear();
            }
            if let Some(key) = self.streams.key(id) {
                self.session.schedule_mut().remove(key);
            }
            self.close_slab(false);
            self.actions
                .push(TransportAction::Reset { stream: id, code });
            if was_full {
                self.session.push_event(Event::SendReady { stream: id });
            }
            self.session.push_event(Event::SendStopped { stream: id });
            self.drop_if_over(now, id);
            return Ok(());
        }
        let ended = (stream.opened_at, is_answered(stream));
        charge_reset(self, now, ended)?;
        self.stop_both(id, H3Code::REQUEST_CANCELLED);
        self.end_early(now, id, ResetBy::Peer(code.as_h2()), false);
        Ok(())
    }

    /// Whatever is not over of both sides is ended by us.
    pub(super) fn stop_both(&mut self, id: StreamId, code: H3Code) {
        if self.open == Some(id) {
            self.close_slab(false);
        }
        self.ask_to_stop(id, code);
        if let Some(stream) = self.streams.get_mut(id)
            && !stream.is_sent
        {
            stream.is_sent = true;
            self.actions
                .push(TransportAction::Reset { stream: id, code });
        }
    }

    /// Ends an open exchange before its time and reports it to the owner, if it knows the exchange.
    pub(super) fn end_early(&mut self, now: Instant, id: StreamId, by: ResetBy, unprocessed: bool) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        self.session.totals_mut().resets += 1;
        if self.session.side() == Side::Client || stream.received.has_request() {
            self.session.push_event(Event::StreamReset {
                stream: id,
                reset: Reset {
                    by,
                    unprocessed,
                    behind: false,
                },
            });
        } else if let ResetBy::Us(violation) = by {
            self.session.note_refused(violation);
        }
        self.drop_stream(now, id);
    }

    /// Forgets a stream: what it held goes back, and its stream credit.
    fn drop_stream(&mut self, now: Instant, id: StreamId) {
        if let Some(key) = self.streams.key(id) {
            self.session.schedule_mut().remove(key);
        }
        let Some(mut stream) = self.streams.remove(id) else {
            return;
        };
        if stream.blocked {
            self.blocked_streams.remove(id);
        }
        self.slow.note_left(stream.is_full);
        if stream.is_behind {
            self.slow.note_caught_up();
        }
        let abuse = self.session.abuse_mut();
        abuse.data_discarded(&mut stream.frames);
        if let Some(mut queue) = stream.queue {
            let waited = queue.len();
            self.session.note_unqueued(waited);
            if queue.clock.is_running() {
                self.session.send_account_mut().end_turn(queue.has_turn);
            }
            queue.clear();
            self.free_queues.push(queue);
            if waited > 0 {
                self.account_for_waiting();
            }
        }
        if self.session.side() == Side::Server {
            self.stream_credit.closed();
            if let Some(limit) = self.stream_credit.grant(now) {
                self.actions.push(TransportAction::GrantStreams { limit });
            }
        }
        if self.streams.is_empty() && !self.closed {
            if let Some(idle) = self.session.config().timeouts.idle {
                self.timers.set(Timer::Idle, now + idle);
            }
            self.timers.stop(Timer::Streams);
            self.finish_drain(now);
        }
    }

    // The connection ends.

    /// The peer broke a rule of the connection.
    pub(super) fn fail(&mut self, now: Instant, violation: Violation) {
        if !self.closed {
            self.close(now, Closed::ByUs(violation));
            self.queue_close(violation.h3_code(), violation.text());
        }
    }

    /// Closes at once: what is open is reset.
    pub fn abort(&mut self, now: Instant, code: H2Code) {
        if !self.closed {
            self.close(now, Closed::Drained);
            self.queue_close(H3Code::of_h2(code), "");
        }
    }

    /// Closes because nothing is open.
    pub(super) fn close_idle(&mut self, now: Instant, closed: Closed) {
        self.close(now, closed);
        self.queue_close(H3Code::NO_ERROR, "");
    }

    fn queue_close(&mut self, code: H3Code, reason: &'static str) {
        self.actions.push(TransportAction::Close { code, reason });
    }

    /// Ends every open exchange, then the connection.
    pub(super) fn close(&mut self, now: Instant, closed: Closed) {
        if self.closed {
            return;
        }
        self.close_slab(false);
        self.closed = true;
        for id in self.streams.ids() {
            let unprocessed = self.is_unprocessed(id);
            self.end_early(now, id, ResetBy::Connection(closed), unprocessed);
        }
        self.session.push_event(Event::Closed(closed));
    }
}
