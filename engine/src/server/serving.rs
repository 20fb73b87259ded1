//! What a connection serves, whatever carries it: the notes of others, the machine's events, the
//! handlers that answer them. TCP and QUIC connections have one each.

use super::exchange::Exchanges;
use super::metrics::{Counters, add};
use super::service::HttpService;
use crate::driver::machine::Machine;
use crate::driver::signals::{Notes, Signals, Stop};
use bytes::Bytes;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;
use trunkline_core::error::H2Code;
use trunkline_core::http::{Event, StreamId};

/// The exchanges of one connection and those who may leave it notes.
pub(super) struct Serving<S: HttpService> {
    pub(super) exchanges: Exchanges<S>,
    signals: Arc<Signals>,
    notes: Notes,
    counters: Arc<Counters>,
    /// Exchanges open, for whoever drains the server.
    open: Rc<Cell<u64>>,
    /// The connection left HTTP with this exchange; the bytes came behind it.
    pub(super) left: Option<(StreamId, Bytes)>,
    pub(super) draining: bool,
}

impl<S: HttpService> Serving<S> {
    /// `signals` are those of `exchanges`.
    pub(super) fn new(
        exchanges: Exchanges<S>,
        signals: Arc<Signals>,
        counters: Arc<Counters>,
        open: Rc<Cell<u64>>,
    ) -> Self {
        Self {
            exchanges,
            signals,
            notes: Notes::default(),
            counters,
            open,
            left: None,
            draining: false,
        }
    }
    /// Carries out what others noted.
    pub(super) fn take_notes(&mut self, machine: &mut Machine, now: Instant) {
        self.notes.clear();
        self.signals.begin_turn(&mut self.notes);
        for ask in self.notes.windows.drain(..) {
            ask.carry_out(machine, now);
        }
        for (stream, bytes) in self.notes.taken.drain(..) {
            machine.consume(now, stream, bytes);
        }
        let stop = self.notes.stop.take();
        match stop {
            None => {}
            Some(Stop::Drain) => machine.shut_down(now),
            Some(Stop::Abort) => machine.abort(now, H2Code::CANCEL),
        }
        self.draining |= stop.is_some();
        for slot in self.notes.ready.drain(..) {
            self.exchanges.resume(machine, now, slot);
        }
    }
    /// Answers the machine's events; true when there were any.
    pub(super) fn handle_events(&mut self, machine: &mut Machine, now: Instant) -> bool {
        let (mut any, mut requests, mut resets) = (false, 0, 0);
        let exchanges = &mut self.exchanges;
        while let Some(event) = machine.poll_event() {
            any = true;
            match event {
                Event::RequestReceived { stream, head, end } => {
                    requests += 1;
                    exchanges.start(machine, now, stream, head, end);
                }
                Event::BodyReceived { stream, data, end } => {
                    exchanges.receive(machine, now, stream, data, end);
                }
                Event::TrailersReceived { stream, trailers } => {
                    exchanges.receive_trailers(stream, &trailers);
                    machine.recycle(trailers);
                }
                Event::SendReady { stream } => exchanges.resume_stream(machine, now, stream),
                Event::StreamReset { stream, reset } => {
                    resets += 1;
                    exchanges.cancel(machine, now, stream, reset);
                }
                Event::Upgraded { stream, rest } => self.left = Some((stream, rest)),
                Event::Closed(closed) => self.counters.closed(closed),
                // A client's facts, or of no consequence here.
                Event::InterimReceived { .. }
                | Event::ResponseReceived { .. }
                | Event::CapacityChanged
                | Event::GoingAway { .. }
                | Event::PongReceived => {}
            }
        }
        if any {
            self.count(machine, requests, resets);
        }
        any
    }
    fn count(&self, machine: &Machine, requests: u64, resets: u64) {
        if requests > 0 {
            let counter = match machine {
                Machine::H1(_) => &self.counters.requests_h1,
                Machine::H2(_) => &self.counters.requests_h2,
                Machine::H3(_) => &self.counters.requests_h3,
            };
            add(counter, requests);
        }
        if resets > 0 {
            add(&self.counters.resets, resets);
        }
        self.open.set(self.exchanges.len() as u64);
    }
    /// Before the owner sleeps. `release`: give memory back too.
    pub(super) fn rest(&mut self, release: bool) {
        self.open.set(self.exchanges.len() as u64);
        if release {
            self.exchanges.release();
        }
    }
    /// Whether the owner may sleep: nobody left a note meanwhile.
    pub(super) fn end_turn(&self, waker: &Waker) -> bool {
        self.signals.end_turn(waker)
    }
}
