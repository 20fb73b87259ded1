//! The task of one client connection: transport and machine, the exchanges on it, and the turn that
//! serves them.
//!
//! A turn reads all available bytes, handles the events, reports capacity to the pool once, starts
//! the requests that the pool assigns, and writes once. Only this task touches the machine; other
//! tasks leave notes.

use super::connect::socket::AskSystem;
use super::dispatch::{Dispatch, INBOX, TaskHandle};
use super::exchange::Outgoing;
use super::listener::connection::EndReport;
use super::listener::connection_use::ConnectionUse;
use super::settings::Settings;
use crate::driver::connection_io::ConnectionIo;
use crate::driver::machine::inspection::listed_target;
use crate::driver::signals::{Notes, Stop};
use crate::error::{Error, ErrorKind, Fault, Retry};
use deadlines::Deadlines;
use entry::{EntrySlots, Upload};
use health::HEALTH;
use send::UNFLUSHED;
use start::{HeldHeads, Unsettled};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Id;
use trunkline_core::error::{Closed, H2Code};
use trunkline_core::pool::{Capacity, ConnectionId, Health, Origin, Standing};
use tunnel::ClientTunnel;

mod datagrams;
mod deadlines;
mod early;
mod end;
mod entry;
mod health;
mod receiver;
mod recv;
mod repeat;
mod send;
mod start;
mod tunnel;

/// Reads of one turn: a fast peer must not keep the task from writing.
const READS_MAX: usize = 8;
/// Turns of one poll: a busy connection must not keep its thread from others.
const TURNS_MAX: usize = 4;

/// The future that runs a connection to its end.
pub(super) struct ConnectionTask<S> {
    io: ConnectionIo<S>,
    /// The connection's part of each response's extensions.
    used: ConnectionUse,
    id: ConnectionId,
    handle: Arc<TaskHandle>,
    dispatch: Weak<Dispatch>,
    settings: Arc<Settings>,
    notes: Option<Box<Notes>>,
    #[allow(
        clippy::vec_box,
        reason = "requests move by pointer from line to inbox to slot"
    )]
    arrivals: Vec<Box<Outgoing>>,
    slots: EntrySlots,
    /// Slots whose response head waits for the end of the turn: a body that comes with it is
    /// handed over whole.
    heads: Vec<u32>,
    deadlines: Deadlines,
    taken: u64,
    draining: bool,
    /// It ends because it carried nothing for its idle time.
    idled: bool,
    /// A request on it was given up, which costs a connection of HTTP/1.1.
    gave_up: bool,
    /// It has brought a response.
    answered: bool,
    health: Health,
    /// The deadline of the peer's silence that is set.
    watched_until: Option<Instant>,
    /// Reads the kernel's acknowledgement state of the socket, where available.
    ask_system: Option<AskSystem<S>>,
    /// It got requests before its handshake was done, and is not known to be alive.
    was_early: bool,
    /// Its peer was given up: why.
    given_up: Option<&'static str>,
    /// The runtime of its task.
    runtime: Option<Id>,
    /// A response was handed over in this turn.
    has_completed: bool,
    /// It was looked at before a request goes onto a connection that rested.
    looked: bool,
    stop: Option<Stop>,
    round_trip: Option<Duration>,
    bdp_bytes: u32,
    reported: Capacity,
    /// The pool knows that it is gone.
    left: bool,
    /// It speaks HTTP no longer.
    tunnel: Option<ClientTunnel>,
    /// Why it ended, if the machine has said so.
    ended: Option<Closed>,
    /// The listener to notify of the connection's end.
    end_report: Option<EndReport>,
    /// Requests that wait for the peer's settings, which must allow them.
    unsettled: Vec<Unsettled>,
    /// Requests whose head waits for the first piece of their body, and those behind them.
    held: HeldHeads,
    /// How long the peer has said that it waits, in seconds.
    keep_alive_seconds: Option<u32>,
    /// The origin of a race with TCP that QUIC has won if its handshake gets done.
    raced: Option<Origin>,
    /// The largest datagram, bytes, as last reported to the exchanges.
    datagram_size: Option<usize>,
}

impl<S> ConnectionTask<S> {
    pub(super) fn new(
        io: ConnectionIo<S>,
        used: ConnectionUse,
        id: ConnectionId,
        handle: Arc<TaskHandle>,
        dispatch: Weak<Dispatch>,
        settings: Arc<Settings>,
        reported: Capacity,
    ) -> Self {
        Self {
            io,
            used,
            id,
            handle,
            dispatch,
            settings,
            notes: None,
            arrivals: Vec::new(),
            slots: EntrySlots::default(),
            heads: Vec::new(),
            deadlines: Deadlines::default(),
            taken: 0,
            draining: false,
            idled: false,
            gave_up: false,
            answered: false,
            health: Health::new(Instant::now()),
            watched_until: None,
            ask_system: None,
            was_early: false,
            given_up: None,
            runtime: None,
            has_completed: false,
            looked: false,
            stop: None,
            round_trip: None,
            bdp_bytes: 0,
            reported,
            left: false,
            tunnel: None,
            ended: None,
            end_report: None,
            unsettled: Vec::new(),
            held: HeldHeads::new(),
            keep_alive_seconds: None,
            raced: None,
            datagram_size: None,
        }
    }

    /// Sets the listener to notify of the connection's end.
    pub(super) fn with_end_report(mut self, end_report: Option<EndReport>) -> Self {
        self.end_report = end_report;
        self
    }

    /// Sets the function that reads the kernel's acknowledgement state of the socket.
    pub(super) fn asking_system(mut self, ask: AskSystem<S>) -> Self {
        self.ask_system = Some(ask);
        self
    }

    /// Marks a connection whose handshake is not done; its capacity is reported once it is.
    pub(super) fn begun_early(mut self, is_early: bool) -> Self {
        self.was_early = is_early;
        self
    }

    /// Makes the connection report whether QUIC has won the race with TCP, once known.
    pub(super) fn with_race(mut self, raced: Option<Origin>) -> Self {
        self.raced = raced;
        self
    }

    /// Reports the end of the connection to the pool, and returns the requests that it never took.
    fn leave(&mut self) {
        if std::mem::replace(&mut self.left, true) {
            return;
        }
        if let Some(end_report) = self.end_report.take() {
            end_report.report(&self.why_it_ended());
        }
        let Some(dispatch) = self.dispatch.upgrade() else {
            return;
        };
        dispatch.closed(self.id);
        self.handle.take(&mut self.arrivals);
        let unsettled = self.unsettled.drain(..).map(Unsettled::go);
        self.arrivals.extend(unsettled.flatten());
        let held = self.take_held();
        self.arrivals.extend(held);
        let now = Instant::now();
        for request in std::mem::take(&mut self.arrivals) {
            dispatch.resubmit(now, request, self.id, self.ended_unused());
        }
    }
}

impl<S> Drop for ConnectionTask<S> {
    fn drop(&mut self) {
        self.leave();
        self.lose_all();
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Future for ConnectionTask<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        for _ in 0..TURNS_MAX {
            if this.tunnel.is_some() {
                return this.poll_tunnel(cx);
            }
            let more = this.turn(cx);
            if this.tunnel.is_some() {
                continue;
            }
            if this.io.is_done(Instant::now()) {
                this.leave();
                return this.io.poll_shutdown(cx, Instant::now());
            }
            if !more && this.handle.signals.end_turn(cx.waker()) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// One turn. True: there may be more to read, or to write.
    fn turn(&mut self, cx: &mut Context<'_>) -> bool {
        let now = Instant::now();
        self.apply_notes(now);
        self.read_first(cx, now);
        if self.io.is_alarm_due(now) {
            self.io.poll_alarm(cx);
        }
        let mut read = Poll::Ready(true);
        for _ in 0..READS_MAX {
            read = self.io.poll_read(cx, now);
            self.take_events(now);
            if read != Poll::Ready(true) {
                break;
            }
        }
        if self.io.read_at() == Some(now) {
            self.health.handle_bytes(now);
            self.looked = false;
        }
        let has_expired = self.io.expire_due(now);
        if has_expired {
            self.take_events(now);
        }
        self.expire(now);
        self.sweep_unsettled(now);
        self.hand_over_heads();
        self.hand_over_datagrams();
        self.report(now);
        if !self.looks_first(cx, now) {
            self.take_arrivals(now);
            self.apply_stop(now);
        }
        let written = self.io.poll_write(cx, now);
        let has_left = self.drop_flushed(now);
        // Writing may have made room for waiting bodies, whose new bytes are not written yet; no
        // other event wakes the task for them.
        let pumped = self.take_events(now) && written.is_ready();
        self.hand_over_heads();
        self.watch_unasked();
        self.watch_answers(now);
        self.deadlines.poll_arm(cx, now);
        has_expired || has_left || pumped || self.io.reads_on(read) || !self.rest(cx, now)
    }

    /// The task is about to sleep: memory that an idle connection does not need goes back, and the
    /// timer is armed. False: a deadline has passed.
    fn rest(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        // A request may have come since the link found nothing open: its deadlines are needed.
        if self.io.rest(now) && self.slots.len() == 0 && self.held.is_empty() {
            self.slots.release();
            self.deadlines.release(|slot| slot >= UNFLUSHED);
            (self.arrivals, self.heads) = (Vec::new(), Vec::new());
        }
        self.io.poll_timer(cx, now).is_pending()
    }

    /// Handles the notes that users and the pool left since the last turn.
    fn apply_notes(&mut self, now: Instant) {
        self.handle.signals.begin_turn(&mut self.notes);
        let Some(mut notes) = self.notes.take() else {
            return;
        };
        for inspection in notes.inspections.drain(..) {
            let slots = &self.slots;
            inspection.answer(&self.io.machine, now, |stream| {
                let entry = slots.get(slots.of_stream(stream)?)?;
                entry.request.head.path().map(listed_target)
            });
        }
        for &(stream, bytes) in &notes.taken {
            self.io.machine.consume(now, stream, bytes);
            self.note_taken(stream, bytes);
        }
        for ask in notes.windows.drain(..) {
            ask.carry_out(&mut self.io.machine, now);
        }
        for &stream in &notes.datagrams {
            self.send_datagrams(stream);
        }
        for &stream in &notes.dropped {
            if let Some(slot) = self.slots.of_stream(stream) {
                self.cancel(now, slot);
            }
        }
        for &slot in &notes.ready {
            if slot != INBOX {
                self.apply(now, slot);
            }
        }
        if notes.network_changed {
            self.handle_network_change(now);
        }
        if let Some(even_if_recent) = notes.probed {
            self.handle_other_suspect(now, even_if_recent);
        }
        if let Some(answer_time) = notes.outlived {
            let checkup = self.health.handle_outlived(now, answer_time);
            self.carry_out(now, checkup);
        }
        self.stop = self.stop.max(notes.stop);
        notes.clear();
        self.notes = Some(notes);
    }

    /// The user gave an exchange up, or its upload can go on.
    fn apply(&mut self, now: Instant, slot: u32) {
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        let can_be_dropped = entry.is_unanswered() || entry.has_listener;
        if can_be_dropped && entry.request.exchange.is_abandoned() {
            self.give_up(now, slot);
        } else {
            self.pump(now, slot);
        }
    }

    /// Ends an exchange whose user has dropped it.
    fn cancel(&mut self, now: Instant, slot: u32) {
        if let Some(entry) = self.slots.remove(slot) {
            self.gave_up = true;
            let code = entry.request.exchange.reset_code();
            self.io.machine.reset(now, entry.stream, code);
        }
    }

    /// Reports changes to the pool. Requests that only moved from "on their way" to "active" change
    /// nothing.
    fn report(&mut self, now: Instant) {
        let machine = &self.io.machine;
        let held = self.held.len() as u32;
        let (free, active) = (
            machine.capacity().saturating_sub(held),
            machine.active() + held,
        );
        let report = Capacity {
            free,
            active,
            taken: self.taken,
            limit_known: machine.is_limit_known(),
            standing: match self.draining {
                true => Standing::Draining,
                false if self.health.is_suspect() => Standing::Suspect {
                    since: self.health.unanswered_since(),
                },
                false => Standing::Open,
            },
        };
        let round_trip = machine.round_trip();
        if round_trip != self.round_trip && !self.left {
            self.round_trip = round_trip;
            if let (Some(dispatch), Some(time)) = (self.dispatch.upgrade(), round_trip) {
                dispatch.note_round_trip(self.id, time);
            }
        }
        let bdp_bytes = machine.bdp_bytes(now);
        let needs_more = bdp_bytes > std::mem::replace(&mut self.bdp_bytes, bdp_bytes);
        if self.left || !(needs_more || is_change(&self.reported, &report)) {
            return;
        }
        self.reported = report;
        if let Some(dispatch) = self.dispatch.upgrade() {
            dispatch.report(now, self.id, report, bdp_bytes);
        }
    }

    /// Fails the exchanges whose time is up.
    fn expire(&mut self, now: Instant) {
        while let Some((slot, serial)) = self.deadlines.pop_due(now) {
            if slot == HEALTH {
                self.judge_silence(now);
                continue;
            }
            let entry = self.slots.get(slot);
            let Some(entry) = entry.filter(|entry| entry.serial == serial) else {
                continue;
            };
            if matches!(entry.upload, Upload::Deferred(until) if until <= now) {
                self.send_deferred(now, slot);
            }
            let Some(entry) = self.slots.get_mut(slot) else {
                continue;
            };
            entry.note_slow_reader(now);
            entry.note_slow_source(now);
            let Some(due) = entry.due() else {
                continue;
            };
            if due > now {
                self.deadlines.push(due, slot, serial);
                continue;
            }
            let text = entry.lateness(now);
            let is_phase = entry.request.total_until.is_none_or(|at| at > now);
            let error = Error::new(ErrorKind::Timeout, Fault::Peer, Retry::OnlyIfIdempotent);
            self.hand_over_head(slot);
            if let Some(mut entry) = self.slots.remove(slot) {
                entry.note_wait(now, &self.io.machine);
                self.io.machine.reset(now, entry.stream, H2Code::CANCEL);
                entry.fail(self.id, &self.settings.counts, error.with_text(text));
            }
            if is_phase {
                self.note_stream_timeout(now);
            }
        }
    }
}

/// Whether the pool would decide otherwise after `new`.
fn is_change(old: &Capacity, new: &Capacity) -> bool {
    let room = |c: &Capacity| u64::from(c.free) + c.taken;
    let load = |c: &Capacity| i128::from(c.active) - i128::from(c.taken);
    let same = room(old) == room(new)
        && load(old) == load(new)
        && old.limit_known == new.limit_known
        && old.standing == new.standing;
    !same
}

#[cfg(test)]
#[path = "connection_test.rs"]
mod connection_test;
