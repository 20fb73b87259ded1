//! QUIC against TCP for one connection: QUIC begins, TCP joins after a head start or as soon as
//! QUIC has failed, and the first to connect is used. A network that drops UDP costs the head start
//! once, because the loss is remembered.
//!
//! ```text
//! poll --> StartTcp       start it now, ask again
//!      --> Wait(until)    nothing to start before `until`, or before an attempt ends
//!      --> Failed         neither got through
//! ```
//!
//! Invariant: TCP is started at most once, and never after a winner.

use crate::pool::QUIC_HEAD_START;
use std::time::Instant;

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicRaceStep {
    /// Start the attempt over TCP, then ask again.
    StartTcp,
    /// Nothing to start before this time (`None`: ever) unless an attempt ends.
    Wait(Option<Instant>),
    /// Both have failed.
    Failed,
}

/// The two attempts.
#[derive(Debug)]
pub struct QuicRace {
    tcp_at: Instant,
    quic_failed: bool,
    tcp_started: bool,
    tcp_failed: bool,
}

impl QuicRace {
    /// The attempt over QUIC begins at `now`.
    pub fn new(now: Instant) -> Self {
        Self {
            tcp_at: now + QUIC_HEAD_START,
            quic_failed: false,
            tcp_started: false,
            tcp_failed: false,
        }
    }
    /// The next step.
    pub fn poll(&mut self, now: Instant) -> QuicRaceStep {
        if !self.tcp_started && (self.quic_failed || self.tcp_at <= now) {
            self.tcp_started = true;
            return QuicRaceStep::StartTcp;
        }
        match (self.tcp_started, self.quic_failed && self.tcp_failed) {
            (_, true) => QuicRaceStep::Failed,
            (false, false) => QuicRaceStep::Wait(Some(self.tcp_at)),
            (true, false) => QuicRaceStep::Wait(None),
        }
    }
    /// QUIC did not get through.
    pub fn handle_quic_failed(&mut self) {
        self.quic_failed = true;
    }
    /// TCP did not get through.
    pub fn handle_tcp_failed(&mut self) {
        debug_assert!(self.tcp_started, "an attempt that fails has begun");
        self.tcp_failed = true;
    }
}

#[cfg(test)]
#[path = "quic_test.rs"]
mod quic_test;
