//! Advances the connection after bytes, commands and time: the current exchange, the end of the
//! connection, the running deadlines, and the events for the owner. Every call into the machine
//! ends in [`Conn::advance`], or leaves it to the [`Conn::poll_write`] that follows.

use super::{Conn, PeerInput, Receiving, Timer};
use crate::error::{Closed, TransportEnd, Violation};
use crate::h1::encode;
use crate::h1::exchange::Sending;
use crate::h1::reuse::CloseReason;
use crate::http::{Event, Side};
use crate::limits::{DRAIN_FIRST_REQUEST_WAIT, PIPELINED_REQUESTS_MAX};
use crate::time::Moment;
use crate::wire::Outbox;
use crate::write_stall::Waiting;
use bytes::Bytes;
use std::time::{Duration, Instant};

impl Conn {
    /// Carries out every deadline at or before `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.enter();
        while let Some(kind) = self.timers.expire(now) {
            match kind {
                Timer::Head => self.violate(Violation::HeadTimeout),
                Timer::BodyIdle => self.violate(Violation::BodyTimeout),
                Timer::Idle if self.draining => self.finish(Closed::Drained),
                Timer::Idle => self.finish(Closed::Idle),
                Timer::HalfClosed => self.finish(Closed::Transport(TransportEnd::InOrder)),
                Timer::WriteStall => self.expire_write(now),
                Timer::Rate if self.is_fast_enough() || !self.has_due() => {}
                Timer::Rate if self.outbox.is_empty() => self.violate(Violation::BodyTooSlow),
                Timer::Rate => self.give_up(Violation::RateTooLow),
                Timer::Age => return self.shut_down(now),
            }
        }
        self.advance(now);
    }

    /// Ends the connection, with what waits on it: it cannot be delivered.
    fn give_up(&mut self, why: Violation) {
        self.outbox = Outbox::new();
        self.finish(Closed::ByUs(why));
    }

    fn waiting_write(&self) -> Waiting<'_> {
        Waiting {
            side: self.side,
            timeouts: &self.config.timeouts,
            written: self.outbox.written(),
        }
    }

    fn expire_write(&mut self, now: Instant) {
        let mut stall = self.stall;
        let waiting = self.waiting_write();
        if stall.has_progress(&waiting) {
            return;
        }
        let is_scarce = self.is_scarce_to_send();
        let looked = stall.look(&waiting, is_scarce);
        self.stall = stall;
        match looked {
            Ok(Some(next)) => self.timers.set(Timer::WriteStall, now + next),
            Ok(None) => {}
            Err(violation) => self.give_up(violation),
        }
    }

    /// Moves every deadline later by the time in which the service's pause stopped reading.
    pub fn postpone(&mut self, by: Duration) {
        self.timers.postpone(by);
    }

    /// Draws all conclusions.
    pub(super) fn advance(&mut self, now: Instant) {
        self.enter();
        self.unsettled = false;
        self.awaits_write = false;
        loop {
            while self.advance_front(Some(now)) {}
            let may_parse = matches!(self.receiving, Receiving::Head(_))
                && self.exchanges.len() < PIPELINED_REQUESTS_MAX
                && !self.is_backed_up();
            if self.is_inert() {
                break;
            } else if self.is_paused && may_parse {
                self.feed(now, &[]);
            } else if !self.conclude_input() {
                break;
            }
        }
        // A connection that has left HTTP is its new owner's: `connection: close` ends HTTP on it alone.
        if !self.switched
            && self.exchanges.is_empty()
            && !self.awaits_last_request()
            && let Some(reason) = self.close_reason()
        {
            self.finish(reason.closed());
        }
        if self.side == Side::Server {
            // Exchanges that found no room are in `room_lost`.
            let _ = self.send_account.follow(self.waiting());
        }
        self.report_send_ready();
        self.set_timers(now);
        self.report_capacity();
        self.enter();
    }

    /// Goes on with the first exchange; true when another one is first now.
    /// `now`: a server's, which dates its own answers.
    pub(super) fn advance_front(&mut self, now: Option<Instant>) -> bool {
        let draining = self.draining;
        let Some(front) = self.exchanges.front_mut() else {
            return false;
        };
        if !front.queued.is_empty() {
            self.outbox.append(&mut front.queued);
        }
        match front.sending {
            Sending::Refused(violation) => {
                if self.hand_over_refused() {
                    return false;
                }
                if violation.h1_status() != 0 {
                    let date = self.config.date.zip(now);
                    encode::refusal(self.outbox.buffer(), violation, date);
                }
                self.finish(Closed::ByUs(violation));
                false
            }
            Sending::Broken(closed) => {
                self.finish(closed);
                false
            }
            Sending::Switch if front.received => {
                let stream = front.id;
                let rest = Bytes::from(std::mem::take(&mut self.tail));
                self.switch(stream, rest);
                false
            }
            Sending::Done if front.received => self.retire_front(),
            Sending::Done if self.side == Side::Server => {
                // The response is complete before the request.
                let body_withheld = front.continue_due;
                if front.handler_gone || body_withheld {
                    self.unread -= std::mem::take(&mut front.unread);
                    if front.close.is_some() || draining {
                        let reason = front.close.unwrap_or(CloseReason::ShutDown);
                        self.finish(reason.closed());
                    }
                }
                false
            }
            _ => false,
        }
    }

    /// Takes the first exchange, both of whose sides are complete, off the queue. False: none may follow it.
    fn retire_front(&mut self) -> bool {
        let Some(front) = self.exchanges.pop_front() else {
            return false;
        };
        self.unread -= front.unread;
        self.discarded = 0;
        if let Some(reason) = front.close {
            self.finish(reason.closed());
            return false;
        }
        true
    }

    /// `SendReady` comes when half of the buffer is free, so that it does not come for every
    /// packet.
    fn report_send_ready(&mut self) {
        let first = match self.side {
            Side::Server => 0,
            // The last one is the only one that can be sending.
            Side::Client => self.exchanges.len().saturating_sub(1),
        };
        for index in first..self.exchanges.len() {
            let open = &self.exchanges[index];
            if !matches!(open.sending, Sending::Body(_) | Sending::Head) {
                continue;
            }
            let (stream, silent) = (open.id, open.silent);
            let (room, room_max) = (self.send_room(stream), self.room_max(index));
            let open = &mut self.exchanges[index];
            if room == 0 {
                open.room_lost = true;
            } else if open.room_lost && room >= room_max / 2 {
                open.room_lost = false;
                if !silent {
                    self.events.push_back(Event::SendReady { stream });
                }
            }
        }
    }

    fn report_capacity(&mut self) {
        // `Closed` is the last event, and says that there is none.
        if self.side == Side::Client && !self.is_closed() {
            let capacity = self.capacity();
            if capacity != self.reported_capacity {
                self.reported_capacity = capacity;
                self.events.push_back(Event::CapacityChanged);
            }
        }
    }

    /// Starts the deadlines that should run and do not, stops those that should not.
    pub(super) fn set_timers(&mut self, now: Instant) {
        if self.is_inert() {
            return;
        }
        let in_head = matches!(self.receiving, Receiving::Head(_) | Receiving::Trailers(_));
        let in_body = matches!(
            self.receiving,
            Receiving::Known { .. } | Receiving::Chunked(_)
        );
        let awaits_body = self.side == Side::Server
            && in_body
            && self.unread < self.read_ahead as usize
            // Once a response began, the pace is the application's.
            && self
                .receiver()
                .is_some_and(|open| !open.continue_due && !matches!(open.sending, Sending::Body(_)));
        let waiting = self.waiting_write();
        let stall = waiting.look();
        let is_set = self.timers.is_set(Timer::WriteStall);
        if is_set && (self.outbox.is_empty() || self.stall.has_progress(&waiting)) {
            self.timers.stop(Timer::WriteStall);
        }
        let timeouts = &self.config.timeouts;
        let (head, body_idle) = (timeouts.head, timeouts.body_idle);
        let idle = match self.draining {
            true => Some(DRAIN_FIRST_REQUEST_WAIT),
            false => timeouts.idle,
        };
        let rate = (timeouts.rate_min > 0).then_some(timeouts.rate_grace);
        let awaits_reader = self.side == Side::Server && !self.outbox.is_empty();
        let begun = !self.tail.is_empty();
        let first_request = timeouts.first_request.filter(|_| self.awaits_first());
        let awaits_first = first_request.is_some() && !self.draining;
        // The last chunk has come: the end of its trailer section is due, whether or not a byte of it waits. A server's
        // trailers may take as long as its handler needs for them.
        let in_trailers =
            self.side == Side::Server && matches!(self.receiving, Receiving::Trailers(_));
        let head_begun = in_head && (begun || awaits_first || in_trailers) && !self.is_paused;
        let head = first_request.or(head);
        // An answer that was given whole is over for its owner, and not for a client that reads slowly.
        let is_written = self.outbox.is_empty() || self.draining;
        let is_idle = self.exchanges.is_empty() && !begun && !awaits_first && is_written;
        // A client that is gone resets the connection when data is written to it.
        let half_closed = self.input != PeerInput::Open && self.outbox.is_empty();
        let half_closed_max = timeouts.half_closed;
        let now = &mut Now {
            at: now,
            moment: None,
        };
        self.run(now, Timer::Head, head_begun, head);
        self.run(now, Timer::BodyIdle, awaits_body, body_idle);
        self.run(now, Timer::Idle, is_idle, idle);
        self.run(now, Timer::WriteStall, !self.outbox.is_empty(), stall);
        self.run(now, Timer::HalfClosed, half_closed, half_closed_max);
        self.run(now, Timer::Rate, awaits_body || awaits_reader, rate);
    }

    /// Whether bytes are due at a rate: those that are missing from a body of known length, all of a body where
    /// connections are scarce, and those of an answer where connections or the send budget are. Else a client may
    /// pause for the time of [`Timer::WriteStall`].
    fn has_due(&self) -> bool {
        match self.outbox.is_empty() {
            true => matches!(self.receiving, Receiving::Known { .. }) || self.scarcity.is_set(),
            false => self.is_scarce_to_send(),
        }
    }

    /// Server: whether connections or the budget of the bytes that wait for clients are scarce.
    pub fn is_scarce_to_send(&self) -> bool {
        self.scarcity.is_set() || self.send_account.is_scarce()
    }

    /// Whether the bytes since the rate timer was set are as many as `rate_min` asks for.
    fn is_fast_enough(&self) -> bool {
        let timeouts = &self.config.timeouts;
        let moved = self.outbox.written() + self.received;
        moved.saturating_sub(self.rate_from) >= timeouts.least_bytes(timeouts.rate_grace)
    }

    /// A server whose client has not sent its first request.
    fn awaits_first(&self) -> bool {
        self.side == Side::Server && self.next_id == 1
    }

    fn run(&mut self, now: &mut Now, timer: Timer, wanted: bool, after: Option<Duration>) {
        if !wanted {
            self.timers.stop(timer);
        } else if let Some(after) = after
            && !self.timers.is_set(timer)
        {
            match timer {
                Timer::WriteStall => self.stall.start(self.outbox.written()),
                Timer::Rate => self.rate_from = self.outbox.written() + self.received,
                _ => {}
            }
            let at = now.at;
            let from = *now.moment.get_or_insert_with(|| self.timers.moment(at));
            self.timers.set_after(timer, from, after);
        }
    }
}

/// The moment of a conclusion; by the count of the timers once one is to be set.
struct Now {
    at: Instant,
    moment: Option<Moment>,
}
