//! Deadlines. Those of the connection are in the timer table; those of streams share one entry, the
//! earliest. Open streams are scanned when it is due, and never for an event.

use super::{Conn, Timer};
use crate::error::{Closed, H2Code, Violation};
use crate::exchange::Framing;
use crate::http::Side;
use std::time::Instant;

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

    pub(super) fn expire(&mut self, now: Instant, timer: Timer) {
        match timer {
            Timer::Preface => self.fail(now, Violation::PrefaceTimeout),
            Timer::SettingsAck => self.fail(now, Violation::SettingsTimeout),
            Timer::Head => self.fail(now, Violation::HeaderBlockTimeout),
            Timer::Idle => {
                self.write_goaway(self.ids.last_peer(), H2Code::NO_ERROR);
                self.close(now, Closed::Idle);
            }
            Timer::Age => self.shut_down(now),
            Timer::Drain if self.session.side() == Side::Client => self.expire_peer_error(now),
            Timer::Drain if self.session.drain().is_announced() => self.finish_goaway(now),
            Timer::Drain => {}
            Timer::Write => self.expire_write(now),
            Timer::Streams => self.expire_streams(now),
            Timer::ResetSlots => {
                self.reset_slots
                    .handle_timeout(now, self.session.round_trip());
                self.watch_reset_slots();
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
        if self.written_since() >= self.least_written() || !self.timers.is_set(Timer::Write) {
            self.seen.written = self.outbox.written() as u32;
            self.timers.set(Timer::Write, now + stall);
        }
    }

    /// Bytes that the transport took since [`Timer::Write`] was set.
    fn written_since(&self) -> u64 {
        u64::from((self.outbox.written() as u32).wrapping_sub(self.seen.written))
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
        match self.written_since() {
            _ if self.outbox.is_empty() => {}
            0 => self.fail(now, Violation::WriteStalled),
            some if some < self.least_written() => self.fail(now, Violation::RateTooLow),
            _ => self.watch_write(now),
        }
    }
}
