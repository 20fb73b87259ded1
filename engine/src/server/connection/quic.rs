//! One QUIC connection of a server: its streams, its HTTP/3 machine and its handlers.

use super::accept::WorkerContext;
use super::serving::Serving;
use crate::connection_info::quic::certificates_of;
use crate::connection_info::traffic::Traffic;
use crate::connection_info::{Addresses, ConnectionInfo};
use crate::driver::connection_io::RELEASE_AFTER;
use crate::driver::machine::Machine;
use crate::driver::machine::qlog::FrameLog;
use crate::driver::quic::session::Session;
use crate::driver::signals::{Signals, SlotWaker};
use crate::server::exchange::info_policy::InfoPolicy;
use crate::server::exchange::serve::{Exchanging, Serve};
use crate::server::observe::counters::{Counters, add};
use crate::server::observe::handshake_failure::HandshakeFailure;
use crate::server::registry::{Activity, OpenConnections, OpenEntry};
use quinn_proto::{Connection, ConnectionEvent, ConnectionHandle, Transmit};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Instant;
use trunkline_core::error::{H3Code, TransportEnd};
use trunkline_core::h3;
use trunkline_core::http::{Side, Version};

/// Rounds of one turn: a handler that always has more must not keep the endpoint from others.
const ROUNDS_PER_TURN_MAX: u32 = 8;

/// A connection from its first packet to its last.
pub(in crate::server) struct QuicConnection<S: Serve> {
    pub(in crate::server) session: Session,
    pub(in crate::server) handle: ConnectionHandle,
    /// It stands in the endpoint's list of those whose turn it is.
    pub(in crate::server) is_dirty: bool,
    /// It stands in the endpoint's list of those that may send.
    pub(in crate::server) is_sending: bool,
    machine: Machine,
    serving: Serving<S>,
    waker: Waker,
    /// Requests are not read, because the service asked for a pause. QUIC itself goes on.
    is_paused: bool,
    /// Its place among the open connections, until the machine is done.
    entry: Option<OpenEntry>,
    counters: Arc<Counters>,
    /// When the handshake must be done; `None`: it is, or may take any time.
    handshake_until: Option<Instant>,
    counted_connected: bool,
    /// When its first packet came.
    began: Instant,
    /// Why we ended the handshake ourselves.
    given_up: Option<HandshakeFailure>,
    /// The local address of the socket.
    bound: Option<SocketAddr>,
    /// We have announced that we take datagrams.
    takes_datagrams: bool,
    /// Which facts of the handshake are still to be collected; `None`: done.
    info_policy: Option<InfoPolicy>,
    /// Counts of its bytes, where connection info is collected.
    traffic: Option<Traffic>,
    /// When something last happened, and the machine may hold buffers since.
    active_at: Option<Instant>,
    /// When to look whether the buffers can be given back.
    release_at: Option<Instant>,
}

impl<S: Serve> QuicConnection<S> {
    /// `endpoint`: where its waker leaves its handle.
    pub(in crate::server) fn new(
        quic: Connection,
        handle: ConnectionHandle,
        shared: &WorkerContext<S>,
        open: &Arc<OpenConnections>,
        endpoint: &Arc<Signals>,
        now: Instant,
    ) -> Self {
        let signals = Arc::new(Signals::default());
        let activity = Activity::new();
        let peer = Some(quic.remote_address());
        let entry = OpenConnections::enter(open, &signals, &activity, peer);
        let counters = Arc::clone(&shared.counters);
        let counts = shared.info_policy.info || activity.counts_bytes();
        let traffic = counts.then(Traffic::default);
        if let Some(traffic) = &traffic {
            activity.count_by(traffic);
        }
        let serving = Serving::new(
            shared.exchanges(&signals, true),
            signals,
            Arc::clone(&shared.extra),
            (Arc::clone(&counters), Version::Http3),
            activity,
        );
        let conn = h3::Conn::new(Side::Server, Arc::clone(&shared.config), now)
            .with_receive_budget(&shared.budget_share)
            .with_send_budget(&shared.send_budget_share)
            .with_scarcity(&shared.scarcity);
        let handshake = shared.config.timeouts.handshake;
        let log = shared.info_policy.qlog.as_ref().map(FrameLog::http3);
        Self {
            session: Session::new(quic, 0).with_log(log),
            handle,
            is_dirty: false,
            is_sending: false,
            machine: Machine::http3(conn),
            serving,
            is_paused: false,
            waker: SlotWaker::waker(endpoint, handle.0 as u32),
            entry: Some(entry),
            counters,
            handshake_until: handshake.map(|limit| now + limit),
            counted_connected: false,
            began: now,
            given_up: None,
            bound: shared.info_policy.quic_addr,
            takes_datagrams: shared.config.datagrams,
            info_policy: Some(shared.info_policy.clone()),
            traffic,
            active_at: None,
            release_at: None,
        }
    }
    /// Lets its first requests be its last ones.
    pub(in crate::server) fn drain(&mut self) {
        self.serving.drain();
    }
    /// Takes a packet, behind the events of those before it.
    pub(in crate::server) fn handle_packet(&mut self, now: Instant, packet: ConnectionEvent) {
        if self.is_paused {
            return self.session.handle_packet(None, now, packet);
        }
        self.admit(now);
        self.session.handle_packet(self.machine.h3(), now, packet);
    }
    /// Answers what came and what became ready. True: it rests until something happens.
    pub(in crate::server) fn turn(&mut self, now: Instant) -> bool {
        self.count(now);
        for _ in 0..ROUNDS_PER_TURN_MAX {
            self.serving.take_notes(&mut self.machine, now);
            self.serving.drain_if_due(&mut self.machine, now);
            let mut cx = Context::from_waker(&self.waker);
            self.is_paused = self.serving.is_paused(&mut self.machine, &mut cx, now);
            self.admit(now);
            let reported = match self.machine.h3() {
                Some(h3) if !self.is_paused => self.session.report(h3, now),
                _ => false,
            };
            let is_early = self.session.is_early();
            if (self.session.is_connected() || is_early)
                && let Some(info_policy) = self.info_policy.take()
            {
                let wanted = info_policy.quic_addr.filter(|_| !info_policy.is_nothing());
                let info = wanted.map(|local| {
                    let judge = info_policy.judge.as_ref();
                    ConnectionInfo::of_quic(&self.session.quic, local, None, judge)
                        .counted(self.traffic.clone())
                });
                let version = self.machine.version();
                let targets = info_policy.targets.rule_of(true, info.as_ref());
                self.serving.set_targets(targets);
                self.serving
                    .exchanges
                    .connected(info, version, &info_policy);
            }
            self.serving.set_early(is_early);
            let answered = self
                .serving
                .handle_events(&mut self.machine, now, usize::MAX);
            if self.takes_datagrams
                && let Some(h3) = self.machine.h3()
            {
                let size_max = self.session.datagram_size(h3);
                self.serving.hand_over_datagrams(h3, size_max);
            }
            let ordered = match self.machine.h3() {
                Some(h3) => self.session.carry_out_actions(h3, now),
                None => false,
            };
            if reported || answered || ordered {
                self.active_at = Some(now);
                continue;
            }
            self.serving.rest(&self.machine, now, false);
            if let Some(at) = self.active_at
                && self.release_at.is_none()
                && self.machine.active() == 0
            {
                self.release_at = Some(at + RELEASE_AFTER);
            }
            if self.serving.end_turn(&self.waker) {
                return true;
            }
        }
        false
    }
    /// Says how many bytes have come and gone.
    pub(in crate::server) fn count(&self, now: Instant) {
        if let Some(traffic) = &self.traffic {
            let stats = self.session.quic.stats();
            traffic.set(stats.udp_rx.bytes, stats.udp_tx.bytes);
            self.serving.activity.charge_bytes(now);
        }
    }
    /// Closes the connection of a client that is not admitted, before any of its requests is read.
    fn admit(&mut self, now: Instant) {
        let quic = &self.session.quic;
        // One that has failed is not handshaking any more either, and says itself why.
        let is_known = !quic.is_closed() && (!quic.is_handshaking() || quic.has_0rtt());
        let judge = self
            .info_policy
            .as_ref()
            .and_then(|info_policy| info_policy.judge.as_ref());
        if is_known
            && let Some(judge) = judge
            && let Err(why) = judge.admit(&certificates_of(quic))
        {
            self.given_up = Some(HandshakeFailure::of_tls(&why));
            self.info_policy = None;
            self.session
                .close(now, H3Code::NO_ERROR, "the client is not admitted");
            self.machine.handle_close(now, TransportEnd::Failed);
        }
    }
    /// Carries out the deadlines that have passed.
    pub(in crate::server) fn expire(&mut self, now: Instant) {
        let due = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
        if due(self.session.quic.poll_timeout()) {
            self.session.quic.handle_timeout(now);
        }
        if !self.is_paused && due(self.machine.next_deadline()) {
            self.machine.handle_timeout(now);
        }
        if self.release_at.take_if(|at| *at <= now).is_some() {
            self.release(now);
        }
        // It may be done, and untold for a pause.
        if self
            .handshake_until
            .take_if(|until| *until <= now)
            .is_some()
            && self.session.quic.is_handshaking()
        {
            self.given_up = Some(HandshakeFailure::Timeout);
            self.session
                .close(now, H3Code::NO_ERROR, "the handshake took too long");
            self.machine.handle_close(now, TransportEnd::Failed);
        }
    }
    /// Gives the buffers back, unless something happened meanwhile: then its next rest looks again.
    fn release(&mut self, now: Instant) {
        let is_idle = self.active_at.is_some_and(|at| at + RELEASE_AFTER <= now);
        if is_idle && self.machine.active() == 0 {
            self.active_at = None;
            self.machine.release();
            self.serving.rest(&self.machine, now, true);
        }
    }
    /// When [`expire`](Self::expire) is due.
    pub(in crate::server) fn next_deadline(&mut self) -> Option<Instant> {
        let of_machine = self.machine.next_deadline();
        [
            self.session.quic.poll_timeout(),
            of_machine.filter(|_| !self.is_paused),
            self.handshake_until,
            self.release_at,
        ]
        .into_iter()
        .flatten()
        .min()
    }
    /// Whether the handshake was done since someone asked.
    pub(in crate::server) fn take_connected(&mut self, now: Instant) -> bool {
        let fresh = self.session.is_connected() && !self.counted_connected;
        if fresh {
            self.counted_connected = true;
            let time = now.saturating_duration_since(self.began);
            self.counters.quic_handshake_done(time);
            self.handshake_until = None;
        }
        fresh
    }
    /// Why the handshake was never done, and between which addresses.
    pub(in crate::server) fn handshake_failure(&self) -> (Option<Addresses>, HandshakeFailure) {
        let failure = match &self.given_up {
            Some(failure) => failure.clone(),
            None => HandshakeFailure::of_quic(self.session.lost()),
        };
        let quic = &self.session.quic;
        let addresses = self.bound.map(|bound| {
            let local_ip = quic.local_ip().unwrap_or(bound.ip());
            let local = SocketAddr::new(local_ip, bound.port());
            (quic.remote_address(), local)
        });
        (addresses, failure)
    }
    /// Whether the handshake was ever done.
    pub(in crate::server) fn was_connected(&self) -> bool {
        self.counted_connected
    }
    /// A connection whose machine is done counts as closed, though its last words may have to be
    /// said again (RFC 9000 section 10.2).
    pub(in crate::server) fn report_closed(&mut self) {
        let over = self.session.quic.is_closed() || self.session.quic.is_drained();
        if over && self.machine.is_closed() && self.entry.take().is_some() {
            add(&self.counters.quic_moves, self.session.moves());
            let unread = self
                .machine
                .h3()
                .map_or(0, |h3| h3.counts().datagrams_dropped);
            let unsent = self.session.datagrams_dropped();
            add(&self.counters.datagrams_dropped, unread + unsent);
            if let Some(rule) = self.session.broken_rule() {
                self.counters.quic_closed(rule);
            }
        }
    }
    /// The packet with CONNECTION_CLOSE of a server that stops at once.
    pub(in crate::server) fn close_packet(
        &mut self,
        now: Instant,
        packet: &mut Vec<u8>,
    ) -> Option<Transmit> {
        if self.session.quic.is_closed() {
            return None;
        }
        self.session
            .close(now, H3Code::NO_ERROR, "the server stops");
        self.session.quic.poll_transmit(now, 1, packet)
    }
}
