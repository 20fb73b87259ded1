//! Deadlines of streams. They share one entry of the connection's timers, the earliest: when it is
//! due the open streams are looked through, and never for an event.
//!
//! Invariant: only time in which the peer is the one to act counts against it.

use super::Sent;
use crate::error::Violation;
use crate::limits::Timeouts;
use crate::min_rate::MinRate;
use std::time::{Duration, Instant};

/// State of the connection that the deadline of a stream depends on.
pub(crate) struct Pressure {
    /// Body bytes of the connection that came so far.
    pub(crate) carried_in: u64,
    /// Bytes of the connection that the transport has taken so far.
    pub(super) carried_out: u64,
    /// Streams whose bytes wait.
    pub(super) waiting: u64,
    /// Connections are scarce.
    pub(crate) is_scarce: bool,
    /// Connections or the send budget are scarce.
    pub(super) is_scarce_to_send: bool,
}

/// How long bytes wait for the peer, and how many left since: what tells a stalled peer from a slow
/// one, and from one that drips credit (CVE-2026-49975).
#[derive(Debug, Default)]
pub(crate) struct SendClock {
    waiting_since: Option<Instant>,
    sent_since: u64,
    /// Bytes that the transport had taken of the connection by then.
    carried_then: u64,
}

impl SendClock {
    /// Bytes wait from now on. `carried`: what the transport has taken of the connection so far.
    #[inline]
    pub(crate) fn start(&mut self, now: Instant, carried: u64) {
        self.waiting_since = Some(now);
        self.sent_since = 0;
        self.carried_then = carried;
    }
    /// Starts the clock unless bytes wait already.
    #[inline]
    pub(crate) fn start_if_stopped(&mut self, now: Instant, carried: u64) {
        if self.waiting_since.is_none() {
            self.start(now, carried);
        }
    }
    /// Notes that nothing waits any more. False: nothing did.
    #[inline]
    pub(crate) fn stop(&mut self) -> bool {
        self.waiting_since.take().is_some()
    }
    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        self.waiting_since.is_some()
    }
    /// `bytes` of the stream left.
    #[inline]
    pub(crate) fn note_sent(&mut self, bytes: u64) {
        self.sent_since += bytes;
    }
    /// `bytes` that were noted as sent came back.
    pub(crate) fn take_back(&mut self, bytes: u64) {
        self.sent_since = self.sent_since.saturating_sub(bytes);
    }
    /// The time that is waited so far does not count.
    pub(super) fn postpone(&mut self, by: Duration) {
        if let Some(since) = &mut self.waiting_since {
            *since += by;
        }
    }
    /// When to look again. `is_shut`: the stream's own flow control holds it up.
    fn check(
        &mut self,
        now: Instant,
        timeouts: &Timeouts,
        pressure: &Pressure,
        is_shut: bool,
    ) -> Result<Option<Instant>, Violation> {
        let (Some(since), Some(stall)) = (self.waiting_since, timeouts.stream_stall) else {
            return Ok(None);
        };
        let look = timeouts.shortest_stall(stall);
        if since + look > now {
            return Ok(Some(since + look));
        }
        // A peer that lets out a byte now and then gains nothing (CVE-2026-49975). A client that pauses has time,
        // unless others need what it holds. Streams that
        // share a slow line have a share of what it must carry, and one that waits for its turn
        // behind others has time.
        let least = timeouts.least_bytes(look);
        let share = (least / pressure.waiting.max(1)).max(1);
        let carried = pressure.carried_out.saturating_sub(self.carried_then);
        let is_held_up = is_shut || carried < least.max(1);
        if is_held_up && self.sent_since < share {
            let end = since + stall;
            return match pressure.is_scarce_to_send || end <= now {
                true => Err(Violation::StreamStalled),
                false => Ok(Some(end.min(now + look))),
            };
        }
        self.start(now, pressure.carried_out);
        Ok(Some(now + look))
    }
}

/// A stream whose peer must act in time.
pub(crate) trait Timed {
    /// Our message.
    fn sent(&self) -> &Sent;
    /// Server: whether the owner was given the request.
    fn has_request(&self) -> bool;
    /// Body bytes that wait to be sent.
    fn queued(&self) -> usize;
    /// When what the peer owes is due.
    ///
    /// # Errors
    /// It was due.
    fn receive_deadline(
        &mut self,
        now: Instant,
        timeouts: &Timeouts,
        pressure: &Pressure,
    ) -> Result<Option<Instant>, Violation>;
    /// The clock of what waits, and whether the stream's own flow control holds it up.
    fn send_clock(&mut self) -> Option<(&mut SendClock, bool)>;
    /// When a tunnel that its user has left is over at the latest.
    fn left_until(&self) -> Option<Instant>;
    /// The peer's time to send starts as much later.
    fn postpone_receiving(&mut self, by: Duration);
}

/// When a stream's time is up; `Err`: it is.
pub(super) fn deadline(
    stream: &mut impl Timed,
    timeouts: &Timeouts,
    pressure: &Pressure,
    now: Instant,
) -> Result<Option<Instant>, Violation> {
    let left = stream.left_until();
    if left.is_some_and(|until| until <= now) {
        return Err(Violation::StreamStalled);
    }
    let receive = stream.receive_deadline(now, timeouts, pressure)?;
    let send = match stream.send_clock() {
        Some((clock, is_shut)) => clock.check(now, timeouts, pressure, is_shut)?,
        None => None,
    };
    Ok(earliest(left, earliest(receive, send)))
}

/// How long a request may go on behind a complete response when nothing reads it any more, without a byte: a round trip of
/// most paths, in which an end that is on its way comes. Without a bound a client that sends now and then, as gRPC's streams do,
/// would keep a stream for each call that ended early.
pub(crate) const UNWANTED_WAIT: Duration = Duration::from_millis(100);

/// When the rest of such a request is to be asked for no more (RFC 9113 section 8.1, RFC 9114 section 4.1).
///
/// # Errors
/// Now.
pub(crate) fn unwanted_deadline(
    now: Instant,
    rest: &MinRate,
) -> Result<Option<Instant>, Violation> {
    let due = rest.received_at() + UNWANTED_WAIT;
    match due <= now {
        true => Err(Violation::BodyTimeout),
        false => Ok(Some(due)),
    }
}

/// The earlier one, if there is any.
pub(super) fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
