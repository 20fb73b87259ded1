//! One exchange of the callback API: its response, sent as far as the machine has room.

use super::exchange_timeline::ExchangeTimeline;
use super::{Callbacks, ResponseBody, StreamHandle};
use crate::driver::machine::Machine;
use crate::server::exchange::send::{FirstBody, SendSide};
use crate::server::exchange::turn::Turn;
use crate::server::response::is_bodiless;
use bytes::Bytes;
use http::StatusCode;
use std::collections::VecDeque;
use std::mem;
use std::time::Instant;
use trunkline_core::error::{H2Code, Misuse};
use trunkline_core::http::{Fields, ResponseHead};

/// An exchange, until both sides have ended.
pub(in crate::server) struct CallbackExchange<A: Callbacks> {
    pub(in crate::server) handle: StreamHandle,
    pub(in crate::server) exchange: A::Exchange,
    /// When the request's head came.
    pub(super) began: Instant,
    /// The request is whole.
    pub(in crate::server) received: bool,
    pub(super) quiet: bool,
    /// The rest of the request is discarded.
    pub(super) declined: bool,
    /// Bytes of the request that were reported and not taken.
    pub(in crate::server) unread: usize,
    send: SendSide,
    /// The body was given whole, so no `room` callback follows.
    whole: bool,
    /// Body bytes that the machine has no room for yet.
    waiting: VecDeque<Bytes>,
    /// How our side ends, once nothing waits.
    finish: Option<Finish>,
    /// The owner of the callbacks has reset it while the connection was about to leave HTTP with it.
    reset: Option<H2Code>,
    /// Its timeline, where timelines are kept.
    pub(super) timeline: Option<Box<ExchangeTimeline>>,
}

enum Finish {
    Plain,
    Trailers(Fields),
}

impl<A: Callbacks> CallbackExchange<A> {
    pub(in crate::server) fn new(
        handle: StreamHandle,
        exchange: A::Exchange,
        (received, began): (bool, Instant),
    ) -> Self {
        Self {
            handle,
            exchange,
            began,
            received,
            quiet: false,
            declined: false,
            unread: 0,
            send: SendSide::Head,
            whole: false,
            waiting: VecDeque::new(),
            finish: None,
            reset: None,
            timeline: None,
        }
    }
    /// The connection leaves HTTP with it: what is sent waits for that.
    pub(in crate::server) fn leaving(handle: StreamHandle, exchange: A::Exchange) -> Self {
        Self {
            send: SendSide::Leaving,
            ..Self::new(handle, exchange, (false, Instant::now()))
        }
    }
    /// Whether both sides are complete: the request was received and the machine has the answer.
    pub(in crate::server) fn is_whole(&self) -> bool {
        self.send == SendSide::Done && self.received
    }
    /// Whether the exchange ends now. One that is whole stays open until its body is taken: what was
    /// received of it is counted for as long as a reader holds it.
    pub(super) fn is_over(&self) -> bool {
        self.send == SendSide::Done && (self.is_unwanted() || self.received && self.unread == 0)
    }
    /// Whether nothing reads the rest of the request.
    fn is_unwanted(&self) -> bool {
        self.quiet || self.declined
    }
    /// Asks the peer to send no more of a request that is declined and not complete: one that waits with its body, for room or of
    /// its own accord, learns it too (RFC 9113 section 8.1). Over HTTP/1.1 that would cost the connection.
    pub(super) fn stop_request(&self, turn: &mut Turn<'_>) {
        if self.declined && !self.received && !matches!(turn.machine, Machine::H1(_)) {
            let stream = self.handle.stream();
            turn.machine
                .reset_behind_body(turn.now, stream, H2Code::NO_ERROR);
        }
    }
    /// Sends the head, and what is there of the body. How many bytes went that were sent piece by
    /// piece, before their head.
    pub(in crate::server) fn answer(
        &mut self,
        turn: &mut Turn<'_>,
        head: &ResponseHead,
        body: ResponseBody,
    ) -> Result<usize, Misuse> {
        if self.is_unwanted() {
            turn.machine.decline(self.handle.stream());
        }
        let status = StatusCode::from_u16(head.status).unwrap_or_default();
        let is_empty = match &body {
            ResponseBody::Nothing => true,
            ResponseBody::Whole(body) => body.is_empty(),
            ResponseBody::Streaming => false,
        };
        // HTTP/1.1 alone: elsewhere a tunnel is a stream like any other.
        let leaves = matches!(turn.machine, Machine::H1(_))
            && (head.status == 101 || self.handle.facts.connect && status.is_success());
        let end = is_bodiless(status, self.handle.facts) || is_empty;
        let first = match (leaves, end) {
            (true, _) => FirstBody::Leaving,
            (false, true) => FirstBody::Nothing,
            (false, false) => FirstBody::Later,
        };
        self.send
            .head(turn, self.handle.stream(), (head, self.began), first)?;
        if let Some(timeline) = &mut self.timeline {
            timeline.answered(self.began, status);
        }
        if !(end || matches!(body, ResponseBody::Streaming)) || self.send == SendSide::Done {
            // Pieces of a body that there is not.
            let pieces = mem::take(&mut self.waiting);
            self.finish = None;
            if let ResponseBody::Whole(body) = body {
                self.send(turn, body, true)?;
                self.whole = true;
            }
            return Ok(pieces.iter().map(Bytes::len).sum());
        }
        self.pump(turn)
    }
    /// The machine refused a command, and sent none of it. False: the exchange ended meanwhile.
    pub(in crate::server) fn fail(&mut self, turn: &mut Turn<'_>, misuse: Misuse) -> bool {
        self.send
            .fail(turn, (self.handle.stream(), self.began), misuse)
    }
    /// Body bytes; `end`: the last. How many bytes the machine took at once.
    pub(in crate::server) fn send(
        &mut self,
        turn: &mut Turn<'_>,
        data: Bytes,
        end: bool,
    ) -> Result<usize, Misuse> {
        if self.send == SendSide::Done || self.finish.is_some() {
            // The answer has no body, or its end is written.
            return Ok(data.len());
        }
        let stream = self.handle.stream();
        if self.waiting.is_empty() && self.send.has_room(turn, stream) {
            let length = data.len();
            self.send.body(turn, stream, data, end)?;
            self.count_sent(length);
            return Ok(length);
        }
        if !data.is_empty() {
            self.waiting.push_back(data);
        }
        if end {
            self.finish = Some(Finish::Plain);
        }
        Ok(0)
    }
    /// The end of the body, perhaps with trailers. How many bytes of what waited the machine took.
    pub(in crate::server) fn finish(
        &mut self,
        turn: &mut Turn<'_>,
        trailers: Fields,
    ) -> Result<usize, Misuse> {
        if self.finish.is_some() || self.send == SendSide::Done {
            return Ok(0);
        }
        self.finish = Some(match trailers.is_empty() {
            true => Finish::Plain,
            false => Finish::Trailers(trailers),
        });
        self.pump(turn)
    }
    /// Resets it behind what waits. False: the connection leaves HTTP with it, and its tunnel sends that first.
    pub(super) fn reset(&mut self, turn: &mut Turn<'_>, code: H2Code) -> bool {
        let stream = self.handle.stream();
        if self.send == SendSide::Leaving && turn.machine.leaves_with(stream) {
            self.finish.get_or_insert(Finish::Plain);
            self.reset.get_or_insert(code);
            return false;
        }
        self.give_all(turn);
        turn.machine.reset_behind_body(turn.now, stream, code);
        true
    }
    /// Takes the bytes that wait for the connection to leave HTTP, whether our side ends behind them, and the code
    /// where it was reset.
    pub(super) fn take_waiting(&mut self) -> (VecDeque<Bytes>, bool, Option<H2Code>) {
        (
            mem::take(&mut self.waiting),
            self.finish.take().is_some(),
            self.reset,
        )
    }
    /// Before a reset: the machine gets all that waits, room or not, because what the windows let go of it still goes.
    pub(super) fn give_all(&mut self, turn: &mut Turn<'_>) {
        if self.send != SendSide::Body {
            return;
        }
        for data in mem::take(&mut self.waiting) {
            // An error needs no report: the reset behind it ends the exchange.
            let _ = self.send.body(turn, self.handle.stream(), data, false);
        }
    }
    fn count_sent(&mut self, bytes: usize) {
        if let Some(timeline) = &mut self.timeline {
            timeline.sent(bytes);
        }
    }
    /// Sends what waits, as far as there is room. How many bytes the machine took of those that were
    /// sent piece by piece.
    pub(in crate::server) fn pump(&mut self, turn: &mut Turn<'_>) -> Result<usize, Misuse> {
        let stream = self.handle.stream();
        let mut taken = 0;
        if self.send != SendSide::Body {
            return Ok(0);
        }
        while !self.waiting.is_empty() && self.send.has_room(turn, stream) {
            let Some(data) = self.waiting.pop_front() else {
                break;
            };
            let length = data.len();
            taken += length;
            let is_last = self.waiting.is_empty() && matches!(self.finish, Some(Finish::Plain));
            self.send.body(turn, stream, data, is_last)?;
            self.count_sent(length);
            if is_last {
                self.finish = None;
            }
        }
        if self.waiting.is_empty()
            && let Some(finish) = self.finish.take()
        {
            match finish {
                Finish::Plain => self.send.body(turn, stream, Bytes::new(), true)?,
                Finish::Trailers(trailers) => self.send.trailers(turn, stream, &trailers)?,
            }
        }
        Ok(if self.whole { 0 } else { taken })
    }
}
