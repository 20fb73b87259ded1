//! The exchanges of one connection that a callback API answers. Passes the machine's events to the
//! callbacks and applies queued commands in batches, with one note per batch.
//!
//! Invariant: each entry causes one `ended` callback and one `handler_done` of the machine, unless
//! the machine ended first: closed, or left HTTP.

use super::accept::Shown;
use super::attendant::{Attendant, Ended, Line, Order, Pause, Place};
use super::attended_entry::Entry;
use super::attended_tunnel::Tunnel;
use super::respond::{Asked, Extra};
use super::said::Heard;
use super::scratch::Scratch;
use super::serve::{Exchanging, Left};
use crate::connection_info::ConnectionInfo;
use crate::driver::machine::Machine;
use crate::driver::signals::Signals;
use bytes::Bytes;
use http::StatusCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;
use trunkline_core::error::{Closed, H2Code, Misuse};
use trunkline_core::http::{Fields, Refused, RequestHead, Reset, ResetBy, StreamId, Version};

/// The exchanges of one connection.
pub(super) struct Exchanges<A: Attendant> {
    pub(super) attendant: A,
    /// `None`: not reported yet, closed, or it left HTTP.
    pub(super) connection: Option<A::Connection>,
    pub(super) line: Line,
    signals: Arc<Signals>,
    extra: Arc<Extra>,
    /// The peer's broken rule was reported.
    pub(super) is_broken: bool,
    /// The handshake is not done: requests that come now are early data.
    early: bool,
    /// Empty between two turns; its memory is used again.
    orders: Vec<Order>,
    /// Indexed by slot; no stream when the slot is free.
    streams: Vec<StreamId>,
    pub(super) entries: Vec<Option<Entry<A>>>,
    free: Vec<u32>,
    /// Signalled when bytes of a request were taken.
    pub(super) taken: Rc<Notify>,
}

/// No stream has this number: HTTP/2 and HTTP/3 end far below, HTTP/1.1 never gets there.
const NOBODYS: StreamId = StreamId(u64::MAX);

impl<A: Attendant> Exchanging for Exchanges<A> {
    fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
    fn set_early(&mut self, early: bool) {
        self.early = early;
    }
    fn pause(&self) -> Option<Pause> {
        self.attendant.pause().or_else(|| self.held_back())
    }
    fn meet(&mut self, info: Option<&ConnectionInfo>, shown: &Shown) {
        self.line.0.is_starting.set(true);
        let info = info.filter(|_| shown.info);
        self.connection = self.attendant.accepted(self.line.clone(), info);
    }
    fn show(&mut self, info: Option<ConnectionInfo>, version: Version, shown: &Shown) {
        self.line.0.version.set(version);
        self.line.0.is_starting.set(false);
        if let Some(connection) = &self.connection {
            return self.attendant.identified(connection, version);
        }
        let info = info.as_ref().filter(|_| shown.info);
        let connection = self.attendant.connected(self.line.clone(), version, info);
        self.connection = Some(connection);
    }
    fn start(
        &mut self,
        scratch: &mut Scratch,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
        head: RequestHead,
        end: bool,
    ) {
        let slot = self.slot();
        let Some(connection) = &self.connection else {
            self.give_back(slot);
            debug_assert!(false, "a request comes between the connection's two ends");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            return self.turn_away(scratch, machine, now, stream, head, status);
        };
        let asked = Asked {
            stream,
            head: head.method() == b"HEAD",
            connect: head.method() == b"CONNECT",
        };
        let place = Place {
            slot,
            asked,
            early: self.early,
            http10: machine.is_http10(stream),
        };
        let exchange = self.attendant.requested(connection, place, &head, end);
        machine.recycle_head(head);
        self.put(Entry::new(place, exchange, end));
    }
    fn extra(&self) -> &Extra {
        &self.extra
    }
    fn resume(&mut self, scratch: &mut Scratch, machine: &mut Machine, now: Instant, _: u32) {
        let mut orders = std::mem::take(&mut self.orders);
        std::mem::swap(&mut orders, &mut self.line.0.list.borrow_mut());
        for order in orders.drain(..) {
            self.obey(scratch, machine, now, order);
        }
        self.orders = orders;
    }
    fn resume_stream(
        &mut self,
        scratch: &mut Scratch,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
    ) {
        if let Some(slot) = self.of(stream) {
            self.with_entry(scratch, machine, now, slot, |entry, machine| {
                entry.pump(machine, now)
            });
        }
    }
    fn receive(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) {
        let Some(slot) = self.of(stream) else {
            if !data.is_empty() {
                machine.consume(now, stream, data.len());
            }
            return;
        };
        if let Some(Some(entry)) = self.entries.get_mut(slot) {
            entry.unread += data.len();
            entry.received |= end;
            self.attendant.body(&entry.exchange, data, end);
        }
        self.settle(machine, now, slot);
    }
    fn receive_trailers(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
        trailers: &Fields,
    ) {
        let Some(slot) = self.of(stream) else {
            return;
        };
        if let Some(Some(entry)) = self.entries.get_mut(slot) {
            entry.received = true;
            self.attendant.trailers(&entry.exchange, trailers);
        }
        self.settle(machine, now, slot);
    }
    fn cancel(&mut self, machine: &mut Machine, now: Instant, stream: StreamId, reset: Reset) {
        if let ResetBy::Connection(Closed::ByUs(violation)) = reset.by {
            self.tell_broken(violation);
        }
        if let Some(slot) = self.of(stream) {
            let (code, by_peer) = match reset.by {
                ResetBy::Us(violation) => (violation.h2_code(), false),
                ResetBy::Peer(code) => (code, true),
                ResetBy::Connection(_) | ResetBy::EarlyDataRejected => (H2Code::CANCEL, true),
            };
            self.end(machine, now, slot, Ended::Reset { code, by_peer });
        }
    }
    fn half_close(&mut self) {
        for entry in self.entries.iter().flatten() {
            self.attendant.half_closed(&entry.exchange);
        }
    }
    fn hear(&mut self, heard: Heard) {
        if let Some(connection) = &self.connection {
            self.attendant.heard(connection, heard);
        }
    }
    fn close(&mut self, closed: Closed, _: Instant) {
        if let Closed::ByUs(violation) = closed {
            self.tell_broken(violation);
        }
        self.cut_all();
    }
    fn refuse(&mut self, stream: StreamId, refused: Refused) {
        self.hand_over(stream, &refused);
    }
    fn leave(&mut self, left: Left) {
        let Some(slot) = self.of(left.stream) else {
            return;
        };
        if let Some(entry) = self.entries[slot].take() {
            self.streams[slot] = NOBODYS;
            self.free.push(slot as u32);
            let (attendant, line) = (self.attendant.clone(), self.line.clone());
            let (connection, signals) = (self.connection.take(), Arc::clone(&self.signals));
            let tunnel = Tunnel::new(attendant, connection, entry, left, line, signals);
            tokio::task::spawn_local(tunnel);
        }
    }
    fn release(&mut self) {
        if self.len() == 0 {
            (self.orders, self.streams) = (Vec::new(), Vec::new());
            (self.entries, self.free) = (Vec::new(), Vec::new());
        }
    }
}

impl<A: Attendant> Exchanges<A> {
    pub(super) fn new(
        attendant: A,
        line: Line,
        signals: &Arc<Signals>,
        extra: &Arc<Extra>,
    ) -> Self {
        Self {
            attendant,
            connection: None,
            line,
            signals: Arc::clone(signals),
            extra: Arc::clone(extra),
            is_broken: false,
            early: false,
            orders: Vec::new(),
            streams: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
            taken: Rc::default(),
        }
    }
    /// Ends all exchanges of the connection.
    fn cut_all(&mut self) {
        for slot in 0..self.entries.len() {
            self.cut(slot);
        }
        if let Some(connection) = self.connection.take() {
            self.line.close();
            self.attendant.disconnected(connection);
        }
    }
    fn of(&self, stream: StreamId) -> Option<usize> {
        self.streams.iter().position(|&at| at == stream)
    }
    /// A slot that is free.
    pub(super) fn slot(&mut self) -> u32 {
        self.free.pop().unwrap_or(self.entries.len() as u32)
    }
    /// Gives back what `slot` gave.
    pub(super) fn give_back(&mut self, slot: u32) {
        if (slot as usize) < self.entries.len() {
            self.free.push(slot);
        }
    }
    /// Puts an entry where its place says.
    pub(super) fn put(&mut self, entry: Entry<A>) {
        let (slot, stream) = (entry.place.slot as usize, entry.place.stream());
        if slot == self.entries.len() {
            self.entries.push(Some(entry));
            self.streams.push(stream);
        } else {
            self.entries[slot] = Some(entry);
            self.streams[slot] = stream;
        }
    }
    /// The slot of a place whose exchange is still open.
    fn open(&self, place: Place) -> Option<usize> {
        let slot = place.slot as usize;
        (self.streams.get(slot) == Some(&place.stream())).then_some(slot)
    }

    fn obey(&mut self, scratch: &mut Scratch, machine: &mut Machine, now: Instant, order: Order) {
        if let Order::Glance(look) = order {
            if let Some(conn) = machine.h2() {
                look(conn.accounts());
            }
            return;
        }
        let place = match &order {
            Order::ShutDown => return machine.shut_down(now),
            Order::Abort(code) => return machine.abort(now, *code),
            Order::Glance(_) => return,
            Order::Say(said) => return said.carry_out(machine, now),
            Order::Answer { place, .. }
            | Order::Inform(place, _)
            | Order::Send(place, ..)
            | Order::Finish(place, _)
            | Order::Reset(place, _)
            | Order::Take(place, _)
            | Order::Decline(place) => *place,
        };
        let Some(slot) = self.open(place) else {
            return;
        };
        if let Order::Reset(_, code) = order {
            machine.reset(now, place.stream(), code);
            let by_peer = false;
            return self.end(machine, now, slot, Ended::Reset { code, by_peer });
        }
        let taken = Rc::clone(&self.taken);
        self.with_entry(scratch, machine, now, slot, |entry, machine| match order {
            Order::Answer {
                head, body, quiet, ..
            } => {
                let head = head.map_err(Misuse::Invalid)?;
                entry.quiet = quiet;
                entry.answer(machine, now, &head, body)
            }
            Order::Inform(_, head) => {
                // One that comes too late, or to HTTP/1.0, is not sent; the answer counts.
                let _ = machine.send_interim(now, place.stream(), &head);
                Ok(0)
            }
            Order::Send(_, data, end) => entry.send(machine, now, data, end),
            Order::Finish(_, trailers) => entry.finish(machine, now, trailers),
            Order::Take(_, bytes) => {
                entry.unread = entry.unread.saturating_sub(bytes);
                machine.consume(now, place.stream(), bytes);
                taken.notify_waiters();
                Ok(0)
            }
            Order::Decline(_) => {
                entry.declined = true;
                Ok(0)
            }
            Order::Reset(..)
            | Order::ShutDown
            | Order::Abort(_)
            | Order::Say(_)
            | Order::Glance(_) => Ok(0),
        });
    }
    /// Does something to an entry, and what follows from it. `work` says how many bytes the machine
    /// took that were sent piece by piece.
    fn with_entry(
        &mut self,
        scratch: &mut Scratch,
        machine: &mut Machine,
        now: Instant,
        slot: usize,
        work: impl FnOnce(&mut Entry<A>, &mut Machine) -> Result<usize, Misuse>,
    ) {
        let Some(Some(entry)) = self.entries.get_mut(slot) else {
            return;
        };
        match work(entry, machine) {
            Ok(taken) => {
                if taken > 0 {
                    self.attendant.room(&entry.exchange, taken);
                }
                self.settle(machine, now, slot);
            }
            Err(misuse) => {
                let responses = &mut scratch.responses;
                if entry.fail(machine, now, responses, &self.extra, misuse) {
                    let (code, by_peer) = (H2Code::INTERNAL_ERROR, false);
                    self.end(machine, now, slot, Ended::Reset { code, by_peer });
                }
            }
        }
    }
    /// Ends an exchange that both sides have ended.
    fn settle(&mut self, machine: &mut Machine, now: Instant, slot: usize) {
        let Some(Some(entry)) = self.entries.get(slot) else {
            return;
        };
        if entry.is_over() {
            let how = if entry.quiet {
                Ended::Quiet
            } else {
                Ended::Whole
            };
            self.end(machine, now, slot, how);
        }
    }
    fn end(&mut self, machine: &mut Machine, now: Instant, slot: usize, how: Ended) {
        let Some(entry) = self.entries.get_mut(slot).and_then(Option::take) else {
            return;
        };
        self.streams[slot] = NOBODYS;
        self.free.push(slot as u32);
        let stream = entry.place.stream();
        if entry.unread > 0 {
            // Returns the unread bytes to the connection's window, because the body has no reader
            // any more.
            machine.consume(now, stream, entry.unread);
        }
        machine.handler_done(now, stream);
        self.attendant.ended(entry.exchange, how);
    }
    /// The machine is gone or has ended everything, so exchanges without an end event end here. A
    /// whole exchange stays whole: its reader has all received bytes.
    fn cut(&mut self, slot: usize) {
        if let Some(entry) = self.entries.get_mut(slot).and_then(Option::take) {
            self.streams[slot] = NOBODYS;
            self.free.push(slot as u32);
            let (code, by_peer) = (H2Code::CANCEL, true);
            let how = match entry.is_whole() {
                true => Ended::Whole,
                false => Ended::Reset { code, by_peer },
            };
            self.attendant.ended(entry.exchange, how);
        }
    }
}

impl<A: Attendant> Drop for Exchanges<A> {
    fn drop(&mut self) {
        self.cut_all();
    }
}
