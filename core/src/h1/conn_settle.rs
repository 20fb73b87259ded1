//! What follows from bytes, commands and time: whose turn it is, when the connection ends, which
//! deadline runs, what the owner must know. Every call into the machine ends in [`Conn::settle`].

use super::conn::{Conn, Receiving, Timer};
use super::encode;
use super::exchange::Sending;
use super::reuse::CloseReason;
use crate::error::{Closed, Violation};
use crate::http::event::ResetBy;
use crate::http::{Event, Reset, Side, StreamId};
use crate::limits::{PIPELINED_REQUESTS_MAX, UNREAD_BODY_BYTES_MAX};
use crate::time::TimerTable;
use bytes::Bytes;
use std::time::{Duration, Instant};

impl Conn {
    /// Carries out every deadline at or before `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.enter();
        while let Some(kind) = self.timers.expire(now) {
            match Timer::ALL[kind] {
                Timer::Head => self.violate(Violation::HeadTimeout),
                Timer::BodyIdle => self.violate(Violation::BodyTimeout),
                Timer::Idle => self.finish(Closed::Idle),
                Timer::WriteStall if self.sent > self.stall_from => {}
                Timer::WriteStall => {
                    // What waits cannot be delivered.
                    self.outbox = Default::default();
                    self.finish(Closed::ByUs(Violation::WriteStalled));
                }
                Timer::Rate if self.is_fast_enough() => {}
                Timer::Rate => {
                    self.outbox = Default::default();
                    self.finish(Closed::ByUs(Violation::RateTooLow));
                }
                Timer::Age => return self.shut_down(now),
            }
        }
        self.settle(now);
    }

    /// Draws all conclusions.
    pub(super) fn settle(&mut self, now: Instant) {
        self.enter();
        loop {
            while self.settle_front() {}
            let may_parse = matches!(self.receiving, Receiving::Head(_))
                && self.exchanges.len() < PIPELINED_REQUESTS_MAX;
            if self.is_inert() || !self.held_back || !may_parse {
                break;
            }
            self.feed(&[]);
        }
        if self.exchanges.is_empty()
            && let Some(reason) = self.close_reason()
        {
            self.finish(reason.closed());
        }
        self.tell_send_ready();
        self.set_timers(now);
        self.tell_capacity();
        self.enter();
    }

    /// Goes on with the first exchange; true when another one is first now.
    pub(super) fn settle_front(&mut self) -> bool {
        let draining = self.draining;
        let Some(front) = self.exchanges.front_mut() else {
            return false;
        };
        if !front.held.is_empty() {
            self.outbox.append(&mut front.held);
        }
        match front.sending {
            Sending::Refused(violation) => {
                if violation.h1_status() != 0 {
                    encode::refusal(self.outbox.buffer(), violation);
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
                let hopeless = front.continue_due;
                if front.unattended || hopeless {
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

    /// Both sides of the first exchange are complete.
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

    /// The connection changes hands; the machine is done.
    pub(super) fn switch(&mut self, stream: StreamId, rest: Bytes) {
        self.switched = true;
        self.receiving = Receiving::Nothing;
        self.tail.clear();
        self.exchanges.clear();
        self.unread = 0;
        self.timers = TimerTable::default();
        self.events.push_back(Event::Upgraded { stream, rest });
    }

    /// The connection ends: every open exchange is told, then the owner.
    pub(super) fn finish(&mut self, closed: Closed) {
        if self.is_inert() {
            return;
        }
        for index in 0..self.exchanges.len() {
            let open = &self.exchanges[index];
            // Only bytes that never left are provably unprocessed.
            let unprocessed =
                self.side == Side::Client && !open.answered && open.head_at >= self.sent;
            let reset = Reset {
                by: ResetBy::Connection(closed),
                unprocessed,
            };
            self.tell_reset(index, reset);
        }
        if self.side == Side::Client {
            // What was called unprocessed must not go out any more.
            self.outbox = Default::default();
        }
        self.exchanges.clear();
        self.unread = 0;
        self.receiving = Receiving::Nothing;
        self.held_back = false;
        self.tail.clear();
        self.slab.clear();
        self.timers = TimerTable::default();
        self.closed = Some(closed);
        self.events.push_back(Event::Closed(closed));
    }

    /// `SendReady` comes when half of the buffer is free, so that it does not come for every
    /// packet.
    fn tell_send_ready(&mut self) {
        let index = match self.side {
            Side::Server => 0,
            // The last one is the only one that can be sending.
            Side::Client => self.exchanges.len().saturating_sub(1),
        };
        let Some(open) = self.exchanges.get(index) else {
            return;
        };
        if !matches!(open.sending, Sending::Body(_) | Sending::Head) {
            return;
        }
        let (stream, silent) = (open.id, open.silent);
        let room = self.send_room(stream);
        let open = &mut self.exchanges[index];
        if room == 0 {
            open.room_lost = true;
        } else if open.room_lost && room >= self.config.limits.send_buffer_bytes_max / 2 {
            open.room_lost = false;
            if !silent {
                self.events.push_back(Event::SendReady { stream });
            }
        }
    }

    fn tell_capacity(&mut self) {
        if self.side == Side::Client {
            let capacity = self.capacity();
            if capacity != self.capacity_told {
                self.capacity_told = capacity;
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
            && self.unread < UNREAD_BODY_BYTES_MAX
            && self.receiver().is_some_and(|open| !open.continue_due);
        if self.sent > self.stall_from || self.outbox.is_empty() {
            self.timers.stop(Timer::WriteStall as usize);
        }
        let timeouts = &self.config.timeouts;
        let after = |time: Option<Duration>| time.map(|time| now + time);
        let (head, body_idle) = (after(timeouts.head), after(timeouts.body_idle));
        let (idle, stall) = (after(timeouts.idle), after(timeouts.write_stall));
        let rate = (timeouts.rate_min > 0).then(|| now + timeouts.rate_grace);
        let awaits_reader = self.side == Side::Server && !self.outbox.is_empty();
        self.run(
            Timer::Head,
            in_head && !self.tail.is_empty() && !self.held_back,
            head,
        );
        self.run(Timer::BodyIdle, awaits_body, body_idle);
        self.run(
            Timer::Idle,
            self.exchanges.is_empty() && self.tail.is_empty(),
            idle,
        );
        self.run(Timer::WriteStall, !self.outbox.is_empty(), stall);
        self.run(Timer::Rate, awaits_body || awaits_reader, rate);
    }

    /// Whether the bytes since the rate timer was set are as many as `rate_min` asks for.
    fn is_fast_enough(&self) -> bool {
        let timeouts = &self.config.timeouts;
        let least = u128::from(timeouts.rate_min) * timeouts.rate_grace.as_millis() / 1000;
        u128::from(self.sent + self.received - self.rate_from) >= least
    }

    fn run(&mut self, timer: Timer, wanted: bool, at: Option<Instant>) {
        let kind = timer as usize;
        if !wanted {
            self.timers.stop(kind);
        } else if let Some(at) = at
            && self.timers.get(kind).is_none()
        {
            match timer {
                Timer::WriteStall => self.stall_from = self.sent,
                Timer::Rate => self.rate_from = self.sent + self.received,
                _ => {}
            }
            self.timers.set(kind, at);
        }
    }
}
