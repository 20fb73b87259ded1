//! Receive windows and the send window. The QUIC transport refunds read bytes of streams and
//! connection itself. The transport's window of a stream is fixed for the connection's life; a larger
//! one that is set here adds bytes that are read ahead of the user. The connection's window is decided here by the rule of HTTP/2's streams ([`Credit`](crate::credit::Credit)): it grows
//! with the bytes that users take and borrows from the shared budget, on a client only while a
//! reader waits for the peer. [`read_room`](Conn::read_room) and the transport's stream window
//! bound a stream's unread bytes.

pub(super) mod blocked_streams;
mod inspect;
mod room;
pub(super) mod send_window;
pub(super) mod slow;

use super::{Conn, Timer};
use crate::credit::{BudgetShare, Readback, WINDOW_MAX, only_grows};
use crate::error::Misuse;
use crate::h3::TransportAction;
use crate::http::{Side, StreamId};
use std::time::Instant;

impl Conn {
    /// Borrows from the budget of all connections of a client or server.
    #[must_use]
    pub fn with_receive_budget(mut self, budget_share: &BudgetShare) -> Self {
        self.session.share_receive_budget(budget_share);
        if self.session.side() == Side::Client {
            self.send_window.borrow_from(budget_share.share());
        }
        self
    }

    /// Server: takes what waits for the client out of a budget that other connections share.
    #[must_use]
    pub fn with_send_budget(mut self, budget_share: &BudgetShare) -> Self {
        self.session.share_send_budget(budget_share);
        self.send_window.borrow_from(budget_share.share());
        self
    }

    /// The transport announces `window` for each stream, where it is not
    /// [`Windows::quic_stream`](crate::limits::Windows::quic_stream).
    #[must_use]
    pub fn with_stream_window(mut self, window: u32) -> Self {
        self.stream_window = window;
        self
    }

    /// The user took `bytes` of the body: the peer gets room for as many.
    pub fn consume(&mut self, now: Instant, stream: StreamId, bytes: usize) {
        let read_window = self.read_window();
        let Some(open) = self.streams.get_mut(stream) else {
            // Unread bytes of a stream that is over were settled with it.
            return;
        };
        let half = open.ahead(read_window) / 2;
        let bytes = open.unread.min(bytes as u64);
        let is_first = open.unread == open.body_bytes && bytes > 0;
        let abuse = self.session.abuse_mut();
        abuse.data_consumed(&mut open.frames, bytes, open.unread);
        open.unread -= bytes;
        if open.unread == 0 {
            open.min_rate.take(now);
        }
        let is_ready = open.is_full && open.unread <= half;
        if is_ready {
            open.is_full = false;
            self.slow.note_left(true);
        }
        let reads_on = is_ready && !open.received.is_ended();
        if is_ready && !reads_on && std::mem::take(&mut open.is_behind) {
            // Nothing more comes for it.
            self.slow.note_caught_up();
        }
        // At most the read window, which is a u32.
        self.credit.take(bytes as u32, now);
        if is_first && self.session.is_server() && self.streams.len() == 1 {
            // A window for an upload that is not read would only be filled.
            self.raise_to_need(now);
        }
        self.grant(now);
        if reads_on {
            self.actions.push(TransportAction::Read { stream });
        }
    }

    /// Lets the window grow or lapse, and sets it in the transport. One of a fixed size does neither; what the transport grants of it is
    /// counted all the same.
    pub(in crate::h3) fn grant(&mut self, now: Instant) {
        let is_client = self.session.side() == Side::Client;
        if is_client && self.slow.is_slow(now) {
            self.credit.rest();
        }
        // A reader that the peer waits for takes as fast as it can, whatever the window is.
        let rtt = self
            .session
            .round_trip()
            .filter(|_| !is_client || self.slow.has_drained());
        let granted = self
            .credit
            .grant(now, rtt, false, self.session.receive_budget());
        if granted.is_some() {
            self.slow.note_granted();
            self.session.path_mut().note(now, self.credit.demand());
        }
        self.report_window();
        if let Some(at) = self.credit.next_deadline().filter(|_| !self.closed) {
            self.timers.set_earlier(Timer::Windows, at);
        }
    }

    /// The first exchange of a client's connection that rested: the window is raised to what the path
    /// has shown to need.
    pub(super) fn raise_rested(&mut self, now: Instant) {
        if self.streams.is_empty() {
            self.raise_to_need(now);
        }
    }

    fn raise_to_need(&mut self, now: Instant) {
        if self.session.config().windows.auto {
            let need = self.session.path().need(now);
            self.raise(now, need);
        }
    }

    /// Raises the window on a guess, by no more than a quarter of what the shared budget has left.
    pub(super) fn raise(&mut self, now: Instant, window: u32) {
        let quarter = self.session.receive_budget_quarter();
        let most = self.outstanding().saturating_add(quarter);
        self.credit
            .raise_to(window.min(most), self.session.receive_budget());
        // The transport announces it.
        let _ = self.credit.announce(now);
        self.report_window();
    }

    /// The bytes beyond those that were read that the peer has sent or may send: more than the window where that
    /// has fallen since, and only a larger one grants a peer that has used them up anything.
    fn outstanding(&self) -> u32 {
        let read = self.credit.readback();
        let granted = u32::try_from(read.granted - read.used).unwrap_or(WINDOW_MAX);
        granted.max(read.window)
    }

    /// The connection's window that the transport announces in its handshake, in bytes.
    pub fn first_window(&self) -> u32 {
        self.session.config().windows.quic_connection()
    }

    fn report_window(&mut self) {
        let window = self.credit.readback().window;
        if std::mem::replace(&mut self.reported_window, window) != window && !self.closed {
            self.actions.push(TransportAction::GrantBytes { window });
        }
    }

    /// Sets the expected size of the body to come (0: unknown), before its head arrives: its window
    /// is raised, as far as the memory budget allows.
    pub fn expect_body(&mut self, now: Instant, stream: StreamId, bytes: u64) {
        if self.session.config().windows.auto && self.streams.get(stream).is_some() {
            self.raise(now, u32::try_from(bytes).unwrap_or(u32::MAX));
        }
    }

    /// Sets a receive window, of a stream or (`None`) of the connection, in bytes: how much the
    /// peer may send that was not read. It only grows; the connection's goes on tuning itself from
    /// there. The memory is the caller's word, beside the memory budget.
    ///
    /// The amount that a peer may have under way on a stream has one size for all of a connection's streams
    /// ([`Windows::quic_stream`](crate::limits::Windows::quic_stream)): the transport announces so
    /// much beyond what was read of it. A window above that is made of what is read ahead of the
    /// user.
    ///
    /// # Errors
    /// [`Misuse::WindowInvalid`] when `window` is smaller than the window is now, or not in
    /// 1..=2^31-1; then nothing changes. [`Misuse::StreamNotOpen`] when the stream is over.
    pub fn set_receive_window(
        &mut self,
        now: Instant,
        stream: Option<StreamId>,
        window: u32,
    ) -> Result<(), Misuse> {
        if self.closed {
            return Err(Misuse::ConnectionClosed);
        }
        if let Some(stream) = stream {
            return self.set_stream_window(stream, window);
        }
        let set = self.credit.set_window(window);
        set.map_err(Misuse::WindowInvalid)?;
        let _ = self.credit.announce(now);
        self.report_window();
        Ok(())
    }

    fn set_stream_window(&mut self, id: StreamId, window: u32) -> Result<(), Misuse> {
        let base = self.stream_window;
        let read_window = self.read_window();
        let open = self.streams.get_mut(id).ok_or(Misuse::StreamNotOpen)?;
        let before = base.saturating_add(open.read_ahead);
        let window = only_grows(before, window).map_err(Misuse::WindowInvalid)?;
        open.read_ahead = window - base;
        if open.is_full && open.unread < open.ahead(read_window) {
            open.is_full = false;
            self.slow.note_left(true);
            if !open.received.is_ended() {
                self.actions.push(TransportAction::Read { stream: id });
            }
        }
        Ok(())
    }

    /// A receive window, of a stream or (`None`) of the connection; `None` when the stream is
    /// over. Bytes of bodies are counted: what frames them is the transport's.
    pub fn receive_window(&self, stream: Option<StreamId>) -> Option<Readback> {
        let Some(stream) = stream else {
            let unread: u64 = self.streams.iter().map(|(_, it)| it.unread).sum();
            let read = self.credit.readback();
            return Some(Readback {
                granted: read.granted + unread,
                used: read.used + unread,
                unread,
                rtt: self.session.round_trip(),
                ..read
            });
        };
        let open = self.streams.get(stream)?;
        let base = self.stream_window;
        Some(Readback {
            granted: open.body_bytes + u64::from(base),
            used: open.body_bytes,
            unread: open.unread,
            window: base.saturating_add(open.read_ahead),
            rtt: self.session.round_trip(),
        })
    }

    /// The transport's congestion window in bytes, whenever it is at hand: as much again may wait
    /// behind what is under way.
    pub fn handle_congestion_window(&mut self, bytes: u64) {
        if !self.closed {
            self.follow_path(bytes);
        }
    }
    pub(super) fn follow_path(&mut self, congestion_window: u64) {
        let window = self.send_window.follow(congestion_window);
        if let Some(bytes) = window.filter(|_| !self.closed) {
            self.actions.push(TransportAction::HoldBytes { bytes });
        }
    }
}
