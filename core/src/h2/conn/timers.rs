//! Deadlines. Those of the connection are in the timer table; those of streams share one entry, the
//! earliest. Open streams are scanned when it is due, and never for an event.

use super::{Conn, Timer};
use crate::error::{Closed, H2Code, Violation};
use crate::exchange::Framing;
use crate::http::Side;
use crate::write_stall::Waiting;
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
            Timer::Drain => self.expire_left_client(now),
            Timer::Write => self.expire_write(now),
            Timer::Streams => self.expire_streams(now),
            Timer::ResetSlots => {
                self.reset_slots
                    .handle_timeout(now, self.session.round_trip());
                self.ask_for_slots(now);
            }
            Timer::Windows => self.expire_windows(now),
        }
    }

    /// The transport must take something while bytes wait, and a server's peer must take it at a
    /// rate: a dribble does not restart its time.
    pub(super) fn watch_write(&mut self, now: Instant) {
        let waiting = self.waiting_write();
        let Some(look) = waiting.look() else {
            return;
        };
        if self.outbox.is_empty() {
            self.timers.stop(Timer::Write);
        } else if !self.timers.is_set(Timer::Write) || self.seen.stall.has_progress(&waiting) {
            self.seen.stall.start(self.outbox.written());
            self.timers.set(Timer::Write, now + look);
        }
    }

    fn waiting_write(&self) -> Waiting<'_> {
        Waiting {
            side: self.session.side(),
            timeouts: &self.session.config().timeouts,
            written: self.outbox.written(),
        }
    }

    fn expire_write(&mut self, now: Instant) {
        let mut stall = self.seen.stall;
        let waiting = self.waiting_write();
        if self.outbox.is_empty() || stall.has_progress(&waiting) {
            return self.watch_write(now);
        }
        let is_scarce = self.session.is_scarce_to_send();
        let looked = stall.look(&waiting, is_scarce);
        self.seen.stall = stall;
        match looked {
            Ok(Some(next)) => self.timers.set(Timer::Write, now + next),
            Ok(None) => {}
            Err(violation) => self.fail(now, violation),
        }
    }
}
