//! Does the peer still live? Nobody asks while bytes come. A connection that has been quiet gets
//! a PING together with its next request, or without one after a time of its own; silence after it
//! makes the connection suspect (it gets nothing new) and then dead. Any byte of the peer's clears
//! it. Where a path can die without the peer (QUIC), a connection whose exchanges wait is asked
//! too: what the peer sends may be going
//! where nobody is any more. Such a connection moves when it becomes suspect, and is then watched
//! closely: the first packets of a path may get lost as well, and a peer that has not proved the
//! path yet may send no more than three times what it got (RFC 9000 section 8.2), and nothing by
//! itself. So it is asked again and again until it is heard, and sooner after the next silence.
//!
//! ```text
//! Heard --(request after a quiet time, exchanges wait in a quiet time over QUIC, silence for so
//!          long that it is asked unasked, a stream timed out, the network changed)--> Asked
//! Asked --(no byte for max(2 s, 6 x rtt), a second stream timed out)--> Suspect (asked again)
//! Asked, Suspect --(no byte for 15 s)--> dead;   --(a byte)--> Heard
//! ```

use std::time::{Duration, Instant};

/// How long a peer may be silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthTimes {
    /// A connection that was quiet for this long is asked with its next request. Default 10 s.
    pub quiet: Duration,
    /// A connection that was quiet for this long is asked though it gets no request, so that what
    /// waits for a dead peer hears of it and idle paths stay open. Default: none, it is not.
    pub unasked: Option<Duration>,
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
            unasked: None,
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
    /// When it was asked last in this silence.
    asked_again_at: Instant,
    suspect: bool,
    /// When it was to take another path last.
    moved_at: Option<Instant>,
    /// Streams that timed out since the peer was last heard.
    timed_out: u32,
}

impl Health {
    /// A peer that has just been heard.
    pub fn new(now: Instant) -> Self {
        Self {
            heard_at: now,
            asked_at: None,
            asked_again_at: now,
            suspect: false,
            moved_at: None,
            timed_out: 0,
        }
    }

    /// A byte came.
    pub fn handle_bytes(&mut self, now: Instant) {
        *self = Self {
            moved_at: self.moved_at,
            ..Self::new(now)
        };
    }

    /// A request is about to start.
    pub fn handle_start(&mut self, now: Instant, times: &HealthTimes) -> Checkup {
        match now >= self.quiet_until(times) {
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
        self.moved_at = Some(now);
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
            return match self.unasked_at(times, waits) {
                Some(at) if now >= at => self.ask(now),
                _ => Checkup::Fine,
            };
        };
        let silence = now.saturating_duration_since(asked_at);
        if silence >= dead_after(times, round_trip) {
            return Checkup::Bury;
        }
        if !self.suspect && silence >= suspect_after(times, round_trip) {
            self.suspect = true;
            self.moved_at = Some(now);
            self.asked_again_at = now;
            return Checkup::Doubt;
        }
        if self.suspect && waits && now >= self.asked_again_at + ask_again_after(times) {
            self.asked_again_at = now;
            return Checkup::Ask;
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
            (None, _) => self.unasked_at(times, waits),
            (Some(asked_at), false) => Some(asked_at + suspect_after(times, round_trip)),
            (Some(asked_at), true) => {
                let dead = asked_at + dead_after(times, round_trip);
                let again = self.asked_again_at + ask_again_after(times);
                Some(if waits { dead.min(again) } else { dead })
            }
        }
    }

    /// Since when the peer owes an answer.
    pub fn asked_at(&self) -> Option<Instant> {
        self.asked_at
    }

    /// It must not get new requests.
    pub fn is_suspect(&self) -> bool {
        self.suspect
    }

    /// When it is asked without a request.
    fn unasked_at(&self, times: &HealthTimes, waits: bool) -> Option<Instant> {
        let of_wait = waits.then(|| self.quiet_until(times));
        let of_silence = times.unasked.map(|time| self.heard_at + time);
        of_wait.into_iter().chain(of_silence).min()
    }
    /// When it has been silent for so long that it is asked.
    fn quiet_until(&self, times: &HealthTimes) -> Instant {
        let moved_lately = |at: Instant| self.heard_at < at + times.dead;
        match self.moved_at.is_some_and(moved_lately) {
            true => self.heard_at + times.suspect.min(times.quiet),
            false => self.heard_at + times.quiet,
        }
    }
    fn ask(&mut self, now: Instant) -> Checkup {
        if self.asked_at.is_some() {
            return Checkup::Fine;
        }
        self.asked_at = Some(now);
        self.asked_again_at = now;
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

/// Between two questions to a suspect whose exchanges wait.
fn ask_again_after(times: &HealthTimes) -> Duration {
    times.suspect / ASKED_PER_SUSPECT
}

/// Questions in the time that made it suspect: each is one packet, and brings the peer three more.
const ASKED_PER_SUSPECT: u32 = 4;
/// An answer takes one; the others are for a path that is loaded.
const SUSPECT_ROUND_TRIPS: u32 = 6;
/// Streams that time out in one silence before the connection is the suspect.
const TIMED_OUT_SUSPECT: u32 = 2;
