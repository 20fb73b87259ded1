//! Does the peer still live? Nobody asks while bytes come. A connection that has been quiet gets
//! a PING together with its next request; silence after it makes the connection suspect (it gets
//! nothing new) and then dead. Any byte of the peer's clears it. Where a path can die without the
//! peer (QUIC), a connection whose exchanges wait is asked too: what the peer sends may be going
//! where nobody is any more.
//!
//! ```text
//! Heard --(request after a quiet time, exchanges wait in a quiet time over QUIC,
//!          a stream timed out, the network changed)--> Asked
//! Asked --(no byte for max(2 s, 6 x rtt), a second stream timed out)--> Suspect
//! Asked, Suspect --(no byte for 15 s)--> dead;   --(a byte)--> Heard
//! ```

use std::time::{Duration, Instant};

/// How long a peer may be silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthTimes {
    /// A connection that was quiet for this long is asked with its next request. Default 10 s.
    pub quiet: Duration,
    /// An HTTP/1.1 connection that rested for this long is looked at once more before it gets a
    /// request: the peer may have closed it unnoticed. Default 1 s.
    pub rested: Duration,
    /// Silence after a question that makes it suspect, or six round trips if that is longer.
    /// Default 2 s.
    pub suspect: Duration,
    /// Silence after a question that ends it; at least `suspect`. Default 15 s.
    pub dead: Duration,
}

impl Default for HealthTimes {
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(10),
            rested: Duration::from_secs(1),
            suspect: Duration::from_secs(2),
            dead: Duration::from_secs(15),
        }
    }
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkup {
    /// Nothing.
    Fine,
    /// Send a PING.
    Ask,
    /// It has just become suspect: where another path can be had, take it.
    Doubt,
    /// It is dead: close it.
    Bury,
}

/// What is known of one connection's peer.
#[derive(Clone, Copy, Debug)]
pub struct Health {
    heard_at: Instant,
    asked_at: Option<Instant>,
    suspect: bool,
    /// Streams that timed out since the peer was last heard.
    timed_out: u32,
}

impl Health {
    /// A peer that has just been heard.
    pub fn new(now: Instant) -> Self {
        Self {
            heard_at: now,
            asked_at: None,
            suspect: false,
            timed_out: 0,
        }
    }

    /// A byte came.
    pub fn handle_bytes(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    /// A request is about to start.
    pub fn handle_start(&mut self, now: Instant, times: &HealthTimes) -> Checkup {
        let is_quiet = now.saturating_duration_since(self.heard_at) >= times.quiet;
        match is_quiet {
            true => self.ask(now),
            false => Checkup::Fine,
        }
    }

    /// A stream timed out. One may have been slow by itself; several in a silence are a sign.
    pub fn handle_stream_timeout(&mut self, now: Instant) -> Checkup {
        self.timed_out += 1;
        self.suspect |= self.timed_out >= TIMED_OUT_SUSPECT;
        self.ask(now)
    }

    /// The network changed: nothing is believed before a byte has come over it.
    pub fn handle_network_change(&mut self, now: Instant) -> Checkup {
        self.suspect = true;
        self.ask(now)
    }

    /// Carries out what is due. `waits`: exchanges wait for a peer whose path may die alone.
    pub fn handle_timeout(
        &mut self,
        now: Instant,
        times: &HealthTimes,
        round_trip: Option<Duration>,
        waits: bool,
    ) -> Checkup {
        let Some(asked_at) = self.asked_at else {
            return match waits {
                true => self.handle_start(now, times),
                false => Checkup::Fine,
            };
        };
        let silence = now.saturating_duration_since(asked_at);
        if silence >= dead_after(times, round_trip) {
            return Checkup::Bury;
        }
        if !self.suspect && silence >= suspect_after(times, round_trip) {
            self.suspect = true;
            return Checkup::Doubt;
        }
        Checkup::Fine
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn next_deadline(
        &self,
        times: &HealthTimes,
        round_trip: Option<Duration>,
        waits: bool,
    ) -> Option<Instant> {
        match (self.asked_at, self.suspect) {
            (None, _) => waits.then(|| self.heard_at + times.quiet),
            (Some(asked_at), false) => Some(asked_at + suspect_after(times, round_trip)),
            (Some(asked_at), true) => Some(asked_at + dead_after(times, round_trip)),
        }
    }

    /// It must not get new requests.
    pub fn is_suspect(&self) -> bool {
        self.suspect
    }

    fn ask(&mut self, now: Instant) -> Checkup {
        if self.asked_at.is_some() {
            return Checkup::Fine;
        }
        self.asked_at = Some(now);
        Checkup::Ask
    }
}

fn suspect_after(times: &HealthTimes, round_trip: Option<Duration>) -> Duration {
    let trips = round_trip.unwrap_or_default() * SUSPECT_ROUND_TRIPS;
    times.suspect.max(trips)
}

fn dead_after(times: &HealthTimes, round_trip: Option<Duration>) -> Duration {
    times.dead.max(suspect_after(times, round_trip))
}

/// An answer takes one; the others are for a path that is loaded.
const SUSPECT_ROUND_TRIPS: u32 = 6;
/// Streams that time out in one silence before the connection is the suspect.
const TIMED_OUT_SUSPECT: u32 = 2;
