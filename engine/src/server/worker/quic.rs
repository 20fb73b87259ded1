//! HTTP/3 on one worker: one UDP socket and one QUIC endpoint for all of its connections, on one
//! task. A turn receives a batch, runs the connections that it touched, and sends once for each:
//! never one send per datagram or per stream.

#[cfg(unix)]
mod forwarding;
mod release;
mod setup;

use crate::driver::quic::config::cid::{CidOwner, Steering};
use crate::driver::quic::socket::batch::Batch;
use crate::driver::quic::socket::{QuicSocket, ReceivedDatagram};
use crate::driver::quic::timers::Timers;
use crate::driver::signals::{Notes, Signals};
use crate::driver::timer::{self, Sleep};
use crate::server::connection::accept::WorkerContext;
use crate::server::connection::quic::QuicConnection;
use crate::server::exchange::serve::Serve;
use crate::server::observe::counters::add;
use crate::server::observe::handshake_failure::HandshakeFailure;
use crate::server::registry::OpenConnections;
#[cfg(unix)]
use forwarding::PacketForwarding;
#[cfg(unix)]
pub(super) use forwarding::QuicHandOver;
use quinn_proto::{DatagramEvent, Endpoint, Incoming, Transmit};
pub(in crate::server) use setup::{Quic, QuicSetup};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use trunkline_core::budget::Budget;
use trunkline_core::limits::{QUIC_ANSWERS, QUIC_HALF_OPEN_MAX, QUIC_RESET_INTERVAL_MIN};

/// Batches received in one poll, before others on the thread get their turn.
const BATCHES_PER_POLL_MAX: usize = 8;
/// Transmits of one connection in one turn, before the others send: 192 KiB.
const TRANSMITS_PER_TURN_MAX: usize = 3;

/// The endpoint of one worker.
pub(in crate::server) struct QuicListener<S: Serve> {
    shared: WorkerContext<S>,
    open: Arc<OpenConnections>,
    socket: QuicSocket,
    endpoint: Endpoint,
    worker: u16,
    steering: Steering,
    workers: Arc<[mpsc::Sender<ReceivedDatagram>]>,
    passed: mpsc::Receiver<ReceivedDatagram>,
    #[cfg(unix)]
    forwarding: PacketForwarding,
    /// By quinn-proto's handle.
    connections: Vec<Option<Box<QuicConnection<S>>>>,
    /// Connections whose handshake is not done.
    half_open: usize,
    /// Connections whose turn it is: something came, or a handler can go on.
    dirty: Vec<u32>,
    /// Connections that may have something to send.
    sending: Vec<u32>,
    timers: Timers,
    alarm: Option<Pin<Box<Sleep>>>,
    /// Each connection's waker leaves its handle here.
    signals: Arc<Signals>,
    notes: Option<Box<Notes>>,
    arrivals: Vec<ReceivedDatagram>,
    /// Datagrams that leave together.
    batch: Batch,
    /// Budget for answers to packets of unknown connections.
    answers: Budget,
    /// No new connections.
    draining: bool,
    /// As [`QuicSetup::released`].
    released: Option<watch::Receiver<bool>>,
}

impl<S: Serve> QuicListener<S> {
    /// Within the runtime that is to run it. `signals`: drains it.
    pub(in crate::server) fn new(
        setup: QuicSetup,
        shared: WorkerContext<S>,
        open: Arc<OpenConnections>,
        signals: Arc<Signals>,
    ) -> std::io::Result<Self> {
        let socket = QuicSocket::new(setup.socket)?;
        let mut config = setup.endpoint;
        let (steering, worker) = (setup.steering.clone(), setup.worker);
        config.cid_generator(move || Box::new(steering.ids_of(worker)));
        config.min_reset_interval(QUIC_RESET_INTERVAL_MIN);
        let probe = !socket.may_fragment();
        let endpoint = Endpoint::new(Arc::new(config), Some(setup.server), probe, None);
        Ok(Self {
            shared,
            open,
            socket,
            endpoint,
            worker: setup.worker,
            steering: setup.steering,
            workers: setup.workers,
            passed: setup.passed,
            #[cfg(unix)]
            forwarding: PacketForwarding::new(setup.generations),
            connections: Vec::new(),
            half_open: 0,
            dirty: Vec::new(),
            sending: Vec::new(),
            timers: Timers::default(),
            alarm: None,
            signals,
            notes: None,
            arrivals: Vec::new(),
            batch: Batch::default(),
            answers: Budget::new(QUIC_ANSWERS, Instant::now()),
            draining: false,
            released: setup.released,
        })
    }
    /// For the worker, which may hand the socket over.
    #[cfg(unix)]
    pub(super) fn hand_over(&self) -> QuicHandOver {
        self.forwarding.hand_over(self.socket.shared())
    }
    /// Whether another process reads the socket: packets come from there.
    fn is_handed_over(&self) -> bool {
        #[cfg(unix)]
        return self.forwarding.is_handed_over();
        #[cfg(not(unix))]
        false
    }
    fn take_notes(&mut self) {
        self.signals.begin_turn(&mut self.notes);
        let Some(mut notes) = self.notes.take() else {
            return;
        };
        self.draining |= notes.stop.is_some();
        for &key in &notes.ready {
            self.mark_dirty(key);
        }
        notes.clear();
        self.notes = Some(notes);
    }
    fn mark_dirty(&mut self, key: u32) {
        if let Some(Some(connection)) = self.connections.get_mut(key as usize)
            && !std::mem::replace(&mut connection.is_dirty, true)
        {
            self.dirty.push(key);
        }
    }
    fn mark_sending(&mut self, key: u32) {
        if let Some(Some(connection)) = self.connections.get_mut(key as usize)
            && !std::mem::replace(&mut connection.is_sending, true)
        {
            self.sending.push(key);
        }
    }
    /// Receives a batch; true when there may be more.
    fn receive(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let mut sink = |arrival| arrivals.push(arrival);
        let mut received = false;
        if !self.is_handed_over() {
            received = self.socket.poll_receive(cx, &mut sink).is_ready();
        }
        #[cfg(unix)]
        {
            received |= self.forwarding.poll_receive(cx, &mut sink);
        }
        let bytes: usize = arrivals.iter().map(|arrival| arrival.bytes.len()).sum();
        if bytes > 0 {
            self.shared.counters.quic_bytes(bytes as u64, 0);
        }
        for arrival in arrivals.drain(..) {
            match self.steering.owner_of(&arrival.bytes) {
                Some(CidOwner::Worker(worker)) if worker != self.worker => {
                    self.pass_on(worker, arrival);
                }
                Some(other @ CidOwner::OtherProcess { .. }) => self.forward(now, other, arrival),
                _ => self.take(now, arrival),
            }
        }
        while let Poll::Ready(Some(arrival)) = self.passed.poll_recv(cx) {
            self.take(now, arrival);
        }
        self.arrivals = arrivals;
        received
    }
    /// Forwards the packet of another process's connection; one of a process that has ended is answered
    /// here, by a stateless reset (RFC 9000 section 10.3).
    fn forward(&mut self, now: Instant, owner: CidOwner, arrival: ReceivedDatagram) {
        #[cfg(unix)]
        let Some(arrival) = self.forwarding.forward(owner, arrival) else {
            return add(&self.shared.counters.quic_packets_forwarded, 1);
        };
        #[cfg(not(unix))]
        let _ = owner;
        self.take(now, arrival);
    }
    fn pass_on(&self, worker: u16, arrival: ReceivedDatagram) {
        add(&self.shared.counters.quic_packets_forwarded, 1);
        if let Some(way) = self.workers.get(usize::from(worker)) {
            // A worker that does not keep up loses packets, as a full socket does.
            let _ = way.try_send(arrival);
        }
    }
    fn take(&mut self, now: Instant, arrival: ReceivedDatagram) {
        let mut answer = Vec::new();
        let event = self.endpoint.handle(
            now,
            arrival.from,
            arrival.to,
            arrival.ecn,
            arrival.bytes,
            &mut answer,
        );
        match event {
            None => {}
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(Some(connection)) = self.connections.get_mut(handle.0) {
                    connection.handle_packet(now, event);
                    self.mark_dirty(handle.0 as u32);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(now, incoming),
            Some(DatagramEvent::Response(reply)) => self.answer_unknown(now, &reply, &answer),
        }
    }
    /// Answers a packet of no known connection, limited by a rate, because its source address may
    /// be forged.
    fn answer_unknown(&mut self, now: Instant, transmit: &Transmit, contents: &[u8]) {
        if !self.answers.charge(1, now) {
            return add(&self.shared.counters.quic_answers_withheld, 1);
        }
        add(&self.shared.counters.quic_answers, 1);
        self.answer(transmit, contents);
    }
    /// Best effort: a peer that asked asks again.
    fn answer(&self, transmit: &Transmit, contents: &[u8]) {
        let _ = self.socket.try_send(transmit, contents);
    }
    fn accept(&mut self, now: Instant, incoming: Incoming) {
        let mut answer = Vec::new();
        let counters = Arc::clone(&self.shared.counters);
        // Connections that begin with an id of ours, from a Retry packet or by chance, are forwarded by
        // the process that reads the socket, and have no other place.
        let is_closed = self.draining && !self.is_handed_over();
        if is_closed || !self.open.has_room_for(incoming.remote_address().ip()) {
            let transmit = self.endpoint.refuse(incoming, &mut answer);
            return self.answer(&transmit, &answer);
        }
        let crowded = self.half_open >= QUIC_HALF_OPEN_MAX;
        if crowded && !incoming.remote_address_validated() && incoming.may_retry() {
            add(&counters.quic_retries, 1);
            if let Ok(transmit) = self.endpoint.retry(incoming, &mut answer) {
                self.answer(&transmit, &answer);
            }
            return;
        }
        match self.endpoint.accept(incoming, now, &mut answer, None) {
            Ok((handle, quic)) => {
                add(&counters.connections_accepted, 1);
                add(&counters.quic_connections, 1);
                let key = handle.0 as u32;
                let mut connection =
                    QuicConnection::new(quic, handle, &self.shared, &self.open, &self.signals, now);
                if self.draining {
                    connection.drain();
                }
                if self.connections.len() <= handle.0 {
                    self.connections.resize_with(handle.0 + 1, || None);
                }
                self.connections[handle.0] = Some(Box::new(connection));
                self.half_open += 1;
                self.mark_dirty(key);
            }
            Err(error) => {
                let failure = HandshakeFailure::of_quic(Some(&error.cause));
                self.shared.handshake_failed(None, true, &failure);
                if let Some(transmit) = error.response {
                    self.answer(&transmit, &answer);
                }
            }
        }
    }
    /// Wakes the connections whose time has come; true when there was one.
    fn expire(&mut self, now: Instant) -> bool {
        let mut any = false;
        while let Some(key) = self.timers.pop_due(now) {
            any = true;
            if let Some(Some(connection)) = self.connections.get_mut(key as usize) {
                connection.expire(now);
                self.mark_dirty(key);
            }
        }
        any
    }
    /// The turns of all connections that are due.
    fn run_dirty(&mut self, now: Instant) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for key in dirty.drain(..) {
            let Some(Some(connection)) = self.connections.get_mut(key as usize) else {
                continue;
            };
            connection.is_dirty = false;
            let rests = connection.turn(now);
            if connection.take_connected(now) {
                self.half_open -= 1;
            }
            if !rests {
                self.mark_dirty(key);
            }
            self.mark_sending(key);
        }
        // Connections marked meanwhile come after the others have sent.
        dirty.append(&mut self.dirty);
        self.dirty = dirty;
    }
    /// Sends for every connection that may have something; `Pending`: the socket is full.
    fn send(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<()> {
        let segments = self.socket.segments_max();
        let mut at = 0;
        let mut transmits = 0;
        loop {
            if self.batch.is_full() && self.batch.poll_send(cx, &self.socket).is_pending() {
                self.sending.drain(..at);
                return Poll::Pending;
            }
            let Some(&key) = self.sending.get(at) else {
                self.sending.clear();
                return self.batch.poll_send(cx, &self.socket);
            };
            let Some(Some(connection)) = self.connections.get_mut(key as usize) else {
                at += 1;
                continue;
            };
            let quic = &mut connection.session.quic;
            let mut bytes = 0;
            let sends = self.batch.gather(|packet| {
                let transmit = quic.poll_transmit(now, segments, packet);
                transmit.inspect(|transmit| bytes = transmit.size)
            });
            if sends {
                self.shared.counters.quic_bytes(0, bytes as u64);
            }
            transmits += 1;
            if !sends {
                connection.is_sending = false;
                connection.count(now);
                (at, transmits) = (at + 1, 0);
                self.update(key);
            } else if transmits == TRANSMITS_PER_TURN_MAX {
                // The others first; this one stands at the end of the line now.
                (at, transmits) = (at + 1, 0);
                self.sending.push(key);
            }
        }
    }
    /// After a connection has sent: its identifiers, its deadline, or its end.
    fn update(&mut self, key: u32) {
        let Some(Some(connection)) = self.connections.get_mut(key as usize) else {
            return;
        };
        let handle = connection.handle;
        while let Some(event) = connection.session.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                connection.session.quic.handle_event(event);
            }
        }
        connection.report_closed();
        if !connection.session.quic.is_drained() {
            let deadline = connection.next_deadline();
            return self.timers.set(key, deadline);
        }
        self.timers.set(key, None);
        if !connection.was_connected() {
            self.half_open -= 1;
            let (addresses, failure) = connection.handshake_failure();
            self.shared.handshake_failed(addresses, true, &failure);
        }
        let path = connection.session.quic.stats().path;
        // Before the handshake is done the round-trip time is a guess.
        let rtt = connection.was_connected().then_some(path.rtt);
        self.shared
            .counters
            .quic_ended(path.sent_packets, path.lost_packets, rtt);
        self.connections[key as usize] = None;
    }
    /// Sets the alarm for the next deadline; true if it is due already.
    fn arm(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let Some(deadline) = self.timers.next() else {
            return false;
        };
        if deadline <= now {
            return true;
        }
        let deadline = tokio::time::Instant::from_std(deadline);
        match &mut self.alarm {
            // Set before, and its time has not come.
            Some(alarm) if alarm.deadline() == deadline => return false,
            Some(alarm) => alarm.as_mut().reset(deadline),
            none => *none = Some(Box::pin(timer::sleep_until(deadline))),
        }
        let alarm = self.alarm.as_mut();
        alarm.is_some_and(|alarm| alarm.as_mut().poll(cx).is_ready())
    }
}

impl<S: Serve> Future for QuicListener<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        for _ in 0..BATCHES_PER_POLL_MAX {
            let now = Instant::now();
            this.take_notes();
            let received = this.receive(cx, now);
            let expired = this.expire(now);
            this.run_dirty(now);
            // A full socket wakes us when it takes more.
            let _ = this.send(cx, now);
            if received || expired || !this.dirty.is_empty() || this.arm(cx, now) {
                continue;
            }
            if this.signals.end_turn(cx.waker()) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: Serve> Unpin for QuicListener<S> {}

impl<S: Serve> Drop for QuicListener<S> {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut packet = Vec::new();
        for connection in self.connections.iter_mut().flatten() {
            // One close packet each, not repeated.
            packet.clear();
            if let Some(transmit) = connection.close_packet(now, &mut packet) {
                let _ = self.socket.try_send(&transmit, &packet);
            }
        }
    }
}
