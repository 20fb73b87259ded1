//! Requests returned by a connection: sent again now or after a pause, or failed. Each loss also
//! updates the connection and its origin.

use crate::pool::dispatch::queue::{Entrance, QueueEnd, Rank, WaitLimit};
use crate::pool::{Cause, Loss, NoRetry, Retry, RetryClass, WaitReason, classify};
use crate::pool::{ConnectionId, Due, Key, Multiplexing, Origin, OriginId, Pool, Reverse, Ticket};
use std::time::Instant;

/// A request that comes back.
#[derive(Clone, Copy, Debug)]
pub struct Return {
    /// The connection it was on.
    pub from: ConnectionId,
    /// How it was lost.
    pub loss: Loss,
    /// Its place in line.
    pub rank: Rank,
    /// It is not pipelined behind requests that are not answered yet.
    pub alone: bool,
    /// How long it may wait in line.
    pub limit: WaitLimit,
    /// Spreads the pause before it is sent again.
    pub random: u32,
}

impl<R> Pool<R> {
    /// A connection gives a request back. It is sent again if its loss and its origin's budget
    /// allow, on another connection if there is one; otherwise it is handed back with the reason.
    ///
    /// # Errors
    /// The request, and why it is not sent again.
    pub fn give_back(
        &mut self,
        now: Instant,
        origin: &Origin,
        request: R,
        back: Return,
    ) -> Result<Option<Ticket>, (R, NoRetry)> {
        let OriginId(key) = self.origin_id(origin);
        self.learn_from_loss(now, key, back.from, back.loss.cause);
        let given = self.send_again(now, key, request, back);
        // The loss may have ended a connection, and waiting requests can have its successor.
        self.pump(now, key);
        given
    }

    fn send_again(
        &mut self,
        now: Instant,
        key: Key,
        request: R,
        back: Return,
    ) -> Result<Option<Ticket>, (R, NoRetry)> {
        let lost_too = self.config.retry_lost;
        let Some(state) = self.origins.get_mut(key) else {
            return Err((request, NoRetry::Class));
        };
        let may_speak_h1 = state.origin.protocols.include_h1();
        if matches!(back.loss.cause, Cause::Http1Required { .. }) && !may_speak_h1 {
            return Err((request, NoRetry::Class));
        }
        let pause = match state.retries.decide(&back.loss, lost_too, back.random) {
            Retry::After(pause) => pause,
            Retry::No(why) => {
                self.totals.retries_over_budget += u64::from(why == NoRetry::Budget);
                return Err((request, why));
            }
        };
        match classify(&back.loss, lost_too) {
            RetryClass::Harmless => self.totals.retries_lost += 1,
            _ => self.totals.retries_unprocessed += 1,
        }
        let entrance = Entrance {
            request,
            origin: key,
            rank: back.rank,
            since: now,
            limit: back.limit,
            avoid: avoids(back.loss.cause).then_some(back.from.0),
            alone: back.alone,
            end: QueueEnd::Front,
        };
        if pause.is_zero() || self.shut_down {
            return Ok(self.enter(now, entrance));
        }
        Ok(Some(self.pause(now + pause, entrance)))
    }

    /// Whether [`give_back`](Self::give_back) would send it again, as things stand.
    pub fn would_retry(&self, origin: &Origin, loss: &Loss) -> bool {
        let state = self
            .by_origin
            .get(origin)
            .and_then(|&key| self.origins.get(key));
        state.is_some_and(|state| {
            let mut budget = state.retries;
            matches!(
                budget.decide(loss, self.config.retry_lost, 0),
                Retry::After(_)
            )
        })
    }

    fn pause(&mut self, until: Instant, entrance: Entrance<R>) -> Ticket {
        self.totals.submitted += 1;
        self.totals.waited += 1;
        if let Some(state) = self.origins.get_mut(entrance.origin) {
            state.parked += 1;
        }
        let due = entrance.limit.due(entrance.since, None);
        let ticket = self.queue.park(entrance);
        self.queue.note_reason(ticket, WaitReason::Pause);
        self.deadlines.push(Reverse((until, Due::Return(ticket))));
        if let Some(at) = due {
            self.push_deadline(at, ticket);
        }
        ticket
    }

    /// The pause of a request is over.
    pub(in crate::pool) fn resume(&mut self, now: Instant, ticket: Ticket) {
        let Some(entry) = self.queue.get(ticket).filter(|entry| entry.is_parked) else {
            return;
        };
        let origin = entry.entrance.origin;
        if let Some(state) = self.origins.get_mut(origin) {
            state.parked -= 1;
            self.queue.unpark(&mut state.origin_queue, ticket);
        }
        self.pump(now, origin);
    }

    /// A connection lost a request that cannot be sent again: only what that says about the
    /// connection and its origin is kept.
    pub fn handle_loss(&mut self, now: Instant, origin: &Origin, from: ConnectionId, cause: Cause) {
        let OriginId(key) = self.origin_id(origin);
        self.learn_from_loss(now, key, from, cause);
        self.pump(now, key);
    }

    /// Updates connection and origin after a loss.
    fn learn_from_loss(&mut self, now: Instant, origin: Key, from: ConnectionId, cause: Cause) {
        let from = from.0;
        match cause {
            Cause::Refused { below_limit: true } => {
                if let Some(connection) = self.connections.get_mut(from) {
                    connection.refusals += 1;
                    if connection.refusals >= REFUSALS_MAX {
                        self.retire(now, from);
                    }
                }
            }
            Cause::GoneAway
            | Cause::NeverSent { .. }
            | Cause::Behind
            | Cause::Lost { .. }
            | Cause::Abandoned => {
                if let Some(connection) = self.connections.get_mut(from)
                    && let Some(state) = self.origins.get_mut(connection.origin)
                {
                    connection.returned += u64::from(cause == Cause::GoneAway);
                    // It would only give them back again, and out of their order. Its next report says what it takes.
                    connection.gate.shut();
                    state.refile(from, connection);
                }
            }
            // It is for other origins than this one.
            Cause::Misdirected => self.retire(now, from),
            Cause::Http1Required { .. } => self.pin_h1(now, origin),
            _ => {}
        }
    }

    /// The origin wants HTTP/1.1: connections that multiplex finish what they have. One that may not speak it
    /// goes on as it is, since the code is one of a request and not of its origin.
    fn pin_h1(&mut self, now: Instant, origin: Key) {
        match self.origins.get_mut(origin) {
            Some(state) if state.origin.protocols.include_h1() => state.pin_h1(now),
            _ => return,
        }
        let others = self.connections.iter().filter(|(_, connection)| {
            connection.origin == origin && connection.multiplexing == Multiplexing::Yes
        });
        let keys: Vec<Key> = others.map(|(key, _)| key).collect();
        for key in keys {
            self.retire(now, key);
        }
    }
}

/// Whether a request had better go elsewhere. Where the handshake is over by now, or the request is
/// another one, it belongs where it was.
fn avoids(cause: Cause) -> bool {
    !matches!(cause, Cause::TooEarly | Cause::ExpectationFailed)
}

/// Refusals below the peer's own limit that a connection survives, plus one: the first may have
/// crossed a new limit on the way.
const REFUSALS_MAX: u32 = 2;
