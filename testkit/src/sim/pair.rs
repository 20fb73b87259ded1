//! One connection over one path: its two ends, the bytes in flight, and time. A [`Conduct`] drives
//! the ends.

use super::dice::Dice;
use super::ledger::Ledger;
use super::machine::Machine;
use super::path::{PathPlan, Wire};
use super::world::event_queue::EventQueue;
use super::world::link::LinkEnd;
use super::world::other;
use bytes::Bytes;
use std::time::Instant;
use trunkline_core::h2;
use trunkline_core::http::{Event, Side};

/// The use of a connection.
pub(super) trait Conduct {
    /// It has seen enough. Asked before anything happens.
    fn is_over(&self, pair: &Pair) -> bool;
    /// The machine of `side` gave an event.
    fn handle(&mut self, pair: &mut Pair, side: Side, event: Event);
    /// The action of `side` in its turn, before it writes and each time that its socket took bytes.
    fn act(&mut self, pair: &mut Pair, side: Side);
}

/// Two ends and the way between them.
pub(super) struct Pair {
    pub(super) began: Instant,
    pub(super) now: Instant,
    pub(super) client: LinkEnd,
    pub(super) server: LinkEnd,
    /// The output of both.
    pub(super) ledger: Ledger,
    path: PathPlan,
    up: Wire,
    down: Wire,
    dice: Dice,
    events: EventQueue<PairEvent>,
}

#[derive(Debug)]
enum PairEvent {
    Arrive(Side, Bytes),
    Acknowledge(Side, u64),
    Wake(Side),
}

impl Pair {
    pub(super) fn new(
        began: Instant,
        client: h2::Conn,
        server: h2::Conn,
        path: PathPlan,
        seed: u64,
    ) -> Self {
        Self {
            began,
            now: began,
            client: LinkEnd::new(Machine::H2(client), began),
            server: LinkEnd::new(Machine::H2(server), began),
            ledger: Ledger::default(),
            path,
            up: Wire::new(path, began),
            down: Wire::new(path, began),
            dice: Dice::new(seed),
            events: EventQueue::default(),
        }
    }
    /// Lets happen what happens, until `conduct` has seen enough.
    pub(super) fn run(&mut self, conduct: &mut impl Conduct) {
        for side in [Side::Server, Side::Client] {
            self.wake(side, self.began);
        }
        while let Some((at, event)) = self.events.pop() {
            self.now = at;
            if conduct.is_over(self) {
                break;
            }
            let side = self.handle_event(event);
            self.turn(conduct, side);
        }
    }
    /// Gives `side` a turn at that time.
    pub(super) fn wake(&mut self, side: Side, at: Instant) {
        self.events.push(at, PairEvent::Wake(side));
    }
    /// Whose turn it is then.
    fn handle_event(&mut self, event: PairEvent) -> Side {
        match event {
            PairEvent::Arrive(to, bytes) => {
                self.end(to).inbox.push_back(bytes);
                to
            }
            PairEvent::Acknowledge(from, bytes) => {
                let (now, path) = (self.now, self.path);
                self.end(from).out.acknowledge(now, bytes, &path);
                from
            }
            PairEvent::Wake(side) => {
                let now = self.now;
                self.end(side).wake_at.take_if(|at| *at <= now);
                side
            }
        }
    }
    fn end(&mut self, side: Side) -> &mut LinkEnd {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
    fn turn(&mut self, conduct: &mut impl Conduct, side: Side) {
        let now = self.now;
        while let Some(bytes) = self.end(side).inbox.pop_front() {
            self.end(side).machine.handle_bytes(now, &bytes);
            self.report(conduct, side);
        }
        let deadline = self.end(side).machine.next_deadline();
        if deadline.is_some_and(|at| at <= now) {
            self.end(side).machine.handle_timeout(now);
            self.report(conduct, side);
            assert!(
                self.end(side)
                    .machine
                    .next_deadline()
                    .is_none_or(|next| next > now),
                "a deadline that stays due would spin"
            );
        }
        loop {
            conduct.act(self, side);
            // Bytes that leave the socket make room in it.
            let wrote = self.write(side);
            self.report(conduct, side);
            if !wrote {
                break;
            }
        }
        let end = self.end(side);
        if let Some(at) = end.machine.next_deadline().map(|at| at.max(now))
            && end.wake_at.is_none_or(|set| at < set)
        {
            end.wake_at = Some(at);
            self.wake(side, at);
        }
    }
    fn report(&mut self, conduct: &mut impl Conduct, side: Side) {
        while let Some(event) = self.end(side).machine.poll_event() {
            conduct.handle(self, side, event);
        }
    }
    /// True when the socket took anything.
    fn write(&mut self, side: Side) -> bool {
        let mut wrote = false;
        let now = self.now;
        let (end, wire) = match side {
            Side::Client => (&mut self.client, &mut self.up),
            Side::Server => (&mut self.server, &mut self.down),
        };
        while end.out.has_room() {
            let written = end.machine.written(now);
            if written.is_empty() {
                break;
            }
            self.ledger.record(now, side, &written);
            end.out.push(written);
            wrote = true;
        }
        for burst in end.transmit(now, wire, &mut self.dice) {
            let bytes = burst.bytes.len() as u64;
            let acknowledged = PairEvent::Acknowledge(side, bytes);
            self.events.push(burst.acknowledged_at, acknowledged);
            let arrival = PairEvent::Arrive(other(side), burst.bytes);
            self.events.push(burst.arrives_at, arrival);
        }
        wrote
    }
}
