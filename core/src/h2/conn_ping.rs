//! PING (RFC 9113 section 6.7). Answers go into the outbox, which holds reading back while it is
//! full, and are paid from a budget (CVE-2019-9512).

use super::conn::{Conn, Life};
use super::frame::{FrameHeader, Ping};
use crate::error::Violation;
use crate::http::Event;
use std::time::{Duration, Instant};

/// The PING between the two GOAWAYs of a drain.
pub(super) const DRAIN_PING: [u8; 8] = *b"draining";
/// The PING of [`Conn::ping`].
const USER_PING: [u8; 8] = *b"are you?";
/// The PING that proves which resets the peer has seen.
pub(super) const RESET_PING: [u8; 8] = *b"seen it?";
/// What an answer to nothing costs of the glitch budget.
const STRAY_PONG_POINTS: u32 = 5;

impl Conn {
    /// Asks whether the peer lives; [`Event::PongReceived`] is its answer. One at a time: false
    /// while the one before is unanswered.
    pub fn ping(&mut self, now: Instant) -> bool {
        if self.life == Life::Closed || self.pinged_at.is_some() {
            return false;
        }
        self.pinged_at = Some(now);
        self.write_ping(USER_PING);
        true
    }

    pub(super) fn write_ping(&mut self, opaque: [u8; 8]) {
        Ping { ack: false, opaque }.write(self.outbox.buffer());
    }

    pub(super) fn take_ping(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let Ping { ack, opaque } = Ping::parse(header, payload)?;
        if !ack {
            let verdict = self.abuse.ping(now);
            self.judge(now, verdict)?;
            Ping { ack: true, opaque }.write(self.outbox.buffer());
            return Ok(());
        }
        match opaque {
            DRAIN_PING if self.draining.is_announced() => self.finish_goaway(now),
            USER_PING if self.pinged_at.is_some() => {
                let sent_at = self.pinged_at.take();
                self.note_round_trip(sent_at.map(|at| now.saturating_duration_since(at)));
                self.push_event(Event::PongReceived);
            }
            RESET_PING if self.held.handle_pong(now) => self.watch_held(),
            // The answer to the drain's PING after its deadline.
            DRAIN_PING => {}
            _ => return self.glitch(now, STRAY_PONG_POINTS),
        }
        Ok(())
    }

    /// The path keeps the lowest bound.
    pub(super) fn note_round_trip(&mut self, sample: Option<Duration>) {
        if let Some(sample) = sample {
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
        }
    }
}
