//! Flow-control accounting. [`Credit`] is what we grant a peer to send or open, [`Quota`] what the
//! peer grants us: bytes and streams, HTTP/2 and HTTP/3 alike. Grants are decided here and nowhere
//! else.
//!
//! Invariants: `freed <= used`, and `used` never exceeds what was granted; a grant is never zero,
//! never negative, never moves a window above 2^31-1; credit is withheld to shrink, never revoked;
//! what a peer may still fill, `limit - freed`, never exceeds `min + reserved`, so that the memory of
//! all windows stays within their minimums and one [`BudgetShare`].

mod bdp_history;
mod budget_share;
mod quota;
mod round;
mod round_trip;
mod windowed_max;

pub use crate::error::WindowInvalid;
pub use bdp_history::BdpHistory;
pub use budget_share::BudgetShare;
pub use quota::{Overflow, Quota};
pub use windowed_max::WindowedMax;

use round::Round;
use round_trip::RoundTrip;
use std::time::{Duration, Instant};

/// RFC 9113 section 6.9.1: no flow-control window exceeds this.
pub const WINDOW_MAX: u32 = (1 << 31) - 1;

/// The least that one update grants, where the window is large enough: tiny DATA frames then cost
/// us at most 13 bytes per 16 KiB, and a lower floor gains no speed.
const QUANTUM_MIN: u32 = 16 * 1024;
/// The most that waits for one update: beyond it a larger quantum saves nothing.
const QUANTUM_MAX: u32 = 1024 * 1024;
/// A window grows to at most this many times the bytes of one round trip. After a loss the
/// held-back bytes arrive at once, and without this bound each quantum of such a burst would look
/// like a full window: the window would end at ten times the path's capacity. A sender at most
/// doubles its rate per round trip, but a bound of 2 slows the start by 15 % (docs/windows.md).
const GROWTH_MAX: u64 = 4;
/// A window grows once a round trip uses 1/HEADROOM of it. Slow start doubles the rate in a round
/// trip, and a grant takes one to take effect: a sender that meets its limit before stops doubling.
const HEADROOM: u32 = 2;
/// Multiplies the two above while the sender starts: its flights come in bursts, and the received
/// part of one says too little of the next.
const START: u32 = 2;
/// Growth begins with this: below it the granularity of frames costs 5 to 10 % of the speed.
const FIRST_STEP: u32 = 256 * 1024;
/// A little credit held back this long is granted after all: a peer may take the silence for a
/// dead stream.
const HELD_BACK_MAX: Duration = Duration::from_secs(5);
/// A window that was not used for this long gives back what it borrowed.
const IDLE: Duration = Duration::from_secs(2);
/// So does one that was more than half unread for this long.
const SLOW: Duration = Duration::from_secs(1);

/// The peer used more than it was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded;

/// The receiver's side of one window: bytes of a stream or a connection, or streams.
///
/// Amounts are absolute, counted from the start, as QUIC announces them; HTTP/2 announces the
/// differences.
#[derive(Clone, Debug)]
pub struct Credit {
    /// The highest amount granted.
    limit: u64,
    /// A higher limit that a peer may assume until it has seen our settings.
    tolerated: u64,
    used: u64,
    /// The most that the peer will ever use: `u64::MAX` where that is not known.
    total: u64,
    /// Taken by the application, or discarded.
    consumed: u64,
    /// Bytes that no longer hold the window back: `consumed`, and up to `allowance` of the unread.
    freed: u64,
    allowance: u64,
    /// How far beyond `freed` we grant.
    window: u32,
    /// The part of the window that is ours without asking the shared budget.
    min: u32,
    max: u32,
    /// Borrowed; never less than what the peer may fill beyond `min`.
    reserved: u32,
    /// Fixed mode: the quantum.
    step: Option<u32>,
    /// The least quantum, where the window is twice as large.
    quantum_min: u32,
    granted_at: Instant,
    /// `freed` at that moment.
    freed_then: u64,
    round: Round,
    used_at: Instant,
    /// Since when more than half of the window is unread.
    slow_since: Option<Instant>,
    peer_blocked: bool,
    round_trip: RoundTrip,
}

/// A snapshot of a window, for metrics and for a user's decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readback {
    /// Granted since the start.
    pub granted: u64,
    /// Used since the start.
    pub used: u64,
    /// Received, and not yet taken by the application.
    pub unread: u64,
    /// The size of the window now.
    pub window: u32,
    /// The lowest bound on the round trip that this window has seen.
    pub rtt: Option<Duration>,
}

/// The window that a user asked for in the place of `window`, if it may be.
///
/// # Errors
/// When it would shrink, or is not in 1..=2^31-1.
pub fn only_grows(window: u32, asked: u32) -> Result<u32, WindowInvalid> {
    match (window.max(1)..=WINDOW_MAX).contains(&asked) {
        true => Ok(asked),
        false => Err(WindowInvalid { asked, window }),
    }
}

impl Credit {
    /// A window of `window` already granted, that may grow to `max`. Both count at most
    /// [`WINDOW_MAX`].
    pub fn new(window: u32, max: u32, now: Instant) -> Self {
        let window = window.min(WINDOW_MAX);
        Self {
            limit: u64::from(window),
            tolerated: 0,
            used: 0,
            total: u64::MAX,
            consumed: 0,
            freed: 0,
            allowance: 0,
            window,
            min: window,
            max: max.clamp(window, WINDOW_MAX),
            reserved: 0,
            step: None,
            quantum_min: QUANTUM_MIN,
            granted_at: now,
            freed_then: 0,
            round: Round::new(now),
            used_at: now,
            slow_since: None,
            peer_blocked: false,
            round_trip: RoundTrip::default(),
        }
    }
    /// A window that never grows by itself: it is filled up when no more than `threshold` of it
    /// is left (and a quantum of at least 16 KiB, or half of a smaller window, can be granted).
    pub fn fixed(window: u32, threshold: u32, now: Instant) -> Self {
        let mut credit = Self::new(window, window, now);
        credit.step = Some(credit.window.saturating_sub(threshold));
        credit
    }
    /// A window of `count` streams at once, that never grows: a stream that is over is granted
    /// again, an eighth of the window at a time.
    pub fn streams(count: u32, now: Instant) -> Self {
        let mut credit = Self::new(count, count, now);
        credit.quantum_min = 1;
        credit
    }
    /// A peer that has not seen our settings may use up to `limit` (HTTP/2: 65,535).
    #[must_use]
    pub fn tolerating(mut self, limit: u32) -> Self {
        self.tolerated = u64::from(limit);
        self
    }
    /// Lets up to `bytes` unread bytes not hold this window back: a connection needs it, so that
    /// unread bodies do not stall their siblings. The streams' own windows bound their memory.
    /// Default 0.
    #[must_use]
    pub fn allowing_unread(mut self, bytes: u64) -> Self {
        self.allow_unread(bytes);
        self
    }
    /// Moves the allowance of [`allowing_unread`](Self::allowing_unread). What was freed by a
    /// larger one stays freed, and is not freed again when it is read.
    pub fn allow_unread(&mut self, bytes: u64) {
        self.allowance = bytes;
        self.free();
    }

    /// The peer used `bytes`.
    ///
    /// # Errors
    /// [`Exceeded`] when the peer has used more than was granted; nothing is counted then.
    pub fn spend(&mut self, bytes: u32, now: Instant) -> Result<(), Exceeded> {
        let used = self.used.saturating_add(u64::from(bytes));
        if used > self.limit.max(self.tolerated) {
            return Err(Exceeded);
        }
        if bytes == 0 {
            return Ok(());
        }
        self.lapse(now);
        self.used = used;
        self.used_at = now;
        self.free();
        self.note_slowness(now);
        self.round_trip.note_used(used, now);
        Ok(())
    }
    /// As [`spend`](Self::spend) and [`refund`](Self::refund) at once: for a window whose transport
    /// refuses what was not granted, and measures the round trip itself.
    pub fn take(&mut self, bytes: u32, now: Instant) {
        if bytes == 0 {
            return;
        }
        self.lapse(now);
        self.used_at = now;
        self.used = self.used.saturating_add(u64::from(bytes));
        self.refund(bytes);
    }
    /// The application consumed `bytes`, or they were discarded (padding, closed stream). More
    /// than is unread counts as what is unread.
    pub fn refund(&mut self, bytes: u32) {
        self.consumed = self
            .consumed
            .saturating_add(u64::from(bytes))
            .min(self.used);
        self.free();
    }
    /// As [`refund`](Self::refund), for bytes beside those that [`expect`](Self::expect) speaks
    /// of: padding counts against the window and not against the length of a body.
    pub fn discard(&mut self, bytes: u32) {
        self.total = self.total.saturating_add(u64::from(bytes));
        self.refund(bytes);
    }
    /// The increment to announce now, if one is due: at most one per quantum. `rtt` is the
    /// path's estimate, `writing` says that a write goes out anyway.
    pub fn grant(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        writing: bool,
        budget_share: &mut BudgetShare,
    ) -> Option<u32> {
        self.note_slowness(now);
        self.lapse(now);
        self.release_surplus(budget_share);
        let pending = self.pending();
        if !self.is_due(pending, now, writing) {
            return None;
        }
        self.grow(now, rtt, budget_share);
        self.announce(now)
    }
    /// The increment to announce of all credit that is held back, due or not: after
    /// [`raise_to`](Self::raise_to) and [`set_window`](Self::set_window).
    pub fn announce(&mut self, now: Instant) -> Option<u32> {
        if self.pending() == 0 {
            return None;
        }
        let increment = self.pending().min(u64::from(WINDOW_MAX)) as u32;
        self.round_trip.note_grant(self.limit, now);
        self.limit += u64::from(increment);
        self.granted_at = now;
        self.freed_then = self.freed;
        self.peer_blocked = false;
        Some(increment)
    }
    /// When [`grant`](Self::grant) is due though nothing more happens: because credit was held
    /// back, or because a window that is idle or not read gives back what it borrowed.
    pub fn next_deadline(&self) -> Option<Instant> {
        let held_back = (self.pending() > 0 && self.limit < self.total)
            .then(|| self.granted_at + HELD_BACK_MAX);
        let may_lapse = self.reserved > 0 && self.window > self.min;
        let lapse = may_lapse.then(|| {
            let slow = self.slow_since.map(|at| at + SLOW);
            let idle = (self.used > 0).then(|| self.used_at + IDLE);
            slow.into_iter().chain(idle).min()
        });
        held_back.into_iter().chain(lapse.flatten()).min()
    }
    /// The peer says that it waits for credit (QUIC's BLOCKED frames): the next grant does not
    /// wait for a quantum.
    pub fn note_blocked(&mut self) {
        self.peer_blocked = true;
    }

    /// Raises the window at once, as far as `max` and the shared budget let it: for a body that is likely
    /// to be large. [`announce`](Self::announce) grants it to the peer.
    pub fn raise_to(&mut self, window: u32, budget_share: &mut BudgetShare) {
        let wanted = window.min(self.max).min(self.useful());
        self.borrow(wanted.saturating_sub(self.window), budget_share);
    }
    /// The peer will use `bytes` in all and no more: content-length. What was borrowed for more
    /// goes back, and nothing is granted beyond it but one byte: a peer may hold the end of a stream back while
    /// its window is used up, though an empty frame needs none (RFC 9113 section 6.9). nghttp2 does.
    pub fn expect(&mut self, bytes: u64, budget_share: &mut BudgetShare) {
        // Padding that came before is beside it.
        self.total = bytes.saturating_add(1).saturating_add(self.used);
        self.shrink_to(self.useful().max(self.min));
        self.release_surplus(budget_share);
        // Opened before slow start fills it; a body of just the step gets the byte behind it in the same update.
        self.raise_to(FIRST_STEP + 1, budget_share);
    }
    /// Lowers the window: what is granted stays granted, and the difference is withheld from
    /// what is freed. Never raises it. At least 1.
    pub fn shrink_to(&mut self, window: u32) {
        self.window = self.window.min(window.max(1));
    }
    /// Falls back to what is ours without asking the shared budget: its readers have been slow for long.
    pub fn rest(&mut self) {
        if self.reserved > 0 {
            self.shrink_to(self.min);
        }
    }
    /// How far the window may grow by itself; lowers the window if it is larger.
    pub fn set_max(&mut self, max: u32) {
        self.max = max.clamp(1, WINDOW_MAX);
        self.shrink_to(self.max);
    }
    /// Raises the window by the user's order, without the shared budget.
    ///
    /// # Errors
    /// [`WindowInvalid`] when the window would shrink, or is not in 1..=2^31-1.
    pub fn set_window(&mut self, window: u32) -> Result<(), WindowInvalid> {
        self.window = only_grows(self.window, window)?;
        self.min = self.min.max(window);
        self.max = self.max.max(window);
        Ok(())
    }
    /// The peer has applied our change of SETTINGS_INITIAL_WINDOW_SIZE, which moved this stream's
    /// window by `delta` (RFC 9113 section 6.9.2).
    pub fn adjust(&mut self, delta: i64) {
        let moved = |amount: u64| amount.saturating_add_signed(delta);
        self.limit = moved(self.limit);
        self.window = moved(u64::from(self.window)).clamp(1, u64::from(WINDOW_MAX)) as u32;
        self.min = moved(u64::from(self.min)).clamp(1, u64::from(WINDOW_MAX)) as u32;
        self.max = self.max.max(self.window);
        self.round_trip.drop_sample();
    }
    /// The stream is over: what it borrowed goes back. Returns what was unread, for the
    /// connection's window to refund.
    pub fn close(&mut self, budget_share: &mut BudgetShare) -> u64 {
        let unread = self.unread();
        self.consumed = self.used;
        self.free();
        self.window = self.window.min(self.min);
        budget_share.give_back(std::mem::take(&mut self.reserved));
        unread
    }

    /// Received, and not yet taken by the application.
    pub fn unread(&self) -> u64 {
        self.used - self.consumed
    }
    /// Bytes or streams that the peer may still use.
    pub fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
    /// How large a window the path has shown to need: this one, unless two of them would be more
    /// than what comes in a round trip.
    pub fn demand(&self) -> u32 {
        let twice = self.round.bytes(self.freed).saturating_mul(2);
        self.window.min(u32::try_from(twice).unwrap_or(u32::MAX))
    }
    /// The absolute limit, as QUIC announces it.
    pub fn limit(&self) -> u64 {
        self.limit
    }
    /// The state of the window.
    pub fn readback(&self) -> Readback {
        Readback {
            granted: self.limit,
            used: self.used,
            unread: self.unread(),
            window: self.window,
            rtt: self.round_trip.lowest(),
        }
    }
    /// Takes the last bound on the round trip, if there is a new one: the path keeps the lowest.
    pub fn rtt_sample(&mut self) -> Option<Duration> {
        self.round_trip.take_sample()
    }

    /// Credit that we hold back; 0 while a shrunken window is being paid off.
    fn pending(&self) -> u64 {
        (self.freed + u64::from(self.window)).saturating_sub(self.limit)
    }
    /// How much one update grants at least.
    fn quantum(&self) -> u32 {
        let floor = self.quantum_min.min(self.window / 2).max(1);
        match self.step {
            // Never more than the window, which is all that can ever be pending.
            Some(step) => step.clamp(floor, self.window.max(floor)),
            None => (self.window / 8).clamp(floor, QUANTUM_MAX),
        }
    }
    fn is_due(&self, pending: u64, now: Instant, writing: bool) -> bool {
        let quantum = u64::from(self.quantum());
        let piggyback = writing && self.step.is_none() && pending >= (quantum / 4).max(1);
        let stuck = self.peer_blocked && self.used >= self.limit;
        let overdue = || now.saturating_duration_since(self.granted_at) >= HELD_BACK_MAX;
        let is_useful = pending > 0 && self.limit < self.total;
        is_useful && (pending >= quantum || piggyback || stuck || overdue())
    }
    /// If more was freed since the last grant than a sender held up by this window could have
    /// sent, then the window is what holds it up. Measured on freed bytes: a slow reader never
    /// grows its window.
    fn grow(&mut self, now: Instant, rtt: Option<Duration>, budget_share: &mut BudgetShare) {
        let slow = self.unread() > u64::from(self.window / 2);
        let Some(rtt) = [rtt, self.round_trip.lowest()].into_iter().flatten().min() else {
            return;
        };
        let per_round = self.round.measure(self.freed, now, rtt);
        let max = self.max.min(self.useful());
        if slow || self.window >= max {
            return;
        }
        let freed = self.freed - self.freed_then;
        let elapsed = now.saturating_duration_since(self.granted_at);
        let start = if self.round.is_starting() { START } else { 1 };
        let in_one_rtt =
            u128::from(self.window.saturating_sub(self.quantum()) / (HEADROOM * start));
        let expected = in_one_rtt.saturating_mul(elapsed.as_nanos()) / rtt.as_nanos().max(1);
        let Some(excess @ 1..) = u128::from(freed).checked_sub(expected) else {
            return;
        };
        let step = excess.saturating_mul(4).min(u128::from(WINDOW_MAX)) as u32;
        let step = step.max(FIRST_STEP.saturating_sub(self.window));
        let most = u32::try_from(per_round.saturating_mul(GROWTH_MAX * u64::from(start)))
            .unwrap_or(u32::MAX);
        let max = max.min(most.max(FIRST_STEP));
        self.borrow(step.min(max.saturating_sub(self.window)), budget_share);
    }
    /// The largest window that the peer can make use of.
    fn useful(&self) -> u32 {
        let left = self.total.saturating_sub(self.freed);
        u32::try_from(left).unwrap_or(u32::MAX).max(1)
    }
    /// Widens the window by what is ours, then by the share that the budget gives.
    fn borrow(&mut self, bytes: u32, budget_share: &mut BudgetShare) {
        let window = self.window + bytes;
        let needed = window.saturating_sub(self.min.saturating_add(self.reserved));
        let reserved = budget_share.reserve(needed);
        self.reserved += reserved;
        self.window = window - (needed - reserved);
    }
    /// Gives back what neither the window needs nor the peer may still fill.
    fn release_surplus(&mut self, budget_share: &mut BudgetShare) {
        let fillable = self
            .limit
            .min(self.total)
            .saturating_sub(self.freed)
            .max(u64::from(self.window));
        let needed = fillable.saturating_sub(u64::from(self.min));
        let spare = u64::from(self.reserved).saturating_sub(needed) as u32;
        self.reserved -= spare;
        budget_share.give_back(spare);
    }
    fn free(&mut self) {
        let held = self.unread().saturating_sub(self.allowance);
        self.freed = self.freed.max(self.used - held);
    }
    fn note_slowness(&mut self, now: Instant) {
        let slow = self.unread() > u64::from(self.window / 2);
        self.slow_since = slow.then(|| self.slow_since.unwrap_or(now));
    }
    /// A window that is idle or not read falls back to its minimum.
    fn lapse(&mut self, now: Instant) {
        if self.reserved == 0 {
            return;
        }
        let since = |at: Instant| now.saturating_duration_since(at);
        let slow = self.slow_since.is_some_and(|at| since(at) >= SLOW);
        // Before the first byte it is the peer's application that rests, and all of the window is
        // granted: to shrink it would win nothing.
        let idle = self.used > 0 && since(self.used_at) >= IDLE;
        if slow || idle {
            self.shrink_to(self.min);
        }
    }
}

#[cfg(test)]
#[path = "credit_test.rs"]
mod credit_test;
