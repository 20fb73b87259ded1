//! Deadlines. Those of the connection are in the timer table; those of streams share one entry, the
//! earliest. Open streams are scanned when it is due, and never for an event. The transport keeps
//! its own, QUIC's idle timeout among them.

use super::{Conn, Timer};
use crate::error::{Closed, Violation};
use crate::exchange::Framing;
use std::time::Instant;

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
                Timer::ResetPace => self.follow_reset_pace(now),
            }
        }
        self.note_capacity();
    }
}
