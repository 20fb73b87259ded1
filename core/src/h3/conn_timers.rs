//! Deadlines. Those of the connection are in the timer table; those of streams share one entry, the
//! earliest. Open streams are scanned when it is due, and never for an event. The transport keeps
//! its own, QUIC's idle timeout among them.

use super::conn::{Conn, Timer};
use super::request_stream::State;
use super::stream::Stream;
use crate::error::{Closed, H3Code, Violation};
use crate::exchange::Framing;
use crate::http::Side;
use crate::limits::Timeouts;
use std::time::{Duration, Instant};

impl Conn {
    /// Carries out every deadline at or before `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while !self.closed {
            let Some(kind) = self.timers.expire(now) else {
                break;
            };
            match kind {
                Timer::Settings => self.fail(now, Violation::PrefaceTimeout),
                Timer::Idle => self.close_idle(now, Closed::Idle),
                Timer::Age => self.shut_down(now),
                Timer::Drain => self.go_on_draining(now),
                Timer::Streams => self.expire_streams(now),
                Timer::Windows => self.grant(now),
            }
        }
        self.note_capacity();
    }

    /// Moves every deadline later by the time in which the service's pause stopped reading.
    pub fn postpone(&mut self, by: Duration) {
        self.timers.postpone(by);
        for (_, stream) in self.streams.iter_mut() {
            stream.pace.postpone(by);
            if let Some(queue) = &mut stream.queue
                && let Some(since) = &mut queue.waiting_since
            {
                *since += by;
            }
        }
    }

    /// A stream begins to wait: it is looked at after `timeout` at the latest.
    pub(super) fn watch_streams(&mut self, now: Instant, timeout: Option<Duration>) {
        let Some(timeout) = timeout else {
            return;
        };
        let at = now + timeout;
        if self.timers.get(Timer::Streams).is_none_or(|set| at < set) {
            self.timers.set(Timer::Streams, at);
        }
    }

    /// Ends the streams whose time is up, and finds the next one.
    fn expire_streams(&mut self, now: Instant) {
        let mut timeouts = self.session.config().timeouts.clone();
        if self.session.side() == Side::Client {
            // A server may rest between two events for as long as its application does.
            timeouts.body_idle = None;
            timeouts.rate_min = 0;
            timeouts.head = None;
        }
        let waiting = self.streams.iter();
        let waiting = waiting.filter(|(_, stream)| stream.queued() > 0).count();
        let pressed = Pressed {
            carried_in: self.session.totals().body_bytes_received,
            carried_out: self.carried_out,
            waiting: waiting as u64,
            is_scarce: self.session.is_scarce(),
        };
        let mut next: Option<Instant> = None;
        let mut late = Vec::new();
        for (id, stream) in self.streams.iter_mut() {
            match stream_deadline(stream, &timeouts, &pressed, now) {
                Ok(Some(at)) => next = Some(next.map_or(at, |next| next.min(at))),
                Ok(None) => {}
                Err(violation) => late.push((id, violation)),
            }
        }
        if let Some(at) = next {
            self.timers.set(Timer::Streams, at);
        }
        for (id, violation) in late {
            let is_answered = self
                .streams
                .get(id)
                .is_some_and(|stream| stream.discarding.is_some());
            if is_answered {
                // The rest of a request without a handler.
                self.stop_receiving(now, id, H3Code::NO_ERROR);
            } else if let Err(violation) = self.break_stream(now, id, violation) {
                return self.fail(now, violation);
            }
        }
    }
}

/// Facts outside of a stream that its deadline depends on.
struct Pressed {
    /// Body bytes of the connection that came so far.
    carried_in: u64,
    /// Bytes of the connection that the transport has taken so far.
    carried_out: u64,
    /// Streams whose bytes wait.
    waiting: u64,
    /// Connections are scarce.
    is_scarce: bool,
}

/// When a stream's time is up; `Err`: it is.
fn stream_deadline(
    stream: &mut Stream,
    timeouts: &Timeouts,
    pressed: &Pressed,
    now: Instant,
) -> Result<Option<Instant>, Violation> {
    let carried = pressed.carried_in;
    if !stream.awaits_peer() {
        // Our user is the one to act.
        stream.pace.restart(now, carried);
    }
    let mut next = match stream.state {
        State::Head => {
            let due = timeouts.head.map(|head| stream.pace.heard_at() + head);
            if due.is_some_and(|at| at <= now) {
                return Err(Violation::BodyTimeout);
            }
            due
        }
        State::Ended => None,
        State::Body | State::Tunnel | State::Trailers => {
            let has_length = stream.length_in.left().is_some();
            let is_due = has_length || pressed.is_scarce;
            stream.pace.check(now, timeouts, carried, is_due)?
        }
    };
    if let (Some(queue), Some(stall)) = (&mut stream.queue, timeouts.stream_stall)
        && let Some(since) = queue.waiting_since
    {
        let mut at = since + stall;
        if at <= now {
            // A peer that lets out a byte now and then gains nothing (CVE-2026-49975). Streams that
            // share a slow line have a share of what it must carry, and one that waits for its turn
            // behind others has time.
            let least = timeouts.least_bytes(stall);
            let share = (least / pressed.waiting.max(1)).max(1);
            let carried = pressed.carried_out.saturating_sub(queue.carried_then);
            let is_held_up = stream.blocked || carried < least.max(1);
            if is_held_up && queue.sent_since < share {
                return Err(Violation::StreamStalled);
            }
            queue.waiting_since = Some(now);
            queue.carried_then = pressed.carried_out;
            queue.sent_since = 0;
            at = now + stall;
        }
        next = Some(next.map_or(at, |next: Instant| next.min(at)));
    }
    Ok(next)
}
