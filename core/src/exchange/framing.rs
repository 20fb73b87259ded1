//! The rules that are the same over every framing, as provided methods: a connection gives its
//! session and its own verbs, and gets them.

use super::deadlines::{Pressure, deadline, earliest};
use super::{Session, Timed};
use crate::abuse::Verdict;
use crate::error::{Misuse, Violation};
use crate::http::StreamId;
use std::time::{Duration, Instant};

/// One connection of a version that carries exchanges on streams.
pub(crate) trait Framing {
    /// The number of a stream.
    type Id: Copy;
    /// One exchange.
    type Stream: Timed;

    /// The state that is alike in all versions.
    fn session(&self) -> &Session;
    /// The state that is alike in all versions, mutable.
    fn session_mut(&mut self) -> &mut Session;
    /// Exchanges that a client may start now.
    fn capacity_now(&self) -> u32;
    /// Whether [`Event::Closed`](crate::http::Event::Closed) was queued.
    fn is_over(&self) -> bool;
    /// Whether a client may start exchanges at all.
    fn takes_exchanges(&self) -> bool;
    /// Client: whether the server takes extended CONNECT.
    fn offers_extended_connect(&self) -> bool;
    /// The key of an open stream.
    fn find(&self, stream: StreamId) -> Option<u32>;
    /// The stream with a key.
    fn stream_at(&self, key: u32) -> Option<&Self::Stream>;
    /// No new exchanges; open ones finish.
    fn drain(&mut self, now: Instant);
    /// The open streams, in no order.
    fn streams_mut(&mut self) -> impl Iterator<Item = (Self::Id, &mut Self::Stream)>;
    /// Bytes of the connection that the transport has taken so far.
    fn carried_out(&self) -> u64;
    /// When the earliest stream is to be looked at, if it is known.
    fn streams_deadline(&self) -> Option<Instant>;
    /// Sets it.
    fn set_streams_deadline(&mut self, at: Instant);
    /// Ends a stream whose peer did not act in time.
    ///
    /// # Errors
    /// The connection ends.
    fn end_late(
        &mut self,
        now: Instant,
        id: Self::Id,
        violation: Violation,
    ) -> Result<(), Violation>;
    /// The peer broke a rule of the connection, which ends.
    fn end_connection(&mut self, now: Instant, violation: Violation);

    /// The key of an open stream.
    ///
    /// # Errors
    /// [`Misuse::ConnectionClosed`]; [`Misuse::StreamNotOpen`] for a stream that is over or unknown.
    #[inline]
    fn live_key(&self, stream: StreamId) -> Result<u32, Misuse> {
        match self.is_over() {
            true => Err(Misuse::ConnectionClosed),
            false => self.find(stream).ok_or(Misuse::StreamNotOpen),
        }
    }
    /// Server: the key of a request that has no final head yet.
    ///
    /// # Errors
    /// [`Misuse::WrongSide`] on a client; [`Misuse::StreamNotOpen`] when it is answered; as
    /// [`live_key`](Self::live_key).
    #[inline]
    fn answerable_key(&self, stream: StreamId) -> Result<u32, Misuse> {
        if !self.session().is_server() {
            return Err(Misuse::WrongSide);
        }
        let key = self.live_key(stream)?;
        match self.stream_at(key) {
            Some(open) if open.sent().awaits_head() && open.has_request() => Ok(key),
            _ => Err(Misuse::StreamNotOpen),
        }
    }

    /// A stream begins to wait: it is looked at after `timeout` at the latest.
    #[inline]
    fn watch_streams(&mut self, now: Instant, timeout: Option<Duration>) {
        let Some(timeout) = timeout else {
            return;
        };
        let at = now + timeout;
        if self.streams_deadline().is_none_or(|set| at < set) {
            self.set_streams_deadline(at);
        }
    }
    /// Bytes wait on a stream: it is looked at as early as a scarce server would end it.
    fn watch_waiting(&mut self, now: Instant) {
        let timeouts = &self.session_mut().config().timeouts;
        let stall = timeouts.stream_stall;
        let look = stall.map(|stall| timeouts.shortest_stall(stall));
        self.watch_streams(now, look);
    }
    /// The deadline of the streams came: ends those whose time is up, and finds the next one.
    fn expire_streams(&mut self, now: Instant) {
        let session = self.session_mut();
        let mut timeouts = session.config().timeouts.clone();
        if !session.is_server() {
            // A server may rest between two events for as long as its application does.
            timeouts.body_idle = None;
            timeouts.rate_min = 0;
            timeouts.head = None;
        }
        let (carried_in, is_scarce) = (session.totals().body_bytes_received, session.is_scarce());
        let is_scarce_to_send = session.is_scarce_to_send();
        let waiting = self
            .streams_mut()
            .filter(|(_, stream)| stream.queued() > 0)
            .count();
        let pressure = Pressure {
            carried_in,
            carried_out: self.carried_out(),
            waiting: waiting as u64,
            is_scarce,
            is_scarce_to_send,
        };
        let mut next = None;
        let mut late = Vec::new();
        for (id, stream) in self.streams_mut() {
            match deadline(stream, &timeouts, &pressure, now) {
                Ok(at) => next = earliest(next, at),
                Err(violation) => late.push((id, violation)),
            }
        }
        if let Some(at) = next {
            self.set_streams_deadline(at);
        }
        for (id, violation) in late {
            if let Err(violation) = self.end_late(now, id, violation) {
                return self.end_connection(now, violation);
            }
        }
    }
    /// Nothing was read for so long, because our user did not keep up: the deadlines of streams are
    /// as much later.
    fn postpone_streams(&mut self, by: Duration) {
        for (_, stream) in self.streams_mut() {
            stream.postpone_receiving(by);
            if let Some((clock, _)) = stream.send_clock() {
                clock.postpone(by);
            }
        }
    }

    /// Carries out the verdict on what the peer did.
    ///
    /// # Errors
    /// The connection ends.
    #[inline]
    fn judge(&mut self, now: Instant, verdict: Verdict) -> Result<(), Violation> {
        match verdict {
            Verdict::Fine => Ok(()),
            Verdict::Drain => {
                self.drain(now);
                Ok(())
            }
            Verdict::Close(violation) => Err(violation),
        }
    }
    /// The peer did something odd that is tolerated, `points` of its budget.
    ///
    /// # Errors
    /// The budget is used up: the connection ends.
    fn glitch(&mut self, now: Instant, points: u32) -> Result<(), Violation> {
        let verdict = self.session_mut().abuse_mut().glitch(points, now);
        self.judge(now, verdict)
    }
    /// Client: announces the capacity when it is not what was announced last; once per change,
    /// however many streams ended since.
    #[inline]
    fn note_capacity(&mut self) {
        if !self.session().is_server() && !self.is_over() {
            let capacity = self.capacity_now();
            self.session_mut().announce_capacity(capacity);
        }
    }
}
