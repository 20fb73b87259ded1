//! A turn of one end: reads the received bytes, acts on them, and writes as much as the path takes.

use super::{World, WorldEvent, other};
use crate::sim::world::link::Link;
use trunkline_core::http::Side;

impl World {
    /// Lets one end do what it can.
    pub(in crate::sim) fn turn(&mut self, link: usize, side: Side) {
        let Some(mut own) = self.links[link].take() else {
            return;
        };
        match side {
            Side::Client => self.client_turn(link, &mut own),
            Side::Server => self.server_turn(link, &mut own),
        }
        self.arm(link, &mut own, side);
        if !own.is_over() {
            self.links[link] = Some(own);
        } else {
            self.close_dead(&own);
        }
    }

    /// Reads what has arrived, as far as the machine wants it; `take` takes the events.
    pub(in crate::sim) fn read_end(
        &mut self,
        link: usize,
        own: &mut Link,
        side: Side,
        take: fn(&mut Self, usize, &mut Link),
    ) {
        let now = self.now;
        loop {
            let end = own.end(side);
            if end.machine.is_closed() {
                end.inbox.clear();
            }
            if !end.machine.wants_read() {
                break;
            }
            let Some(bytes) = end.inbox.pop_front() else {
                break;
            };
            end.machine.handle_bytes(now, &bytes);
            if side == Side::Client {
                own.health.handle_bytes(now);
            }
            take(self, link, own);
        }
        let end = own.end(side);
        if let Some(kind) = end.eof
            && end.inbox.is_empty()
            && !std::mem::replace(&mut end.eof_reported, true)
        {
            end.machine.handle_close(now, kind);
            take(self, link, own);
        }
        let end = own.end(side);
        if end.machine.next_deadline().is_some_and(|at| at <= now) {
            end.machine.handle_timeout(now);
            take(self, link, own);
            assert!(
                own.end(side)
                    .machine
                    .next_deadline()
                    .is_none_or(|next| next > now),
                "a deadline that stays due would spin"
            );
        }
    }

    /// Writes what the socket takes, and sends what the path takes.
    pub(in crate::sim) fn write_end(&mut self, link: usize, own: &mut Link, side: Side) {
        let now = self.now;
        let is_mute = side == Side::Server && own.mute_until.is_some_and(|until| until > now);
        loop {
            if !own.end(side).out.has_room() {
                // Bytes that leave the socket make room in it.
                self.flush(link, own, side);
            }
            let (end, ledger) = own.end_and_ledger(side);
            if is_mute || !end.out.has_room() {
                break;
            }
            let mut written = end.machine.written(now);
            if written.is_empty() {
                own.server.closing |= side == Side::Server && own.ends_behind_outbox;
                break;
            }
            if let Some(ledger) = ledger {
                ledger.record(now, side, &written);
            }
            if side == Side::Client {
                written = own.without_extra_acks(written);
            }
            let end = own.end(side);
            if !end.closed && !end.eof_reported {
                end.out.push(written);
            }
        }
        self.flush(link, own, side);
    }

    fn flush(&mut self, link: usize, own: &mut Link, side: Side) {
        let now = self.now;
        let (origin, dead) = (own.origin, own.dead);
        let to = other(side);
        let wire = match side {
            Side::Client => &mut self.origins[origin].up,
            Side::Server => &mut self.origins[origin].down,
        };
        let delay = wire.plan().round_trip / 2;
        let stalled = own.stalled_until.unwrap_or(now);
        let end = own.end(side);
        for burst in end.transmit(now, wire, &mut self.dice) {
            if dead {
                continue;
            }
            let bytes = burst.bytes.len() as u64;
            self.events.push(
                burst.acknowledged_at.max(stalled),
                WorldEvent::Acknowledge {
                    link,
                    from: side,
                    bytes,
                },
            );
            self.events.push(
                burst.arrives_at.max(stalled),
                WorldEvent::Arrive {
                    link,
                    to,
                    bytes: burst.bytes,
                },
            );
        }
        if end.closing && !end.closed && end.out.is_flushed() {
            end.closed = true;
            let at = end.out.last_arrival().max(now + delay).max(stalled);
            self.events.push(at, WorldEvent::Eof { link, to });
        }
    }

    /// Sees to it that a machine is woken for its next deadline.
    fn arm(&mut self, link: usize, own: &mut Link, side: Side) {
        let other = match side {
            Side::Server => own.mute_until.filter(|&until| until > self.now),
            Side::Client => {
                let round_trip = own.client.machine.round_trip();
                let unanswered = own.client.out.unanswered(self.now);
                own.health.note_unanswered(unanswered);
                own.health
                    .next_deadline(&self.plan.health, round_trip, false)
            }
        };
        let end = own.end(side);
        if end.machine.is_closed() {
            end.closing = true;
            self.flush(link, own, side);
            return;
        }
        let at = end.machine.next_deadline().into_iter().chain(other).min();
        if let Some(at) = at.map(|at| at.max(self.now))
            && end.wake_at.is_none_or(|set| at < set)
        {
            end.wake_at = Some(at);
            self.events.push(at, WorldEvent::Wake { link, side });
        }
    }
}
