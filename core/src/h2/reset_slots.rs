//! Slots of streams that we reset. Until the peer has certainly seen our RST_STREAM, the stream
//! counts against its limit there (RFC 9113 section 5.1.2), so its slot is not free here. The proof
//! is any frame that the peer sends one round trip later, or the answer to a PING.
//!
//! Peers also count resets and close with ENHANCE_YOUR_CALM beyond a limit: beyond a burst, slots
//! return only as fast as a peer's budget refills ([`Pace`]).
//!
//! Invariant: slots return in the order of their resets.

use crate::budget::{Pace, Rate};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

#[cfg(test)]
#[path = "reset_slots_test.rs"]
mod reset_slots_test;

/// Half of what strict peers allow at once (netty closes behind 200 in 30 s): the streams that are
/// open when the burst is used up can still be reset, all of them.
const RESET_RATE: Rate = Rate {
    burst: 100,
    per_second: 30,
};
/// Without a sign of the peer, a reset is taken for seen after this, or four round trips.
const PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE_ROUND_TRIPS: u32 = 4;
/// Between two PINGs that ask for proof: far below what peers take (CVE-2019-9512).
const ASK_EVERY: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug)]
struct Slot {
    reset_at: Instant,
    /// The pace of resets keeps it until then.
    not_before: Instant,
}

/// The slots that are held: nothing until the first, which is most connections' whole life.
#[derive(Debug, Default)]
pub(super) struct ResetSlots {
    ledger: Option<Box<ResetLedger>>,
}

#[derive(Debug)]
struct ResetLedger {
    slots: VecDeque<Slot>,
    /// The number of leading slots whose reset the peer has seen.
    proven: usize,
    /// The number of slots that the answer to the outstanding PING proves.
    probed: Option<usize>,
    probed_at: Option<Instant>,
    /// When the PING may go out that was too soon behind the last one.
    ask_at: Option<Instant>,
    /// The peer has sent HEADERS or DATA since the last PING: some peers count those between.
    may_ask: bool,
    pace: Pace,
}

impl ResetSlots {
    pub(super) fn len(&self) -> u32 {
        self.ledger
            .as_ref()
            .map_or(0, |ledger| ledger.slots.len() as u32)
    }

    /// RST_STREAM is in the outbox.
    pub(super) fn hold(&mut self, now: Instant) {
        let ledger = self
            .ledger
            .get_or_insert_with(|| Box::new(ResetLedger::new(now)));
        ledger.hold(now);
    }

    /// Whether a PING is to go out now that makes the peer prove what it has seen.
    pub(super) fn ask(&mut self, now: Instant) -> bool {
        self.ledger.as_mut().is_some_and(|ledger| ledger.ask(now))
    }

    /// The peer answered something of ours.
    pub(super) fn handle_progress(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            ledger.may_ask = true;
        }
    }

    /// The PING was answered. False: there was none.
    pub(super) fn handle_pong(&mut self, now: Instant) -> bool {
        self.ledger
            .as_mut()
            .is_some_and(|ledger| ledger.handle_pong(now))
    }

    /// Something came from the peer.
    pub(super) fn handle_bytes(&mut self, now: Instant, round_trip: Option<Duration>) {
        if let Some(ledger) = &mut self.ledger
            && !ledger.slots.is_empty()
        {
            ledger.prove(now, round_trip.unwrap_or(PATIENCE));
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, round_trip: Option<Duration>) {
        if let Some(ledger) = &mut self.ledger {
            ledger.prove(now, patience(round_trip));
            ledger.ask_at = ledger.ask_at.filter(|&at| at > now);
        }
    }

    /// When the next slot comes back though the peer says nothing.
    pub(super) fn next_deadline(&self, round_trip: Option<Duration>) -> Option<Instant> {
        let ledger = self.ledger.as_ref()?;
        let first = ledger.slots.front()?;
        let returns_at = match ledger.proven {
            0 => first.not_before.max(first.reset_at + patience(round_trip)),
            _ => first.not_before,
        };
        Some(ledger.ask_at.map_or(returns_at, |at| at.min(returns_at)))
    }
}

impl ResetLedger {
    fn new(now: Instant) -> Self {
        Self {
            slots: VecDeque::new(),
            proven: 0,
            probed: None,
            probed_at: None,
            ask_at: None,
            may_ask: true,
            pace: Pace::new(RESET_RATE, now),
        }
    }

    fn hold(&mut self, now: Instant) {
        self.slots.push_back(Slot {
            reset_at: now,
            not_before: self.pace.charge(now),
        });
    }

    fn ask(&mut self, now: Instant) -> bool {
        self.ask_at = None;
        if !self.may_ask || self.probed.is_some() || self.proven == self.slots.len() {
            return false;
        }
        let next = self.probed_at.map(|at| at + ASK_EVERY);
        if next.is_some_and(|at| now < at) {
            self.ask_at = next;
            return false;
        }
        self.may_ask = false;
        self.probed = Some(self.slots.len());
        self.probed_at = Some(now);
        true
    }

    fn handle_pong(&mut self, now: Instant) -> bool {
        let Some(probed) = self.probed.take() else {
            return false;
        };
        self.proven = self.proven.max(probed);
        self.release(now);
        true
    }

    /// Resets that are `age` old are seen.
    fn prove(&mut self, now: Instant, age: Duration) {
        let is_seen = |slot: &&Slot| slot.reset_at + age <= now;
        let unproven = self.slots.iter().skip(self.proven);
        self.proven += unproven.take_while(is_seen).count();
        self.release(now);
    }

    fn release(&mut self, now: Instant) {
        let free = |slot: &&Slot| slot.not_before <= now;
        let count = self.slots.iter().take(self.proven).take_while(free).count();
        self.slots.drain(..count);
        self.proven -= count;
        self.probed = self.probed.map(|probed| probed.saturating_sub(count));
    }
}

fn patience(round_trip: Option<Duration>) -> Duration {
    PATIENCE.max(round_trip.unwrap_or_default() * PATIENCE_ROUND_TRIPS)
}
