//! Requests given back by a connection, and the client's view of its peer's health.

use super::{PATIENCE, is_lateness};
use crate::sim::world::link::Link;
use crate::sim::world::{Notice, Outcome, World, WorldEvent};
use trunkline_core::error::{H2Code, TransportEnd};
use trunkline_core::http::{Reset, ResetBy, Side, StreamId};
use trunkline_core::pool::{Cause, HealthAction, Loss, NoRetry, RetryClass, Return, classify};

impl World {
    // Requests that come back.

    pub(super) fn lose(&mut self, own: &mut Link, stream: u64, reset: Reset) {
        if let Some(open) = own.exchanges.get_mut(&stream)
            && open.ended
        {
            // All of the response is there; the rest of the upload was not wanted (RFC 9113
            // section 8.1).
            open.upload_done = true;
            return self.finish_if_read(own, stream);
        }
        let Some(open) = own.exchanges.remove(&stream) else {
            return;
        };
        if let ResetBy::Us(violation) = reset.by {
            assert!(
                is_lateness(violation) && !self.calm,
                "the client found fault with an honest server: {violation:?}"
            );
        }
        if open.limit_known {
            return;
        }
        assert!(
            !self.calm || reset.unprocessed,
            "a reset though nothing went wrong: {reset:?} of {open:?}"
        );
        let plan = &self.plan.requests[open.request as usize];
        let replayable = !open.head_seen && (plan.replayable || open.sent == 0);
        let has_room = own.client.machine.capacity() > 0;
        let cause = Cause::of(&reset, own.answered, has_room);
        if let Err(why) = self.give_back(own, open.request, cause, replayable) {
            self.complete(open.request, Outcome::Lost(cause, why));
        }
    }

    /// A request of which nothing was sent goes back to the pool.
    pub(super) fn send_elsewhere(&mut self, own: &mut Link, request: u32) {
        let unused = !own.answered && (own.draining || own.client.machine.is_closed());
        let cause = Cause::NeverSent {
            unused,
            tunnel: false,
        };
        self.requests[request as usize].unused += u32::from(unused);
        if let Err(why) = self.give_back(own, request, cause, true) {
            assert!(unused, "{request} was never sent: {why:?}");
            self.complete(request, Outcome::Lost(cause, why));
        }
    }

    fn give_back(
        &mut self,
        own: &Link,
        request: u32,
        cause: Cause,
        replayable: bool,
    ) -> Result<(), NoRetry> {
        let (now, entering) = (self.now, self.entering(request));
        let random = self.dice.roll(1 << 32) as u32;
        let state = &mut self.requests[request as usize];
        if state.limit_known.is_some() {
            return Ok(());
        }
        let loss = Loss {
            cause,
            tries: match cause {
                Cause::NeverSent { .. } => state.unused,
                _ => state.tries,
            },
            replayable,
            idempotent: self.plan.requests[request as usize].upload == 0,
        };
        let back = Return {
            from: own.id,
            loss,
            rank: entering.rank,
            alone: self.plan.requests[request as usize].upload > 0,
            limit: entering.deadline.into(),
            random,
        };
        let origin = &self.origins[entering.origin].origin;
        let given = self.pool.give_back(now, origin, request, back);
        match given {
            Err((back, why)) => {
                assert_eq!(back, request);
                self.summary.over_budget += u64::from(why == NoRetry::Budget);
                self.carry_out();
                Err(why)
            }
            Ok(ticket) => {
                state.ticket = ticket;
                state.waits = true;
                state.at = None;
                let class = classify(&loss, self.plan.pool.retry_lost);
                state.harmless += u32::from(class == RetryClass::Harmless);
                self.summary.sent_again += u64::from(!matches!(cause, Cause::NeverSent { .. }));
                self.referee.given_back(now, entering, cause, loss.tries);
                self.carry_out();
                Ok(())
            }
        }
    }

    // Health.

    /// A request is about to start.
    pub(super) fn check_up(&mut self, own: &mut Link) {
        if own.client.machine.h2().is_some() {
            let action = own.health.handle_start(self.now, &self.plan.health);
            self.ask(own, action);
        }
    }

    /// Another connection to the origin is suspect, or works while this one is silent.
    pub(super) fn apply_others(&mut self, link: usize, own: &mut Link) {
        let Notice { probed, outlived } = std::mem::take(&mut self.reported[link]);
        if let Some(even_if_recent) = probed.filter(|_| own.client.machine.h2().is_some()) {
            let times = &self.plan.health;
            let action = own
                .health
                .handle_other_suspect(self.now, times, even_if_recent);
            self.apply(link, own, action);
        } else if probed.is_some() && own.exchanges.is_empty() {
            self.stops[link] = true;
        }
        if let Some(answer_time) = outlived {
            let action = own.health.handle_outlived(self.now, answer_time);
            self.apply(link, own, action);
        }
    }

    /// The time for an answer may have passed.
    pub(super) fn judge_silence(&mut self, link: usize, own: &mut Link) {
        let (now, round_trip) = (self.now, own.client.machine.round_trip());
        let unanswered = own.client.out.unanswered(now);
        if unanswered.is_none() && own.health.is_silent() {
            own.health.handle_bytes(now);
        }
        own.health.note_unanswered(unanswered);
        let due = own
            .health
            .next_deadline(&self.plan.health, round_trip, false);
        if due.is_some_and(|at| at <= now) {
            let was_suspect = own.health.is_suspect();
            let action = own
                .health
                .handle_timeout(now, &self.plan.health, round_trip, false);
            self.summary.suspected += u64::from(own.health.is_suspect() && !was_suspect);
            self.apply(link, own, action);
        }
    }

    /// The network changed: HTTP/2 asks, HTTP/1.1 ends what idles.
    pub(in crate::sim) fn change_network(&mut self) {
        let now = self.now;
        for link in 0..self.links.len() {
            let Some(mut own) = self.links[link].take() else {
                continue;
            };
            if own.client.machine.h2().is_some() {
                let action = own.health.handle_network_change(now);
                self.apply(link, &mut own, action);
            } else if own.exchanges.is_empty() {
                self.stops[link] = true;
            }
            self.links[link] = Some(own);
            self.turn(link, Side::Client);
        }
        self.pool.handle_network_change(now);
        self.carry_out();
    }

    fn apply(&mut self, link: usize, own: &mut Link, action: HealthAction) {
        self.ask(own, action);
        if action == HealthAction::Replace
            && !own.exchanges.is_empty()
            && let Some(since) = own.health.silent_since()
        {
            self.pool.replace(self.now, own.id, since);
            self.carry_out();
        }
        if action == HealthAction::Close && !own.client.machine.is_closed() {
            self.summary.closed_dead += 1;
            own.client
                .machine
                .handle_close(self.now, TransportEnd::Failed);
            self.take_client_events(link, own);
        }
    }

    fn ask(&mut self, own: &mut Link, action: HealthAction) {
        let asks = matches!(action, HealthAction::Ping | HealthAction::ChangePath);
        if asks && own.client.machine.ping(self.now) {
            own.asked += 1;
            self.summary.asked += 1;
        }
    }

    // Time.

    /// Gives an exchange up that has not moved for too long.
    pub(in crate::sim) fn check_progress(&mut self, link: usize, stream: u64) {
        let now = self.now;
        let Some(own) = &mut self.links[link] else {
            return;
        };
        let Some(open) = own.exchanges.get(&stream) else {
            return;
        };
        let due = open.progress_at + PATIENCE;
        if due > now {
            return self.events.push(due, WorldEvent::Overdue { link, stream });
        }
        let (request, limit_known) = (open.request, open.limit_known);
        own.exchanges.remove(&stream);
        own.client
            .machine
            .reset(now, StreamId(stream), H2Code::CANCEL);
        if !limit_known {
            self.complete(request, Outcome::Overdue);
        }
        if let Some(mut own) = self.links[link].take() {
            let is_h2 = own.client.machine.h2().is_some();
            if is_h2 {
                let action = own.health.handle_stream_timeout(now);
                self.apply(link, &mut own, action);
            }
            self.links[link] = Some(own);
        }
        self.turn(link, Side::Client);
    }
}
