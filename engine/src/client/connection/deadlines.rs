//! Deadlines of a connection's exchanges. An exchange adds one entry when it starts. Progress does
//! not touch the entry: it is checked, and postponed if need be, when it falls due.

use crate::driver::timer::{self, Sleep};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

/// Entries of exchanges long gone that may stay beside the live ones.
const STALE_MAX: usize = 1024;

/// Entries by the time they are due, and one sleep for the earliest.
#[derive(Default)]
pub(in crate::client) struct Deadlines {
    entries: BinaryHeap<Reverse<(Instant, u32, u64)>>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// The sleep ends then; never later than the earliest entry.
    armed_at: Option<Instant>,
}

impl Deadlines {
    /// The exchange with this serial number in `slot` is to be looked at then.
    pub(in crate::client) fn push(&mut self, at: Instant, slot: u32, serial: u64) {
        self.entries.push(Reverse((at, slot, serial)));
    }
    /// Drops the entries that `is_live` does not know, when there are too many.
    pub(super) fn tidy(&mut self, live: usize, is_live: impl Fn(u32, u64) -> bool) {
        if self.entries.len() > 2 * live + STALE_MAX {
            self.entries
                .retain(|Reverse((_, slot, serial))| is_live(*slot, *serial));
        }
    }
    /// Gives memory back while no exchange is open; the entries of `stays` stay.
    pub(super) fn release(&mut self, stays: impl Fn(u32) -> bool) {
        self.entries.retain(|Reverse((_, slot, _))| stays(*slot));
        self.entries.shrink_to_fit();
    }
    /// The next entry that is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(u32, u64)> {
        let &Reverse((at, slot, serial)) = self.entries.peek()?;
        if at > now {
            return None;
        }
        self.entries.pop();
        Some((slot, serial))
    }
    /// Arms the sleep for the earliest entry; wakes the task, always the same, when it ends. Before
    /// its time the sleep is not looked at.
    pub(super) fn poll_arm(&mut self, cx: &mut Context<'_>, now: Instant) {
        if let Some(sleep) = &mut self.sleep
            && self.armed_at.is_some_and(|at| at <= now)
            && sleep.as_mut().poll(cx).is_ready()
        {
            self.armed_at = None;
        }
        let Some(&Reverse((earliest, ..))) = self.entries.peek() else {
            return;
        };
        if self.armed_at.is_some_and(|at| at <= earliest) {
            return;
        }
        self.armed_at = Some(earliest);
        let sleep = match &mut self.sleep {
            Some(sleep) => {
                sleep.as_mut().reset(earliest.into());
                sleep
            }
            none => none.insert(Box::pin(timer::sleep_until(earliest.into()))),
        };
        if let Poll::Ready(()) = sleep.as_mut().poll(cx) {
            self.armed_at = None;
            cx.waker().wake_by_ref();
        }
    }
}
