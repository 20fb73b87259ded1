//! The exchanges of one connection that a callback API answers. Passes the machine's events to the
//! callbacks and applies queued commands in batches, with one note per batch.
//!
//! Invariant: each entry causes one `ended` callback and one `handler_done` of the machine, unless
//! the machine ended first: closed, or left HTTP.

mod timelines;

use super::exchange::CallbackExchange;
use super::exchange_timeline::ConnectionTimelines;
use super::tunnel::CallbackTunnel;
use super::{Callbacks, Command, ConnectionHandle, Ended, Pause, StreamHandle};
use crate::connection_info::ConnectionInfo;
use crate::driver::machine::Machine;
use crate::driver::signals::Signals;
use crate::server::exchange::control::PeerEvent;
use crate::server::exchange::info_policy::InfoPolicy;
use crate::server::exchange::serve::{Exchanging, RawConnection};
use crate::server::exchange::turn::Turn;
use crate::server::response::RequestFacts;
use bytes::Bytes;
use http::StatusCode;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;
use trunkline_core::error::{Closed, H2Code, Misuse};
use trunkline_core::http::{Fields, Refused, RequestHead, Reset, ResetBy, StreamId, Version};

/// The exchanges of one connection.
pub(in crate::server) struct CallbackExchanges<A: Callbacks> {
    pub(in crate::server) callbacks: A,
    /// `None`: not reported yet, closed, or it left HTTP.
    pub(in crate::server) connection: Option<A::Connection>,
    pub(in crate::server) commands: ConnectionHandle,
    signals: Arc<Signals>,
    /// The peer's broken rule, or the failure of the transport, was reported.
    pub(super) is_broken: bool,
    /// The handshake is not done: requests that come now are early data.
    early: bool,
    /// Empty between two turns; its memory is used again.
    pending: Vec<Command>,
    /// Indexed by slot; no stream when the slot is free.
    streams: Vec<StreamId>,
    pub(in crate::server) entries: Vec<Option<CallbackExchange<A>>>,
    free: Vec<u32>,
    /// The timelines of its exchanges, if the server has any.
    timelines: Option<Box<ConnectionTimelines>>,
    /// Signalled when bytes of a request were taken.
    pub(in crate::server) taken: Rc<Notify>,
}

/// No stream has this number: HTTP/2 and HTTP/3 end far below, HTTP/1.1 never gets there.
const NO_STREAM: StreamId = StreamId(u64::MAX);

impl<A: Callbacks> Exchanging for CallbackExchanges<A> {
    type Pause = Pause;

    fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
    fn set_early(&mut self, early: bool) {
        self.early = early;
    }
    fn pause(&self) -> Option<Pause> {
        self.callbacks.pause().or_else(|| self.held_back())
    }
    fn accepted(&mut self, info: Option<&ConnectionInfo>, info_policy: &InfoPolicy) {
        self.commands.0.is_starting.set(true);
        let info = info.filter(|_| info_policy.info);
        self.connection = self.callbacks.accepted(self.commands.clone(), info);
    }
    fn connected(&mut self, info: Option<ConnectionInfo>, version: Version, policy: &InfoPolicy) {
        self.commands.0.version.set(version);
        self.commands.0.is_starting.set(false);
        self.timelines = policy
            .timelines
            .as_ref()
            .zip(info.as_ref())
            .map(|(keeper, info)| {
                Box::new(ConnectionTimelines::new(
                    keeper.clone(),
                    info.clone(),
                    version,
                ))
            });
        if let Some(connection) = &self.connection {
            return self.callbacks.identified(connection, version);
        }
        let info = info.as_ref().filter(|_| policy.info);
        let connection = self
            .callbacks
            .connected(self.commands.clone(), version, info);
        self.connection = Some(connection);
    }
    fn start(&mut self, turn: &mut Turn<'_>, stream: StreamId, head: RequestHead, end: bool) {
        let slot = self.slot();
        let Some(connection) = &self.connection else {
            self.give_back(slot);
            debug_assert!(false, "a request comes between the connection's two ends");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            return self.reject(turn, stream, head, status);
        };
        let facts = RequestFacts {
            stream,
            head: head.method() == b"HEAD",
            connect: head.method() == b"CONNECT",
        };
        let handle = StreamHandle {
            slot,
            facts,
            early: self.early,
            http10: turn.machine.is_http10(stream),
        };
        let upgrade_head = turn.machine.upgrade_head();
        if !upgrade_head.is_empty() {
            self.callbacks.upgrade_head(connection, upgrade_head);
        }
        let exchange = self.callbacks.requested(connection, handle, &head, end);
        let mut entry = CallbackExchange::new(handle, exchange, (end, turn.now));
        entry.timeline = self
            .timelines
            .as_ref()
            .and_then(|timelines| timelines.begin(&head));
        turn.machine.recycle_head(head);
        self.put(entry);
    }
    fn note_waits(&mut self, machine: &Machine, now: Instant) {
        self.note_reasons(machine, now);
    }
    fn resume(&mut self, turn: &mut Turn<'_>, _: u32) {
        let mut pending = std::mem::take(&mut self.pending);
        std::mem::swap(&mut pending, &mut self.commands.0.list.borrow_mut());
        for cmd in pending.drain(..) {
            self.run(turn, cmd);
        }
        self.pending = pending;
    }
    fn resume_stream(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        if let Some(slot) = self.of(stream) {
            self.update(turn, slot, |entry, turn| entry.pump(turn));
        }
    }
    fn receive(&mut self, turn: &mut Turn<'_>, stream: StreamId, data: Bytes, end: bool) {
        let Some(slot) = self.of(stream) else {
            if !data.is_empty() {
                turn.machine.consume(turn.now, stream, data.len());
            }
            return;
        };
        if let Some(Some(entry)) = self.entries.get_mut(slot) {
            entry.unread += data.len();
            entry.received |= end;
            self.callbacks.body(&entry.exchange, data, end);
        }
        self.close_exchange(turn, slot);
    }
    fn receive_trailers(&mut self, turn: &mut Turn<'_>, stream: StreamId, trailers: &Fields) {
        let Some(slot) = self.of(stream) else {
            return;
        };
        if let Some(Some(entry)) = self.entries.get_mut(slot) {
            entry.received = true;
            self.callbacks.trailers(&entry.exchange, trailers);
        }
        self.close_exchange(turn, slot);
    }
    fn cancel(&mut self, turn: &mut Turn<'_>, stream: StreamId, reset: Reset) {
        if let ResetBy::Connection(Closed::ByUs(violation)) = reset.by {
            self.report_broken(violation);
        }
        if let Some(slot) = self.of(stream) {
            let (code, by_peer) = match reset.by {
                ResetBy::Us(violation) | ResetBy::Connection(Closed::ByUs(violation)) => {
                    (violation.h2_code(), false)
                }
                ResetBy::Peer(code) => (code, true),
                ResetBy::Connection(_) | ResetBy::EarlyDataRejected => (H2Code::CANCEL, true),
            };
            self.end(turn, slot, Ended::Reset { code, by_peer });
        }
    }
    fn half_close(&mut self) {
        for entry in self.entries.iter().flatten() {
            self.callbacks.half_closed(&entry.exchange);
        }
    }
    fn take_control(&mut self, received: PeerEvent) {
        if let Some(connection) = &self.connection {
            self.callbacks.received(connection, received);
        }
    }
    fn fail(&mut self, error: &io::Error) {
        self.report_failed(error);
    }
    fn close(&mut self, closed: Closed, _: Instant) {
        if let Closed::ByUs(violation) = closed {
            self.report_broken(violation);
        }
        self.cut_all();
    }
    fn refuse(&mut self, stream: StreamId, refused: Refused) {
        self.hand_over(stream, &refused);
    }
    fn leave(&mut self, left: RawConnection) {
        let Some(slot) = self.of(left.stream) else {
            return;
        };
        if let Some(entry) = self.entries[slot].take() {
            self.streams[slot] = NO_STREAM;
            self.free.push(slot as u32);
            let (callbacks, commands) = (self.callbacks.clone(), self.commands.clone());
            let (connection, signals) = (self.connection.take(), Arc::clone(&self.signals));
            let tunnel = CallbackTunnel::new(callbacks, connection, entry, left, commands, signals);
            tokio::task::spawn_local(tunnel);
        }
    }
    fn release(&mut self) {
        if self.len() == 0 {
            (self.pending, self.streams) = (Vec::new(), Vec::new());
            (self.entries, self.free) = (Vec::new(), Vec::new());
        }
    }
}

impl<A: Callbacks> CallbackExchanges<A> {
    pub(in crate::server) fn new(
        callbacks: A,
        commands: ConnectionHandle,
        signals: &Arc<Signals>,
    ) -> Self {
        Self {
            callbacks,
            connection: None,
            commands,
            signals: Arc::clone(signals),
            is_broken: false,
            early: false,
            pending: Vec::new(),
            streams: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
            timelines: None,
            taken: Rc::default(),
        }
    }
    /// Ends all exchanges of the connection.
    fn cut_all(&mut self) {
        for slot in 0..self.entries.len() {
            self.cut(slot);
        }
        if let Some(connection) = self.connection.take() {
            self.commands.close();
            self.callbacks.disconnected(connection);
        }
    }
    fn of(&self, stream: StreamId) -> Option<usize> {
        self.streams.iter().position(|&at| at == stream)
    }
    /// A slot that is free.
    pub(in crate::server) fn slot(&mut self) -> u32 {
        self.free.pop().unwrap_or(self.entries.len() as u32)
    }
    /// Gives back what `slot` gave.
    pub(in crate::server) fn give_back(&mut self, slot: u32) {
        if (slot as usize) < self.entries.len() {
            self.free.push(slot);
        }
    }
    /// Puts an entry where its place says.
    pub(super) fn put(&mut self, entry: CallbackExchange<A>) {
        let (slot, stream) = (entry.handle.slot as usize, entry.handle.stream());
        if slot == self.entries.len() {
            self.entries.push(Some(entry));
            self.streams.push(stream);
        } else {
            self.entries[slot] = Some(entry);
            self.streams[slot] = stream;
        }
    }
    /// The slot of a place whose exchange is still open.
    fn open(&self, handle: StreamHandle) -> Option<usize> {
        let slot = handle.slot as usize;
        (self.streams.get(slot) == Some(&handle.stream())).then_some(slot)
    }

    fn run(&mut self, turn: &mut Turn<'_>, cmd: Command) {
        if let Command::Snapshot(callback) = cmd {
            if let Some(conn) = turn.machine.h2() {
                callback(conn.accounts());
            }
            return;
        }
        let handle = match &cmd {
            Command::ShutDown => return turn.machine.shut_down(turn.now),
            Command::Abort(code) => {
                for entry in self.entries.iter_mut().flatten() {
                    entry.give_all(turn);
                }
                return turn.machine.abort_behind_bodies(turn.now, *code);
            }
            Command::Snapshot(_) => return,
            Command::Control(control) => return control.carry_out(turn.machine, turn.now),
            Command::Answer { handle, .. }
            | Command::Informational(handle, _)
            | Command::Send(handle, ..)
            | Command::Finish(handle, _)
            | Command::Reset(handle, _)
            | Command::Take(handle, _)
            | Command::Decline(handle) => *handle,
        };
        let Some(slot) = self.open(handle) else {
            return;
        };
        if let Command::Reset(_, code) = cmd {
            let entry = self.entries.get_mut(slot).and_then(Option::as_mut);
            if entry.is_some_and(|entry| entry.reset(turn, code)) {
                let by_peer = false;
                self.end(turn, slot, Ended::Reset { code, by_peer });
            }
            return;
        }
        let taken = Rc::clone(&self.taken);
        self.update(turn, slot, |entry, turn| match cmd {
            Command::Answer {
                head, body, quiet, ..
            } => {
                let head = head.map_err(Misuse::Invalid)?;
                entry.quiet = quiet;
                entry.answer(turn, &head, body)
            }
            Command::Informational(_, head) => {
                // One that comes too late, or to HTTP/1.0, is not sent; the answer counts.
                let _ = turn.machine.send_interim(turn.now, handle.stream(), &head);
                Ok(0)
            }
            Command::Send(_, data, end) => entry.send(turn, data, end),
            Command::Finish(_, trailers) => entry.finish(turn, trailers),
            Command::Take(_, bytes) => {
                entry.unread = entry.unread.saturating_sub(bytes);
                turn.machine.consume(turn.now, handle.stream(), bytes);
                taken.notify_waiters();
                Ok(0)
            }
            Command::Decline(_) => {
                entry.declined = true;
                Ok(0)
            }
            Command::Reset(..)
            | Command::ShutDown
            | Command::Abort(_)
            | Command::Control(_)
            | Command::Snapshot(_) => Ok(0),
        });
    }
    /// Does something to an entry, and what follows from it. `work` says how many bytes the machine
    /// took that were sent piece by piece.
    fn update(
        &mut self,
        turn: &mut Turn<'_>,
        slot: usize,
        work: impl FnOnce(&mut CallbackExchange<A>, &mut Turn<'_>) -> Result<usize, Misuse>,
    ) {
        let Some(Some(entry)) = self.entries.get_mut(slot) else {
            return;
        };
        match work(entry, turn) {
            Ok(taken) => {
                if taken > 0 {
                    self.callbacks.room(&entry.exchange, taken);
                }
                self.close_exchange(turn, slot);
            }
            Err(misuse) => {
                if entry.fail(turn, misuse) {
                    let (code, by_peer) = (H2Code::INTERNAL_ERROR, false);
                    self.end(turn, slot, Ended::Reset { code, by_peer });
                }
            }
        }
    }
    /// Ends an exchange that both sides have ended.
    fn close_exchange(&mut self, turn: &mut Turn<'_>, slot: usize) {
        let Some(Some(entry)) = self.entries.get(slot) else {
            return;
        };
        if entry.is_over() {
            let how = match entry.quiet {
                true => Ended::Quiet,
                false => Ended::Whole,
            };
            entry.stop_request(turn);
            self.end(turn, slot, how);
        }
    }
    fn end(&mut self, turn: &mut Turn<'_>, slot: usize, how: Ended) {
        let Some(entry) = self.entries.get_mut(slot).and_then(Option::take) else {
            return;
        };
        self.streams[slot] = NO_STREAM;
        self.free.push(slot as u32);
        let stream = entry.handle.stream();
        if entry.unread > 0 {
            // Returns the unread bytes to the connection's window, because the body has no reader
            // any more.
            turn.machine.consume(turn.now, stream, entry.unread);
            // A pause until some are taken is over, too.
            self.taken.notify_waiters();
        }
        turn.count_end(entry.began);
        turn.machine.handler_done(turn.now, stream);
        self.note_timeline(&entry, turn.now, &how);
        self.callbacks.ended(entry.exchange, how);
    }
    /// The machine is gone or has ended everything, so exchanges without an end event end here. A
    /// whole exchange stays whole: its reader has all received bytes.
    fn cut(&mut self, slot: usize) {
        if let Some(entry) = self.entries.get_mut(slot).and_then(Option::take) {
            self.streams[slot] = NO_STREAM;
            self.free.push(slot as u32);
            let (code, by_peer) = (H2Code::CANCEL, true);
            let how = match entry.is_whole() {
                true => Ended::Whole,
                false => Ended::Reset { code, by_peer },
            };
            self.note_timeline(&entry, Instant::now(), &how);
            self.callbacks.ended(entry.exchange, how);
        }
    }
}

impl<A: Callbacks> Drop for CallbackExchanges<A> {
    fn drop(&mut self) {
        self.cut_all();
    }
}
