//! The transport-independent part of a server connection: notes of other tasks, events of the
//! machine, and the handlers that answer them. TCP and QUIC connections have one each.

use crate::driver::machine::Machine;
use crate::driver::signals::{Notes, Signals, Stop};
use crate::server::exchange::control::PeerEvent;
use crate::server::exchange::serve::{Exchanging, Serve};
use crate::server::exchange::turn::with_turn;
use crate::server::observe::counters::{Counters, add};
use crate::server::observe::inspect::ConnectionStage;
use crate::server::registry::Activity;
use crate::server::response::AnswerOptions;
use bytes::Bytes;
use http::StatusCode;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Instant;
use trunkline_core::error::{Closed, H2Code};
use trunkline_core::h3;
use trunkline_core::http::idempotence::may_be_early;
use trunkline_core::http::{
    Event, HostRule, RequestHead, SchemeRule, StreamId, TargetRule, Version,
};

type Paused<S> = <<S as Serve>::Exchanges as Exchanging>::Pause;

/// The exchanges of one connection and those who may leave it notes.
pub(in crate::server) struct Serving<S: Serve> {
    pub(in crate::server) exchanges: S::Exchanges,
    signals: Arc<Signals>,
    notes: Option<Box<Notes>>,
    /// Fields that every response carries beside the handler's.
    extra: Arc<AnswerOptions>,
    counters: Arc<Counters>,
    version: Version,
    /// Its handshake is done, and it is counted among those of its version.
    is_known: bool,
    /// Open exchanges, as the counters have them.
    counted: u32,
    /// For the drain, and for the choice of connections to close.
    pub(in crate::server) activity: Arc<Activity>,
    /// The connection left HTTP with this exchange; the bytes came behind it.
    pub(in crate::server) left: Option<Box<(StreamId, Bytes)>>,
    pub(in crate::server) draining: bool,
    /// The connection ends by a reset of TCP.
    pub(super) is_reset: bool,
    /// Bytes that still come are the rest of a request that has its answer.
    pub(super) is_upload_left: bool,
    /// The machine is still to begin its drain.
    drain_due: bool,
    /// The handshake is not done: requests that come now are early data.
    early: bool,
    /// Nothing is read until it is over, and since when.
    paused: Option<Box<(Paused<S>, Instant)>>,
    /// The largest datagram, bytes, as last reported to the exchanges.
    datagram_size: Option<usize>,
    /// Which requests are answered here; known before the first.
    targets: TargetRule,
}

impl<S: Serve> Serving<S> {
    /// `signals` are those of `exchanges`.
    pub(super) fn new(
        exchanges: S::Exchanges,
        signals: Arc<Signals>,
        extra: Arc<AnswerOptions>,
        (counters, version): (Arc<Counters>, Version),
        activity: Arc<Activity>,
    ) -> Self {
        activity.set_stage(ConnectionStage::Serving);
        Self {
            exchanges,
            signals,
            notes: None,
            extra,
            counters,
            version,
            is_known: false,
            counted: 0,
            activity,
            left: None,
            draining: false,
            is_reset: false,
            is_upload_left: false,
            drain_due: false,
            early: false,
            paused: None,
            datagram_size: None,
            targets: TargetRule::new(SchemeRule::Https, HostRule::Any),
        }
    }
    /// The connection is known: which requests it carries.
    pub(super) fn set_targets(&mut self, targets: TargetRule) {
        self.targets = targets;
        if !mem::replace(&mut self.is_known, true) {
            self.counters.speaks(self.version);
        }
    }
    /// Whether nothing may be read now, because the service asked for a pause; the owner is woken
    /// when it ends. The peer's deadlines do not run meanwhile.
    pub(super) fn is_paused(
        &mut self,
        machine: &mut Machine,
        cx: &mut Context<'_>,
        now: Instant,
    ) -> bool {
        loop {
            match &mut self.paused {
                None => match self.exchanges.pause() {
                    None => return false,
                    Some(pause) => self.paused = Some(Box::new((pause, now))),
                },
                Some(paused) => {
                    let (pause, since) = &mut **paused;
                    if Pin::new(pause).poll(cx).is_pending() {
                        return true;
                    }
                    machine.postpone(now.saturating_duration_since(*since));
                    self.paused = None;
                }
            }
        }
    }
    /// Carries out what others noted.
    pub(in crate::server) fn take_notes(&mut self, machine: &mut Machine, now: Instant) {
        while let Some(violation) = machine.poll_refused() {
            self.counters.broken(violation);
        }
        self.signals.begin_turn(&mut self.notes);
        let Some(mut notes) = self.notes.take() else {
            return;
        };
        for inspection in notes.inspections.drain(..) {
            inspection.answer(machine, now, |stream| self.exchanges.target_of(stream));
        }
        for ask in notes.windows.drain(..) {
            ask.carry_out(machine, now);
        }
        for (stream, bytes) in notes.taken.drain(..) {
            machine.consume(now, stream, bytes);
        }
        for stream in notes.datagrams.drain(..) {
            self.exchanges.send_datagrams(machine, stream);
        }
        let stop = notes.stop.take();
        if stop >= Some(Stop::Abort) {
            machine.abort(now, H2Code::CANCEL);
        }
        self.is_reset |= stop == Some(Stop::Reset);
        self.drain_due |= stop == Some(Stop::Drain);
        self.draining |= stop.is_some();
        if !notes.ready.is_empty() || !notes.dropped.is_empty() || !notes.wanted.is_empty() {
            with_turn(machine, now, (&*self.extra, &*self.counters), |turn| {
                for slot in notes.ready.drain(..) {
                    self.exchanges.resume(turn, slot);
                }
                for stream in notes.wanted.drain(..) {
                    self.exchanges.invite_body(turn, stream);
                }
                for stream in notes.dropped.drain(..) {
                    self.exchanges.lose_reader(turn, stream);
                }
            });
        }
        notes.clear();
        self.notes = Some(notes);
    }
    /// As a note to drain.
    pub(super) fn drain(&mut self) {
        self.drain_due = true;
        self.draining = true;
    }
    /// Begins the drain that was noted. Called behind the turn's first read: a request that came before it
    /// is answered.
    pub(in crate::server) fn drain_if_due(&mut self, machine: &mut Machine, now: Instant) {
        if mem::take(&mut self.drain_due) {
            machine.shut_down(now);
        }
    }
    /// Whether requests that come from now on are early data.
    pub(in crate::server) fn set_early(&mut self, early: bool) {
        self.early = early;
        self.exchanges.set_early(early);
    }
    /// Hands datagrams to their exchanges, whose requests were answered before.
    pub(super) fn hand_over_datagrams(&mut self, h3: &mut h3::Conn, size_max: Option<usize>) {
        if self.datagram_size != size_max {
            self.datagram_size = size_max;
            self.exchanges.resize_datagrams(size_max);
        }
        while let Some((stream, datagram)) = h3.poll_datagram() {
            self.exchanges.receive_datagram(stream, datagram);
        }
    }
    /// Answers the machine's events, until `bytes` more wait to be written; true when there were
    /// any.
    pub(super) fn handle_events(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        bytes: usize,
    ) -> bool {
        let Some(first) = machine.poll_event() else {
            return false;
        };
        let enough = machine.written().len().saturating_add(bytes);
        let requests = self.answer(machine, now, first, enough);
        self.activity.set_moved_at(now);
        self.activity.charge_bytes(now);
        self.count(machine, requests);
        true
    }
    /// Answers `first` and the events behind it; the number of requests among them. A function of its
    /// own, because the check before it runs three times a turn and usually finds no event.
    #[inline(never)]
    fn answer(&mut self, machine: &mut Machine, now: Instant, first: Event, enough: usize) -> u64 {
        let mut requests = 0;
        with_turn(machine, now, (&*self.extra, &*self.counters), |turn| {
            let exchanges = &mut self.exchanges;
            let mut next = Some(first);
            while let Some(event) = next {
                match event {
                    Event::RequestReceived { stream, head, end } => {
                        requests += 1;
                        let refusal = match self.activity.sheds(turn.now) {
                            Some(shed) => {
                                self.counters.shed(shed.index());
                                turn.retry_after = shed.retry_after();
                                Some(shed.status())
                            }
                            None => refusal(&head, self.early, &self.targets, &self.counters),
                        };
                        match refusal {
                            Some(status) => {
                                exchanges.reject(turn, stream, head, status);
                            }
                            None => exchanges.start(turn, stream, head, end),
                        }
                    }
                    Event::BodyReceived { stream, data, end } => {
                        exchanges.receive(turn, stream, data, end);
                    }
                    Event::TrailersReceived { stream, trailers } => {
                        exchanges.receive_trailers(turn, stream, &trailers);
                        turn.machine.recycle(trailers);
                    }
                    Event::SendReady { stream } => exchanges.resume_stream(turn, stream),
                    Event::StreamReset { stream, reset } => {
                        self.counters.reset(turn.machine.version(), reset);
                        exchanges.cancel(turn, stream, reset);
                    }
                    Event::BodyLost { stream, reset } => exchanges.lose_body(turn, stream, reset),
                    Event::InputEnded => exchanges.half_close(),
                    Event::RequestRefused { stream, refused } => exchanges.refuse(stream, *refused),
                    Event::Upgraded { stream, rest } => self.left = Some(Box::new((stream, rest))),
                    Event::Closed(closed) => {
                        self.counters.closed(closed);
                        self.is_upload_left = is_upload_left(turn.machine, closed);
                        exchanges.close(closed, turn.now);
                    }
                    // A client's facts.
                    Event::InterimReceived { .. }
                    | Event::ResponseReceived { .. }
                    | Event::SendStopped { .. }
                    | Event::OriginsReceived { .. }
                    | Event::AltSvcReceived { .. }
                    | Event::CapacityChanged => {}
                    of_connection @ (Event::PongReceived { .. }
                    | Event::PingReceived { .. }
                    | Event::SettingsReceived { .. }
                    | Event::SettingsAcknowledged { .. }
                    | Event::GoingAway { .. }) => {
                        if let Some(received) = PeerEvent::of(of_connection, turn.machine) {
                            exchanges.take_control(received);
                        }
                    }
                }
                let goes_on = turn.machine.written().len() < enough;
                next = match goes_on {
                    true => turn.machine.poll_event(),
                    false => None,
                };
            }
        });
        requests
    }
    fn count(&mut self, machine: &mut Machine, requests: u64) {
        if requests > 0 {
            let counter = match machine {
                Machine::H1(_) => &self.counters.requests_h1,
                Machine::H2(_) => &self.counters.requests_h2,
                Machine::H3(_) => &self.counters.requests_h3,
            };
            add(counter, requests);
            self.activity.set_awaits_first(false);
        }
        while let Some(violation) = machine.poll_refused() {
            self.counters.broken(violation);
        }
        self.count_open();
    }
    /// Counts the exchanges that are open, where their number has changed.
    fn count_open(&mut self) {
        let open = self.exchanges.len() as u64;
        self.activity.set_exchanges(open);
        // Fewer than are allowed at once, of which there are no 2^32.
        if open as u32 != self.counted {
            self.counters
                .exchanges_open(self.version, self.counted, open as u32);
            self.counted = open as u32;
        }
    }
    /// Before the owner sleeps. `release`: give memory back too.
    pub(in crate::server) fn rest(&mut self, machine: &Machine, now: Instant, release: bool) {
        self.count_open();
        // Bytes that were written behind the last event: its client may ask next on another connection.
        self.activity.charge_bytes(now);
        self.exchanges.note_waits(machine, now);
        if release {
            self.exchanges.release();
            self.signals.release();
            self.notes = None;
        }
    }
    /// Whether the owner may sleep: no note was left meanwhile.
    pub(in crate::server) fn end_turn(&self, waker: &Waker) -> bool {
        self.signals.end_turn(waker)
    }
}

/// Whether bytes that come behind the end of the connection are the rest of a request that has its answer: over HTTP/1.1, unless
/// the peer broke a rule.
fn is_upload_left(machine: &Machine, closed: Closed) -> bool {
    matches!(machine, Machine::H1(_)) && !matches!(closed, Closed::ByUs(_))
}

impl<S: Serve> Drop for Serving<S> {
    fn drop(&mut self) {
        self.counters.exchanges_open(self.version, self.counted, 0);
        if self.is_known {
            self.counters.speaks_no_more(self.version);
        }
    }
}

/// The status of a request that no handler may see on this connection, counted; `None`: it may.
fn refusal(
    head: &RequestHead,
    early: bool,
    targets: &TargetRule,
    counters: &Counters,
) -> Option<StatusCode> {
    if early && !may_be_early(head.method()) {
        // RFC 8470 section 5.2: it comes again after the handshake.
        add(&counters.too_early, 1);
        return Some(StatusCode::TOO_EARLY);
    }
    if !targets.admits(head) {
        // RFC 9110 section 15.5.20: it may be sent again on another connection.
        add(&counters.misdirected, 1);
        return Some(StatusCode::MISDIRECTED_REQUEST);
    }
    if early {
        add(&counters.requests_early, 1);
    }
    None
}
