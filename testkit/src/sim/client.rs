//! The client: the engine's use of the pool and its machines, without sockets.
//!
//! Invariant: every request ends once. The pool decides whether it is sent again.

mod back;
mod recv;
mod turn;

use super::ledger::Ledger;
use super::machine::Machine;
use super::world::link::{Link, LinkEnd};
use super::world::referee::Entering;
use super::world::{Notice, Outcome, SILENCE_MAX, World, WorldEvent, speaks_h2};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::error::{Closed, H2Code, TransportEnd, Violation};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::pool::{
    Action, AttemptId, Capacity, FailureScope, Health, Multiplexing, OriginId,
};
use trunkline_core::{h1, h2};

/// An exchange without any progress for this long is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);
/// How often a slow reader reads.
pub(super) const READ_EVERY: Duration = Duration::from_millis(50);

impl World {
    pub(super) fn submit(&mut self, request: u32) {
        let now = self.now;
        let plan = &self.plan.requests[request as usize];
        let own = &mut self.requests[request as usize];
        if own.limit_known.is_some() {
            return;
        }
        own.total_until = plan.total.map(|total| now + total);
        let patience = plan.patience.map(|patience| now + patience);
        own.wait_until = patience.into_iter().chain(own.total_until).min();
        own.waits = true;
        if let Some(at) = own.total_until {
            self.events.push(at, WorldEvent::Total(request));
        }
        let origin = &self.origins[plan.origin].origin;
        let (until, rank, alone) = (own.wait_until, plan.rank, plan.upload > 0);
        own.ticket = self
            .pool
            .submit_ranked(now, origin, request, until, rank, alone);
        let entering = self.entering(request);
        self.referee.submitted(now, entering);
        self.carry_out();
    }

    /// A request in the referee's form.
    pub(super) fn entering(&self, request: u32) -> Entering {
        let plan = &self.plan.requests[request as usize];
        Entering {
            request,
            origin: plan.origin,
            rank: plan.rank,
            deadline: self.requests[request as usize].wait_until,
        }
    }

    pub(super) fn warm_up(&mut self, origin: usize, count: u32) {
        let id = self.pool.origin_id(&self.origins[origin].origin);
        self.pool.warm_up(self.now, id, count);
        self.carry_out();
    }

    pub(super) fn abort(&mut self, request: u32) {
        let own = &self.requests[request as usize];
        if own.limit_known.is_some() {
            return;
        }
        if own.waits {
            let ticket = own.ticket.expect("what waits has a ticket");
            let cancelled = self.pool.cancel(self.now, ticket);
            assert_eq!(
                cancelled,
                Some(request),
                "a request in line that cannot be cancelled"
            );
            self.requests[request as usize].waits = false;
            self.referee.left(request);
            self.carry_out();
        } else {
            self.cancel(request);
        }
        self.complete(request, Outcome::Aborted);
    }

    /// Ends the exchange of a request that is on a connection, or on its way there.
    fn cancel(&mut self, request: u32) {
        let Some((link, stream)) = self.requests[request as usize].at else {
            return;
        };
        let now = self.now;
        if let Some(own) = &mut self.links[link] {
            let stream_id = StreamId(stream);
            own.client.machine.reset(now, stream_id, H2Code::CANCEL);
            own.exchanges.remove(&stream);
        }
        let side = Side::Client;
        self.events.push(now, WorldEvent::Wake { link, side });
    }

    /// All of a request's time is over.
    pub(super) fn end_of_time(&mut self, request: u32) {
        let own = &self.requests[request as usize];
        // In line, the pool counts it too.
        if own.limit_known.is_none() && !own.waits {
            self.cancel(request);
            self.complete(request, Outcome::OutOfTime);
        }
    }

    // Attempts.

    pub(super) fn begin_attempt(&mut self, origin: OriginId, attempt: AttemptId) {
        let named = self
            .pool
            .origin(origin)
            .expect("an origin that is being opened");
        let found = self.origins.iter().position(|own| own.origin == *named);
        let origin = found.expect("an origin of this world");
        let plan = &self.plan.origins[origin];
        // TCP, then TLS 1.3.
        let takes = 2 * plan.path.round_trip + plan.handshake_delay;
        self.events
            .push(self.now + takes, WorldEvent::Attempt { attempt, origin });
    }

    pub(super) fn end_attempt(&mut self, attempt: AttemptId, origin: usize) {
        let plan = &self.plan.origins[origin];
        if self.dice.per_mille(plan.handshake_failures_per_mille) {
            self.pool
                .handle_attempt_failed(self.now, attempt, FailureScope::All);
            return self.carry_out();
        }
        let h2 = speaks_h2(plan);
        let config = Arc::new(self.plan.config.clone());
        let now = self.now;
        let (mut machine, multiplexing) = match h2 {
            true => (
                Machine::H2(h2::Conn::new(Side::Client, config, now)),
                Multiplexing::Yes,
            ),
            false => (
                Machine::H1(h1::Conn::new(Side::Client, config, now)),
                Multiplexing::No,
            ),
        };
        let reported = Capacity::fresh(machine.capacity(), !h2);
        let link = self.links.len();
        let connected = self
            .pool
            .handle_connected(now, attempt, multiplexing, reported);
        let Some(id) = connected else {
            return;
        };
        self.by_id.insert(id, link);
        self.inboxes.push(Vec::new());
        self.stops.push(false);
        self.reported.push(Notice::default());
        self.links.push(None);
        self.referee.connected(now, origin, reported);
        self.pool.handle_alive(now, id, None);
        self.carry_out();
        let mut own = Link {
            origin,
            id,
            client: LinkEnd::new(machine, now),
            server: LinkEnd::new(self.server_machine(origin, h2), now),
            ledger: h2.then(Ledger::default),
            taken: 0,
            draining: false,
            answered: false,
            health: Health::new(now),
            round_trip: None,
            asked: 0,
            reported,
            left: false,
            exchanges: BTreeMap::new(),
            handlers: BTreeMap::new(),
            fault: None,
            mute_until: None,
            stalled_until: None,
            dead: false,
            streams_seen: 0,
            goaway_last: None,
            limits: Vec::new(),
            late: Vec::new(),
            ack_passed: false,
            ends_behind_outbox: false,
        };
        self.begin_server(link, &mut own);
        self.links[link] = Some(Box::new(own));
        for side in [Side::Client, Side::Server] {
            self.events.push(now, WorldEvent::Wake { link, side });
        }
    }

    /// Neither end finds fault with the other: both are ours.
    pub(super) fn check_closed(&self, side: Side, closed: Closed, own: &Link) {
        if let Closed::ByUs(violation) = closed {
            assert!(
                is_lateness(violation) && !self.calm,
                "the {side:?} found fault with an honest peer: {violation:?} ({:?})",
                own.fault
            );
        }
    }

    /// A connection that is over; every ledger of it was checked as it was written.
    pub(super) fn close_dead(&mut self, own: &Link) {
        if let Some(server) = own.server.machine.h2() {
            self.summary.refused += server.counts().refused;
        }
        if let Some(ledger) = &own.ledger {
            // A PING asks whether a reset was seen, or whether a quiet peer lives.
            let (pings, resets) = (ledger.client.pings, ledger.client.resets);
            let asked = own.asked;
            assert!(
                pings <= resets + asked,
                "{pings} PINGs for {resets} resets and {asked} probes"
            );
        }
    }

    /// Carries out what the pool wants: after every call of it.
    pub(super) fn carry_out(&mut self) {
        let now = self.now;
        while let Some(action) = self.pool.poll_action() {
            match action {
                Action::Dispatch {
                    request,
                    connection,
                    ..
                } => {
                    let link = self.by_id[&connection];
                    let origin = self.plan.requests[request as usize].origin;
                    let multiplexes = speaks_h2(&self.plan.origins[origin]);
                    let multiplexing = match multiplexes {
                        true => Multiplexing::Yes,
                        false => Multiplexing::No,
                    };
                    self.referee.dispatched(now, request, link, multiplexing);
                    self.requests[request as usize].waits = false;
                    self.inboxes[link].push(request);
                    let side = Side::Client;
                    self.events.push(now, WorldEvent::Wake { link, side });
                }
                Action::Open { origin, attempt } => self.begin_attempt(origin, attempt),
                Action::Fail { request, why } => {
                    self.referee.failed(now, request, why);
                    self.requests[request as usize].waits = false;
                    self.complete(request, Outcome::ByPool(why));
                }
                Action::Probe {
                    connection,
                    even_if_recent,
                } => {
                    let link = self.by_id[&connection];
                    let probed = &mut self.reported[link].probed;
                    *probed = (*probed).max(Some(even_if_recent));
                    let side = Side::Client;
                    self.events.push(now, WorldEvent::Wake { link, side });
                }
                Action::Outlived {
                    connection,
                    answer_time,
                } => {
                    let link = self.by_id[&connection];
                    self.reported[link].outlived = Some(answer_time);
                    let side = Side::Client;
                    self.events.push(now, WorldEvent::Wake { link, side });
                }
                Action::Close { connection, .. } => {
                    let link = self.by_id[&connection];
                    self.referee.reported_to_close(link);
                    self.stops[link] = true;
                    let side = Side::Client;
                    self.events.push(now, WorldEvent::Wake { link, side });
                }
            }
        }
    }

    /// The path of a dead connection is noticed at last.
    pub(super) fn cut(&mut self, link: usize) {
        for side in [Side::Server, Side::Client] {
            if let Some(own) = &mut self.links[link] {
                own.end(side).eof = Some(TransportEnd::Failed);
                self.turn(link, side);
            }
        }
    }

    pub(super) fn fall_silent(&mut self, link: usize) {
        if let Some(own) = &mut self.links[link] {
            own.dead = true;
            self.events
                .push(self.now + SILENCE_MAX, WorldEvent::Cut { link });
        }
    }
}

/// Violations that a slow or dead peer causes, which are no fault of a machine.
pub(super) fn is_lateness(violation: Violation) -> bool {
    matches!(
        violation,
        Violation::PrefaceTimeout
            | Violation::SettingsTimeout
            | Violation::HeadTimeout
            | Violation::HeaderBlockTimeout
            | Violation::BodyTimeout
            | Violation::BodyTooSlow
            | Violation::BodyTruncated
            | Violation::StreamStalled
            | Violation::WriteStalled
            | Violation::RateTooLow
    )
}
