//! Happy Eyeballs (RFC 8305): the order and times at which a host's addresses are tried, so that an
//! unreachable address family costs a quarter of a second instead of a timeout.
//!
//! Pure: addresses and time in, steps out. The owner carries out the steps, reports each attempt's
//! end, and drops the others when one has won.

mod quic;

pub use quic::{QuicRace, QuicRaceStep};

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The time between the beginnings of two attempts (RFC 8305 section 5: recommended).
pub const ATTEMPT_DELAY: Duration = Duration::from_millis(250);
/// The least delay: a shorter one would flood the network (RFC 8305 section 5: MUST NOT be less).
pub const ATTEMPT_DELAY_MIN: Duration = Duration::from_millis(10);
/// The longest delay: behind a longer one attempts follow each other (RFC 8305 section 5: recommended upper bound).
pub const ATTEMPT_DELAY_MAX: Duration = Duration::from_secs(2);

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceStep {
    /// Start an attempt at this address, then ask again.
    Connect(SocketAddr),
    /// Nothing to start before this time (`None`: ever) unless an attempt ends.
    Wait(Option<Instant>),
    /// An attempt has won.
    Done,
    /// Every address was tried, and none answered.
    Failed,
}

/// The attempts at one host's addresses.
#[derive(Debug)]
pub struct Race {
    waiting: VecDeque<SocketAddr>,
    /// Attempts that have begun and not ended.
    running: usize,
    delay: Duration,
    /// When the next attempt may begin though the last one still runs.
    next_at: Option<Instant>,
    won: bool,
}

impl Race {
    /// A race over `addresses` in the resolver's order. `delay` is brought into
    /// [`ATTEMPT_DELAY_MIN`]..=[`ATTEMPT_DELAY_MAX`].
    pub fn new(addresses: &[SocketAddr], delay: Duration) -> Self {
        Self {
            waiting: interleave(addresses),
            running: 0,
            delay: delay.clamp(ATTEMPT_DELAY_MIN, ATTEMPT_DELAY_MAX),
            next_at: None,
            won: false,
        }
    }

    /// Every address has its turn before `limit`, when the attempts end: where the delay would be longer, it is the part of
    /// the limit that falls to each.
    #[must_use]
    pub fn within(mut self, limit: Option<Duration>) -> Self {
        let count = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        if let Some(part) = limit.and_then(|limit| limit.checked_div(count)) {
            self.delay = self.delay.min(part).max(ATTEMPT_DELAY_MIN);
        }
        self
    }

    /// The next step.
    pub fn poll(&mut self, now: Instant) -> RaceStep {
        if self.won {
            return RaceStep::Done;
        }
        let may_begin = self.next_at.is_none_or(|at| at <= now);
        match self.waiting.front() {
            Some(&address) if may_begin => {
                self.waiting.pop_front();
                self.running += 1;
                self.next_at = Some(now + self.delay);
                RaceStep::Connect(address)
            }
            Some(_) => RaceStep::Wait(self.next_at),
            None if self.running > 0 => RaceStep::Wait(None),
            None => RaceStep::Failed,
        }
    }

    /// An attempt has failed: the next one need not wait (RFC 8305 section 5).
    pub fn handle_failed(&mut self) {
        debug_assert!(self.running > 0, "an attempt that fails has begun");
        self.running = self.running.saturating_sub(1);
        self.next_at = None;
    }

    /// An attempt has succeeded; the others are the losers.
    pub fn handle_connected(&mut self) {
        self.won = true;
    }
}

/// The addresses, alternating between the families, beginning with that of the first address, each
/// in the resolver's order (RFC 8305 section 4 with a First Address Family Count of 1). A repeated
/// address is tried once.
fn interleave(addresses: &[SocketAddr]) -> VecDeque<SocketAddr> {
    let mut families = [VecDeque::new(), VecDeque::new()];
    for &address in addresses {
        let family = &mut families[usize::from(address.is_ipv6())];
        if !family.contains(&address) {
            family.push_back(address);
        }
    }
    let mut turn = usize::from(addresses.first().is_some_and(SocketAddr::is_ipv6));
    let mut ordered = VecDeque::with_capacity(addresses.len());
    loop {
        let [v4, v6] = &mut families;
        let (own, other) = match turn {
            0 => (v4, v6),
            _ => (v6, v4),
        };
        match own.pop_front().or_else(|| other.pop_front()) {
            Some(address) => ordered.push_back(address),
            None => return ordered,
        }
        turn = 1 - turn;
    }
}
