//! Bodies whose readers are slow, beside others on the same connection. What lies unread of them
//! holds the connection's window: QUIC's streams have one size each for all of a connection's life,
//! so it can be all of it. Then the window is raised, as far as half of the budget goes; where it
//! grows no more, a client takes no further exchange: they go over another connection.

use super::conn::Conn;
use crate::credit::WINDOW_MAX;
use std::time::Instant;

/// How it stands with the slow readers of a connection.
#[derive(Debug, Default)]
pub(super) struct SlowReaders {
    /// Streams of which the user holds a window full.
    full: u32,
    /// They hold the peer up, and the window cannot be raised further.
    exhausted: bool,
}

impl SlowReaders {
    /// A stream is full now.
    pub(super) fn note_full(&mut self) {
        self.full += 1;
    }
    /// A stream left, or its user has read; `was_full`: before.
    pub(super) fn note_left(&mut self, was_full: bool) {
        self.full -= u32::from(was_full);
        if self.full == 0 {
            self.exhausted = false;
        }
    }
    /// Whether no exchange should join them.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted
    }
}

impl Conn {
    /// Whether bytes wait for a user, so that the transport should look out for a peer that says
    /// that the connection's window holds it up.
    pub fn holds_back(&self) -> bool {
        self.slow.full > 0
    }

    /// The peer says that the connection's window holds it up (DATA_BLOCKED, RFC 9000 section
    /// 19.12). Where that is because of bodies that nobody reads, the others get as much again,
    /// from half of the budget.
    pub fn handle_blocked(&mut self, now: Instant) {
        if self.closed || !self.config.windows.auto || !self.holds_back() {
            return;
        }
        let windows = &self.config.windows;
        let half = u32::try_from(windows.memory_budget / 2).unwrap_or(WINDOW_MAX);
        let max = windows.connection.saturating_add(half);
        self.credit.set_max(max);
        let window = self.credit.readback().window;
        self.raise(now, window.saturating_mul(2));
        self.slow.exhausted = self.credit.readback().window == window;
        self.note_capacity();
    }
}
