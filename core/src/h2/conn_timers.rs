//! Deadlines. Those of the connection are in the timer table; those of streams share one entry, the
//! earliest. Open streams are scanned when it is due, and never for an event.

use super::conn::{Conn, Timer};
use super::conn_goaway::Draining;
use super::stream::Stream;
use crate::error::{Closed, H2Code, Violation};
use crate::http::Side;
use crate::limits::Timeouts;
use std::time::{Duration, Instant};

impl Conn {
    pub(super) fn start_timers(&mut self, now: Instant) {
        let timeouts = &self.session.config().timeouts;
        let start = [
            (Timer::Preface, timeouts.settings),
            (Timer::SettingsAck, timeouts.settings),
            (Timer::Idle, timeouts.idle),
            (Timer::Age, timeouts.age_max),
        ];
        for (timer, after) in start {
            if let Some(after) = after {
                self.timers.set(timer, now + after);
            }
        }
    }

    /// Moves every deadline later by the time in which the service's pause stopped reading.
    pub fn postpone(&mut self, by: Duration) {
        self.timers.postpone(by);
        for (_, stream) in self.streams.iter_mut() {
            if let Some(incoming) = &mut stream.incoming {
                incoming.pace.postpone(by);
            }
            if let Some(queue) = &mut stream.queue
                && let Some(since) = &mut queue.waiting_since
            {
                *since += by;
            }
        }
    }

    pub(super) fn expire(&mut self, now: Instant, timer: Timer) {
        match timer {
            Timer::Preface => self.fail(now, Violation::PrefaceTimeout),
            Timer::SettingsAck => self.fail(now, Violation::SettingsTimeout),
            Timer::Head => self.fail(now, Violation::HeaderBlockTimeout),
            Timer::Idle => {
                self.write_goaway(self.last_peer_id, H2Code::NO_ERROR);
                self.close(now, Closed::Idle);
            }
            Timer::Age => self.shut_down(now),
            Timer::Drain if self.draining == Draining::Announced => self.finish_goaway(now),
            Timer::Drain => {}
            Timer::Write => self.expire_write(now),
            Timer::Streams => self.expire_streams(now),
            Timer::Held => {
                self.held.handle_timeout(now, self.session.round_trip());
                self.watch_held();
            }
            Timer::Windows => self.expire_windows(now),
        }
    }

    /// The transport must take something while bytes wait, and a server's peer must take it at a
    /// rate: a dribble does not restart its time.
    pub(super) fn watch_write(&mut self, now: Instant) {
        let Some(stall) = self.session.config().timeouts.write_stall else {
            return;
        };
        if self.outbox.is_empty() {
            self.timers.stop(Timer::Write);
            return;
        }
        let written = self.outbox.written();
        let enough = self.written_seen + self.least_written();
        if written >= enough || !self.timers.is_set(Timer::Write) {
            self.written_seen = written;
            self.timers.set(Timer::Write, now + stall);
        }
    }

    /// The fewest bytes that the transport must take in the stall time.
    fn least_written(&self) -> u64 {
        let timeouts = &self.session.config().timeouts;
        let least = match (self.session.side(), timeouts.write_stall) {
            (Side::Server, Some(stall)) => timeouts.least_bytes(stall),
            _ => 0,
        };
        least.max(1)
    }

    fn expire_write(&mut self, now: Instant) {
        let written = self.outbox.written() - self.written_seen;
        match written {
            _ if self.outbox.is_empty() => {}
            0 => self.fail(now, Violation::WriteStalled),
            some if some < self.least_written() => self.fail(now, Violation::RateTooLow),
            _ => self.watch_write(now),
        }
    }

    /// Streams whose bytes wait.
    fn waiting_streams(&self) -> u64 {
        let streams = self.streams.iter();
        streams.filter(|(_, stream)| stream.queued() > 0).count() as u64
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
        }
        let pressed = Pressed {
            carried_in: self.session.totals().body_bytes_received,
            carried_out: self.outbox.written(),
            waiting: self.waiting_streams(),
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
            if let Err(violation) = self.break_stream(now, id, violation) {
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
    let mut next = None;
    let (is_due, carried) = (stream.awaits_body(), pressed.carried_in);
    if let Some(incoming) = &mut stream.incoming
        && stream.state.can_recv()
    {
        if !is_due {
            incoming.pace.restart(now, carried);
        }
        let has_length = incoming.length.left().is_some();
        let is_due = has_length || pressed.is_scarce;
        next = incoming.pace.check(now, timeouts, carried, is_due)?;
    }
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
            let carried = pressed.carried_out - queue.carried_then;
            let is_held_up = stream.quota.available() == 0 || carried < least.max(1);
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
