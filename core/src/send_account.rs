//! Bytes that wait for a peer that does not read, and the shared budget that bounds them.

use crate::credit::BudgetShare;
use crate::limits::{SEND_AHEAD_BYTES_MAX, SEND_FREE_BYTES, SEND_SHUT_BYTES, SEND_TURNS_MAX};

/// The granularity of a reservation, bytes. A connection whose peer keeps up never reserves, so the
/// budget's atomics are off the path of a small response.
const STEP_BYTES: u64 = 64 * 1024;

/// How much of a server's send budget (`Windows::send_budget`) one connection uses.
///
/// [`SEND_FREE_BYTES`] are free. Bytes beyond them are borrowed, ahead of the need, as long as the
/// connection holds no more than a quarter of what is left after it: a threshold that moves with
/// the load (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet
/// switches"). One connection then gets at most a fifth of the budget, and it takes two dozen that
/// take nothing of what waits for them to use it up. What is free is always there.
///
/// Progress never depends on another connection: one that has no room has bytes of its own that
/// wait, and their leaving, or the end of their stream, gives the room back. Nor does a stream that
/// the peer reads depend on those that it does not: where there is no room, [`SEND_TURNS_MAX`] streams on which nothing waits have
/// a turn, one piece of a body each, and while half of the budget is free further ones, which borrow for it.
#[derive(Debug)]
pub struct SendAccount {
    budget: SendBudget,
    exhausted: bool,
    overrun: bool,
    /// A turn ended, or a queue ran empty, while there was no room.
    freed: bool,
    turns: u32,
    /// Bytes that one stream may hold.
    share: u32,
    /// Once there was no room; a connection whose client reads has none.
    shortage: Option<Box<Shortage>>,
}

/// The streams of a connection that has no room.
#[derive(Debug, Default)]
struct Shortage {
    /// The stream that had a turn last.
    last_turn: u64,
    /// Open streams that began beyond the room.
    beyond: Vec<u64>,
}

#[derive(Debug)]
enum SendBudget {
    /// This many bytes for this connection alone, none of them borrowed yet.
    Own(u64),
    Shared(BudgetShare),
}

impl SendAccount {
    /// An account at a budget of `bytes` for this connection alone.
    pub fn own(bytes: u64) -> Self {
        Self::at(SendBudget::Own(bytes))
    }
    /// An account at the budget of `budget_share`, which other connections share.
    pub fn shared(budget_share: &BudgetShare) -> Self {
        Self::at(SendBudget::Shared(budget_share.share()))
    }
    fn at(budget: SendBudget) -> Self {
        Self {
            budget,
            exhausted: false,
            overrun: false,
            freed: false,
            turns: 0,
            share: u32::MAX,
            shortage: None,
        }
    }
    /// `waiting` bytes wait on the connection now: borrows or gives back. True: streams that found
    /// no room before may find some now.
    #[must_use]
    pub fn follow(&mut self, waiting: usize) -> bool {
        let freed = std::mem::take(&mut self.freed);
        self.move_to(waiting as u64) || freed
    }
    fn move_to(&mut self, waiting: u64) -> bool {
        if waiting <= SEND_FREE_BYTES / 2 && self.reserved() == 0 {
            self.overrun = false;
            if let Some(shortage) = &mut self.shortage {
                shortage.beyond = Vec::new();
            }
            self.share = u32::MAX;
            return std::mem::take(&mut self.exhausted);
        }
        let spare = (SEND_FREE_BYTES + self.reserve(waiting)).saturating_sub(waiting);
        self.share = u32::try_from(spare / 4).unwrap_or(u32::MAX);
        let allowed = SEND_FREE_BYTES + self.reserved();
        self.overrun = waiting >= allowed + SEND_AHEAD_BYTES_MAX;
        if waiting >= allowed {
            self.exhausted = true;
        } else if self.exhausted && waiting + SEND_FREE_BYTES / 2 <= allowed {
            self.exhausted = false;
            return true;
        }
        false
    }
    fn reserved(&self) -> u64 {
        match &self.budget {
            SendBudget::Own(_) => 0,
            SendBudget::Shared(budget_share) => budget_share.reserved_here(),
        }
    }
    /// Borrows half of the free bytes ahead of what waits; what the connection may borrow at most.
    fn reserve(&mut self, waiting: u64) -> u64 {
        if let SendBudget::Own(bytes) = self.budget {
            self.budget = SendBudget::Shared(BudgetShare::new(bytes));
        }
        let SendBudget::Shared(budget_share) = &mut self.budget else {
            return 0;
        };
        let reserved = budget_share.reserved_here();
        let beyond = (waiting + SEND_FREE_BYTES / 2).saturating_sub(SEND_FREE_BYTES);
        let wanted = beyond.div_ceil(STEP_BYTES) * STEP_BYTES;
        let fair = (budget_share.left() + reserved) / 5 / STEP_BYTES * STEP_BYTES;
        if wanted > reserved {
            let more = wanted.min(fair).saturating_sub(reserved);
            // A concurrent reservation may leave less; the account uses what it got.
            let _ = budget_share.reserve(u32::try_from(more).unwrap_or(u32::MAX));
        } else if wanted == 0 || wanted + 2 * STEP_BYTES < reserved {
            // A step in between stays: a stream that fills and drains would move it each time.
            budget_share.give_back(u32::try_from(reserved - wanted).unwrap_or(u32::MAX));
        }
        fair.max(budget_share.reserved_here())
    }
    /// No room is left: bodies are not asked for more.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }
    /// Bytes that may wait on one stream, at most `max`: a quarter of what the connection may still
    /// hold, so that many unread streams leave some to one that is read.
    pub fn queue_max(&self, max: usize) -> usize {
        max.min((self.share as usize).max(SEND_SHUT_BYTES))
    }
    /// Room of a stream with `queued` waiting bytes, where a queue of `max` is not full. It is
    /// never 0 while the connection has room: fullness is checked when bytes are added, and the
    /// owner waits only then.
    pub fn room(&self, queued: usize, max: usize) -> usize {
        match (self.exhausted, queued) {
            (false, _) => max.saturating_sub(queued).max(1),
            (true, 0) if self.turns < SEND_TURNS_MAX || !self.is_scarce() => {
                max.min(SEND_FREE_BYTES as usize)
            }
            (true, _) => 0,
        }
    }
    /// Bytes of `stream` wait from now on. True: it takes a turn, which ends with
    /// [`end_turn`](Self::end_turn). One beyond the turns borrows a step beyond the connection's part.
    pub fn begin_turn(&mut self, stream: u64) -> bool {
        if !self.exhausted {
            return false;
        }
        let begins = self.turns < SEND_TURNS_MAX;
        if begins {
            self.turns += 1;
            self.shortage.get_or_insert_default().last_turn = stream;
        } else if !self.is_scarce()
            && let SendBudget::Shared(budget_share) = &mut self.budget
        {
            let _ = budget_share.reserve(STEP_BYTES as u32);
        }
        begins
    }
    /// Notes that nothing waits any more on a stream; `turn`: it had a turn.
    pub fn end_turn(&mut self, turn: bool) {
        self.turns -= u32::from(turn);
        self.freed |= self.exhausted;
    }
    /// The stream that had a turn last: those behind it are next.
    pub fn last_turn(&self) -> u64 {
        self.shortage.as_ref().map_or(0, |it| it.last_turn)
    }
    /// Answers that were given whole went so far beyond the room that the next request may have to wait: it would bring
    /// another.
    #[inline]
    pub fn is_overrun(&self) -> bool {
        self.overrun
    }
    /// Whether a request begins although [`is_overrun`](Self::is_overrun): while half of the budget is free, and the answers
    /// to fewer than [`SEND_TURNS_MAX`] requests that began so are waiting themselves. A large answer to a slow reader then
    /// does not hold small ones back. `waiting`: the bytes that wait on a stream; `None`: it is over.
    #[cold]
    pub fn begins_beyond(&mut self, stream: u64, waiting: impl Fn(u64) -> Option<usize>) -> bool {
        if self.is_scarce() {
            return false;
        }
        let beyond = &mut self.shortage.get_or_insert_default().beyond;
        beyond.retain(|&other| waiting(other).is_some());
        let held = beyond.iter().filter(|&&other| waiting(other) > Some(0));
        let begins = held.count() < SEND_TURNS_MAX as usize;
        if begins {
            beyond.push(stream);
        }
        begins
    }
    /// Whether half of the budget is lent or more, by all connections.
    pub(crate) fn is_scarce(&self) -> bool {
        match &self.budget {
            SendBudget::Own(_) => false,
            SendBudget::Shared(budget_share) => 2 * budget_share.left() <= budget_share.total(),
        }
    }
}

#[cfg(test)]
#[path = "send_account_test.rs"]
mod send_account_test;
