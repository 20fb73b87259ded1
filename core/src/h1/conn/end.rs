//! Ends of exchanges and of the connection: violations, resets, switches, draining, and the end of
//! the transport. Invariant: every open exchange that its owner has not dropped gets one
//! `StreamReset` before `Closed`.

use super::{Conn, PeerInput, Receiving, Timer};
use crate::error::{Closed, H2Code, TransportEnd, Violation};
use crate::exchange::MethodKind;
use crate::h1::exchange::{Exchange, Sending};
use crate::h1::reuse::CloseReason;
use crate::http::event::ResetBy;
use crate::http::{Event, Reset, Side, StreamId, Version};
use crate::wire::Outbox;
use bytes::Bytes;
use std::time::Instant;

impl Conn {
    /// The peer's bytes ended.
    ///
    /// Client: a response that the end of the connection delimits is complete if that end was in
    /// order; every other open exchange is reset.
    ///
    /// Server: after an error every open exchange is reset. A client that only ended its side may
    /// still read the responses to its complete requests (RFC 9112 section 9.6), and no request is
    /// delimited by the end, so that close_notify makes no difference (section 9.8): they are sent,
    /// and the connection closes behind the last one. `InputEnded` comes when some are due. A
    /// request that is not complete is reset.
    pub fn handle_close(&mut self, now: Instant, end: TransportEnd) {
        self.enter();
        match self.side {
            Side::Server if end != TransportEnd::Failed => self.input = PeerInput::Ended(end),
            _ => self.end_of_input(end),
        }
        self.advance(now);
    }

    /// Ends an exchange early. Complete ones are left alone. Any other costs the connection: it
    /// closes when the responses before this one are out (server) or have come (client), and
    /// exchanges behind it are reset. No `StreamReset` comes for it: its owner knows.
    pub fn reset(&mut self, now: Instant, stream: StreamId, code: H2Code) {
        let _ = code; // HTTP/1.1 has no words for it.
        self.enter();
        if let Some(index) = self.index_of(stream)
            && !self.exchanges[index].silent
        {
            let open = &mut self.exchanges[index];
            open.silent = true;
            open.handler_gone = true;
            self.unread -= std::mem::take(&mut open.unread);
            open.sending = Sending::Broken(CloseReason::ExchangeReset.closed());
            self.last.get_or_insert(CloseReason::ExchangeReset);
        }
        self.advance(now);
    }

    /// Drains: a server answers what it has received, the last answer with `connection: close`;
    /// a client starts nothing new. Then `Closed(Drained)`; at once when nothing is open.
    ///
    /// A server without an open exchange takes one request more if its head has begun, or if it would be
    /// the first ([`DRAIN_FIRST_REQUEST_WAIT`](crate::limits::DRAIN_FIRST_REQUEST_WAIT)): no answer would
    /// say that it was not processed.
    pub fn shut_down(&mut self, now: Instant) {
        self.enter();
        self.draining = true;
        if self.side == Side::Server && matches!(self.receiving, Receiving::Head(_)) {
            let is_due = self.next_id == 1 || !self.tail.is_empty();
            if self.exchanges.is_empty() && is_due {
                // It is set anew, for a shorter time.
                self.timers.stop(Timer::Idle);
            } else {
                self.receiving = Receiving::Nothing;
                self.tail.clear();
                self.is_paused = false;
            }
        }
        self.advance(now);
    }

    /// Server: the connection drains and takes one request more.
    pub(super) fn awaits_last_request(&self) -> bool {
        self.draining && self.side == Side::Server && matches!(self.receiving, Receiving::Head(_))
    }

    /// Closes at once: what is open is reset.
    pub fn abort(&mut self, now: Instant, code: H2Code) {
        let _ = code; // HTTP/1.1 has no words for it.
        self.enter();
        self.finish(Closed::Drained);
        self.advance(now);
    }

    /// Reports the early end of an exchange to the owner, once.
    pub(super) fn report_reset(&mut self, index: usize, reset: Reset) {
        let open = &mut self.exchanges[index];
        if !std::mem::replace(&mut open.silent, true) {
            let stream = open.id;
            self.events.push_back(Event::StreamReset { stream, reset });
        }
    }

    /// The peer broke a rule: nothing that it sends matters any more.
    pub(super) fn violate(&mut self, violation: Violation) {
        self.receiving = Receiving::Nothing;
        let tail = std::mem::take(&mut self.tail);
        self.keep_broken(&tail, 0);
        self.flush_body(false);
        if self.side == Side::Client {
            if !self.exchanges.is_empty() {
                let reset = Reset {
                    by: ResetBy::Us(violation),
                    unprocessed: false,
                    behind: false,
                };
                self.report_reset(0, reset);
            }
            self.finish(Closed::ByUs(violation));
            return;
        }
        if let Some(open) = self.receiver() {
            // A request whose body is malformed: its handler gets the error, its client the status
            // if no other answer has begun.
            open.received = true;
            open.sending = match open.sending {
                Sending::Head => Sending::Refused(violation),
                _ => Sending::Broken(Closed::ByUs(violation)),
            };
            let index = self.exchanges.len() - 1;
            let reset = Reset {
                by: ResetBy::Us(violation),
                unprocessed: false,
                behind: false,
            };
            self.report_reset(index, reset);
        } else {
            let id = self.take_id();
            let refused = Sending::Refused(violation);
            let mut open = Exchange::new(id, MethodKind::Other, Version::Http11, refused);
            open.silent = true;
            open.received = true;
            self.exchanges.push_back(open);
        }
        self.last.get_or_insert(CloseReason::RequestUnread);
    }

    /// Server: no more of the request's body can be read, and its owner is to answer all the same.
    /// False: the owner does not, or no body was being received.
    pub(super) fn lose_body(&mut self, by: ResetBy, reason: CloseReason) -> bool {
        let answers = self.side == Side::Server && self.config.answers_lost_bodies;
        if !answers || self.receiver().is_none() {
            return false;
        }
        self.receiving = Receiving::Nothing;
        self.tail.clear();
        self.flush_body(false);
        if let Some(open) = self.receiver() {
            open.received = true;
            open.continue_due = false;
            open.close_because(reason);
            let (stream, silent) = (open.id, open.silent);
            if !silent {
                let reset = Reset {
                    by,
                    unprocessed: false,
                    behind: false,
                };
                self.events.push_back(Event::BodyLost { stream, reset });
            }
        }
        self.last.get_or_insert(reason);
        true
    }

    /// Ends the input: nothing more comes, and nothing more is answered.
    fn end_of_input(&mut self, end: TransportEnd) {
        self.tail.clear();
        if end == TransportEnd::InOrder && matches!(self.receiving, Receiving::UntilClose) {
            // RFC 9112 sections 8 and 9.8: complete, unless the transport said otherwise.
            self.end_message(None);
        }
        let in_body = matches!(
            self.receiving,
            Receiving::Known { .. }
                | Receiving::Chunked(_)
                | Receiving::Trailers(_)
                | Receiving::UntilClose
        );
        if in_body
            && end != TransportEnd::Failed
            && self.side == Side::Client
            && !self.exchanges.is_empty()
        {
            let reset = Reset {
                by: ResetBy::Us(Violation::BodyTruncated),
                unprocessed: false,
                behind: false,
            };
            self.report_reset(0, reset);
        }
        let closed = match self.last {
            Some(reason) if self.exchanges.is_empty() => reason.closed(),
            _ => Closed::Transport(end),
        };
        self.finish(closed);
    }

    /// Server: the peer has ended its side and all that it said is parsed: what is whole is answered.
    /// True: this was not concluded before.
    pub(super) fn conclude_input(&mut self) -> bool {
        let parsed = !self.is_paused && !matches!(self.receiving, Receiving::AwaitSwitch);
        let PeerInput::Ended(end) = self.input else {
            return false;
        };
        if !parsed {
            return false;
        }
        self.input = PeerInput::Concluded;
        if self.refuse_rest() {
            return true;
        }
        let by = ResetBy::Connection(Closed::Transport(end));
        // The owner of a lost body answers it.
        if !self.lose_body(by, CloseReason::PeerEnded) {
            self.end_last_exchange(end);
        }
        self.receiving = Receiving::Nothing;
        self.tail.clear();
        self.last.get_or_insert(CloseReason::PeerEnded);
        if self.exchanges.iter().any(|open| !open.silent) {
            self.events.push_back(Event::InputEnded);
        }
        true
    }

    /// Server: the peer has ended its side. A request that is not whole is reset; behind the response to a
    /// whole one the connection closes.
    fn end_last_exchange(&mut self, end: TransportEnd) {
        if let Some(open) = self.receiver() {
            let closed = Closed::Transport(end);
            open.received = true;
            open.sending = Sending::Broken(closed);
            let reset = Reset {
                by: ResetBy::Connection(closed),
                unprocessed: false,
                behind: false,
            };
            self.report_reset(self.exchanges.len() - 1, reset);
        } else if let Some(last) = self.exchanges.back_mut() {
            last.close_because(CloseReason::PeerEnded);
        }
    }

    /// Client: the response is complete. If the connection ends with it, a request that is still
    /// being sent has no reader any more.
    pub(super) fn stop_upload(&mut self) {
        let Some(front) = self.exchanges.front() else {
            return;
        };
        if front.close.is_some() && front.sending != Sending::Done {
            let reset = Reset {
                by: ResetBy::Peer(H2Code::NO_ERROR),
                unprocessed: false,
                behind: false,
            };
            self.report_reset(0, reset);
            self.exchanges[0].sending = Sending::Done;
        }
    }

    /// The connection changes hands; the machine is done.
    pub(in crate::h1) fn switch(&mut self, stream: StreamId, rest: Bytes) {
        self.switched = true;
        self.receiving = Receiving::Nothing;
        self.tail.clear();
        self.exchanges.clear();
        self.unread = 0;
        self.timers.clear();
        self.events.push_back(Event::Upgraded { stream, rest });
    }

    /// Ends the connection: reports the end of every open exchange, then of the connection. Also
    /// ends a connection that left HTTP without a taker.
    pub(super) fn finish(&mut self, closed: Closed) {
        if self.closed.is_some() {
            return;
        }
        for index in 0..self.exchanges.len() {
            let open = &self.exchanges[index];
            // Provably unprocessed is what never left, and what came behind a response that says that its server
            // closes: the server processes nothing more then (RFC 9112 section 9.6).
            let is_left = open.head_at >= self.sent || self.peer_stops;
            let unprocessed = self.side == Side::Client && !open.answered && is_left;
            let reset = Reset {
                by: ResetBy::Connection(closed),
                unprocessed,
                behind: self.side == Side::Client && index > 0,
            };
            self.report_reset(index, reset);
        }
        if self.side == Side::Client {
            // A request that was called unprocessed must not go out any more.
            self.outbox = Outbox::new();
        }
        self.exchanges.clear();
        self.unread = 0;
        self.receiving = Receiving::Nothing;
        self.is_paused = false;
        self.tail.clear();
        self.slab.clear();
        self.timers.clear();
        self.closed = Some(closed);
        self.events.push_back(Event::Closed(closed));
    }
}
