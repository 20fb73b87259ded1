//! PING (RFC 9113 section 6.7). Answers go into the outbox, which stops reading while it is full,
//! and are charged to a budget (CVE-2019-9512).

use super::{Conn, Life};
use crate::error::Violation;
use crate::exchange::Framing;
use crate::h2::frame::{FrameHeader, Ping};
use crate::http::Event;
use std::time::{Duration, Instant};

/// The PING between the two GOAWAYs of a drain.
pub(super) const DRAIN_PING: [u8; 8] = *b"draining";
/// The PING that proves which resets the peer has seen.
pub(super) const RESET_PING: [u8; 8] = *b"seen it?";
/// Points of the glitch budget for an answer to no PING.
const STRAY_PONG_POINTS: u32 = 5;

impl Conn {
    /// Asks whether the peer lives; [`Event::PongReceived`] with the same bytes is its answer. How
    /// many wait for theirs is the caller's to bound. False: the connection is closed.
    pub fn ping(&mut self, now: Instant, opaque: [u8; 8]) -> bool {
        if self.life == Life::Closed {
            return false;
        }
        self.unacknowledged.push_ping(opaque, now);
        self.write_ping(opaque);
        true
    }
    /// Whether a PING of [`ping`](Self::ping) is unanswered.
    pub fn awaits_pong(&self) -> bool {
        self.unacknowledged.awaits_pong()
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
            let verdict = self.session.abuse_mut().ping(now);
            self.judge(now, verdict)?;
            Ping { ack: true, opaque }.write(self.outbox.buffer());
            if self.session.config().frame_events {
                self.session.push_event(Event::PingReceived { opaque });
            }
            return Ok(());
        }
        if let Some(sent_at) = self.unacknowledged.take_pong(opaque) {
            let round_trip = now.saturating_duration_since(sent_at);
            self.note_round_trip(Some(round_trip));
            self.session
                .push_event(Event::PongReceived { opaque, round_trip });
            return Ok(());
        }
        match opaque {
            DRAIN_PING if self.session.drain().is_announced() => self.finish_goaway(now),
            RESET_PING if self.reset_slots.handle_pong(now) => self.watch_reset_slots(),
            // The answer to the drain's PING after its deadline.
            DRAIN_PING => {}
            // An owner that gets every frame as it came has no use for one that means nothing.
            _ if self.session.config().frame_events => return Err(Violation::PingAckUnexpected),
            _ => return self.glitch(now, STRAY_PONG_POINTS),
        }
        Ok(())
    }

    /// The path keeps the lowest bound.
    pub(super) fn note_round_trip(&mut self, sample: Option<Duration>) {
        if let Some(sample) = sample {
            let lowest = self
                .session
                .round_trip()
                .map_or(sample, |rtt| rtt.min(sample));
            self.session.set_round_trip(lowest);
        }
    }
}
