//! Slow readers beside others on one connection. Their unread bytes can fill the whole connection's
//! window, because QUIC's stream windows have one fixed size. Then the window is raised for the
//! streams that wait for the peer, up to half of the budget; beyond that a client takes no further
//! exchange on this connection. On a server a quarter of the budget is the most, because clients choose
//! how many connections they open. A single slow reader gets no larger window, because it would not
//! read sooner.

use crate::credit::WINDOW_MAX;
use crate::exchange::Framing;
use crate::h3::conn::Conn;
use std::time::{Duration, Instant};

/// How it stands with the slow readers of a connection.
#[derive(Debug, Default)]
pub(in crate::h3) struct SlowReaders {
    /// Streams of which the user holds a window full.
    full: u32,
    /// Full streams hold the peer up, and the connection's window cannot be raised further.
    exhausted: bool,
    /// Streams whose readers have not caught up with the transport since they were full.
    behind: u32,
    /// Since when no reader of any stream has caught up, while some are behind.
    slow_since: Option<Instant>,
    /// A reader has caught up since the last grant.
    drained: bool,
    /// The peer was held up while no stream could have used more.
    blocked: bool,
}

impl SlowReaders {
    /// A stream is full now.
    pub(in crate::h3) fn note_full(&mut self) {
        self.full += 1;
    }
    /// A stream left, or its user has read; `was_full`: before.
    pub(in crate::h3) fn note_left(&mut self, was_full: bool) {
        self.full -= u32::from(was_full);
        if self.full == 0 {
            self.exhausted = false;
        }
    }
    /// A stream is full whose reader had caught up before.
    pub(in crate::h3) fn note_behind(&mut self, now: Instant) {
        self.behind += 1;
        self.slow_since.get_or_insert(now);
    }
    /// A stream left those that are behind.
    pub(in crate::h3) fn note_caught_up(&mut self) {
        self.behind -= 1;
        self.slow_since = self.slow_since.filter(|_| self.behind > 0);
    }
    /// A reader has everything that came.
    pub(in crate::h3) fn note_drained(&mut self) {
        self.drained = true;
        self.slow_since = None;
    }
    /// The window was announced.
    pub(in crate::h3) fn note_granted(&mut self) {
        self.drained = false;
    }
    /// Whether a reader has caught up since the window was announced last: then the window may be
    /// what holds the peer up.
    pub(in crate::h3) fn has_drained(&self) -> bool {
        self.drained
    }
    /// Whether no reader has caught up for so long that a wide window is only memory.
    pub(in crate::h3) fn is_slow(&mut self, now: Instant) -> bool {
        if self.behind > 0 {
            self.slow_since.get_or_insert(now);
        }
        let since = |at: Instant| now.saturating_duration_since(at);
        self.slow_since.is_some_and(|at| since(at) >= SLOW)
    }
    /// Whether no exchange should join them.
    pub(in crate::h3) fn is_exhausted(&self) -> bool {
        self.exhausted
    }
}

impl Conn {
    /// Whether bytes wait for a user, so that the transport should look out for a peer that says
    /// that the connection's window holds it up.
    pub fn holds_back(&self) -> bool {
        self.slow.full > 0
    }

    /// Handles the peer's DATA_BLOCKED (RFC 9000 section 19.12). If unread bodies cause it, the
    /// window grows by their size, from half of the budget. A client does so only while other
    /// exchanges are open; a server always, because the head of a client's next request needs room
    /// in this window too, up to
    /// [`Windows::quic_unread_uploads`](crate::limits::Windows::quic_unread_uploads).
    pub fn handle_blocked(&mut self, now: Instant) {
        if !self.closed && self.session.config().windows.auto && self.holds_back() {
            self.widen(now);
        }
    }

    fn widen(&mut self, now: Instant) {
        let windows = &self.session.config().windows;
        if self.session.is_server() {
            let most = windows.quic_unread_uploads();
            let window = self.outstanding();
            if window < most {
                self.raise(now, window.saturating_mul(2).min(most));
            }
            return;
        }
        let half = u32::try_from(windows.memory_budget / 2).unwrap_or(WINDOW_MAX);
        let max = windows.connection.saturating_add(half);
        self.credit.set_max(max);
        self.slow.blocked = !self.has_reader_in_step();
        let window = self.outstanding();
        if self.slow.blocked {
            // A further exchange would get what can still be raised.
            self.slow.exhausted = window >= max || self.session.receive_budget_quarter() == 0;
            return self.note_capacity();
        }
        self.raise(now, window.saturating_mul(2));
        self.slow.exhausted = self.credit.readback().window <= window;
        self.note_capacity();
    }

    /// A stream waits for the peer now, and did not before. A transport says once for each limit that
    /// it holds the peer up: what it said when no stream could have used more counts now, while bodies
    /// of others lie unread. Without them all was read, and the peer has that much again.
    pub(in crate::h3) fn retry_blocked(&mut self, now: Instant) {
        let was_blocked = std::mem::take(&mut self.slow.blocked);
        if was_blocked && self.slow.behind > 0 && !self.closed {
            self.widen(now);
        }
    }

    /// Whether a stream waits for its peer, and not for its reader.
    fn has_reader_in_step(&self) -> bool {
        self.streams.iter().any(|(_, stream)| {
            !stream.received.is_ended() && stream.discarding.is_none() && !stream.is_behind
        })
    }
}

/// Readers that have not caught up for so long are slow; as of HTTP/2's streams.
const SLOW: Duration = Duration::from_secs(1);
