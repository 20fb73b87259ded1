//! GOAWAY (RFC 9114 section 5.2). A server drains in two steps, so that requests which cross the
//! first are still served: GOAWAY with the highest id; a round trip later GOAWAY with the first
//! rejected request. It closes another round trip later, and only once the responses are
//! acknowledged, because closing a QUIC connection discards data in flight. A client that is done waits
//! likewise for the ends of requests that were answered before.

use super::{Conn, Timer};
use crate::error::{H3Code, Violation};
use crate::exchange::{DrainStep, Framing};
use crate::h3::frame::{kind, put_frame};
use crate::h3::stream_kind::StreamOrigin;
use crate::http::event::ResetBy;
use crate::http::{Side, StreamId};
use crate::wire::varint;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The assumed round trip, where the transport has none.
const ROUND_TRIP_GUESS: Duration = Duration::from_secs(1);
/// How long a drained connection waits for acknowledgements before it closes.
const LINGER: Duration = Duration::from_secs(5);
/// The highest request stream: nothing is refused yet.
const STREAM_ID_MAX: u64 = varint::MAX - 3;

/// Ends of streams that the transport has taken, and that the peer has not acknowledged yet: bytes before
/// them may be lost with the connection.
///
/// A stream that is stopped may be acknowledged all the same, and one that was reset may be stopped: each
/// counts by its id, and once.
#[derive(Debug, Default)]
pub(in crate::h3) struct UnacknowledgedEnds {
    /// Server: those of responses. Client: those of requests that were written behind a complete response,
    /// because the server may be without their last bytes. The transport bounds how many there are, and they
    /// mostly leave in the order in which they came.
    waiting: VecDeque<StreamId>,
}

impl UnacknowledgedEnds {
    pub(in crate::h3) fn note(&mut self, id: StreamId) {
        self.waiting.push_back(id);
    }
    /// The peer has this end, or wants no more of the stream. True: it was the last one.
    fn remove(&mut self, id: StreamId) -> bool {
        let found = self.waiting.iter().position(|waiting| *waiting == id);
        found.is_some_and(|index| self.waiting.remove(index).is_some()) && self.waiting.is_empty()
    }
    pub(in crate::h3) fn holds(&self, id: StreamId) -> bool {
        self.waiting.contains(&id)
    }
    /// Whether a drained connection waits for some.
    fn hold(&self) -> bool {
        !self.waiting.is_empty()
    }
    /// Gives memory back while there are none.
    pub(in crate::h3) fn release(&mut self) {
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
    }
}

impl Conn {
    /// Drains: no new exchanges, open ones finish, then `Closed(Drained)`.
    pub fn shut_down(&mut self, now: Instant) {
        if self.closed {
            return;
        }
        let side = self.session.side();
        match self.session.drain_mut().begin(side) {
            None => {}
            Some(DrainStep::Stop) => {
                // RFC 9114 section 5.2: a client names a push; we take none.
                self.write_goaway(0);
                self.note_capacity();
                self.finish_drain(now);
            }
            Some(DrainStep::Announce) => {
                self.write_goaway(STREAM_ID_MAX);
                self.wait_for_peer(now);
            }
            Some(DrainStep::Conclude) => self.conclude_drain(now),
        }
    }

    /// The second GOAWAY.
    fn conclude_drain(&mut self, now: Instant) {
        let next = self.streams.next_id();
        let first = self.session.drain_mut().conclude(next.0);
        self.write_goaway(first);
        self.wait_for_peer(now);
    }

    /// The drain's timer: the second GOAWAY, the time it took to arrive, or the end of the linger.
    pub(super) fn go_on_draining(&mut self, now: Instant) {
        let drain = self.session.drain_mut();
        if drain.is_announced() {
            self.conclude_drain(now);
        } else if !(drain.is_final() && drain.settle()) {
            self.unacknowledged = UnacknowledgedEnds::default();
        }
        self.finish_drain(now);
    }

    /// Sets the drain's next step for the time when the peer has received GOAWAY and we have its
    /// earlier requests.
    fn wait_for_peer(&mut self, now: Instant) {
        let wait = self.session.round_trip().unwrap_or(ROUND_TRIP_GUESS);
        self.timers.set(Timer::Drain, now + wait);
    }

    /// A drained connection with nothing open, and nothing on its way, is done.
    pub(super) fn finish_drain(&mut self, now: Instant) {
        if self.closed || !self.streams.is_empty() {
            return;
        }
        let side = self.session.side();
        match self.session.drain().end(side) {
            // Closing a QUIC connection discards data in flight.
            Some(_) if self.unacknowledged.hold() => {
                self.timers.set(Timer::Drain, now + LINGER);
            }
            Some(closed) => self.close_idle(now, closed),
            None => {}
        }
    }

    /// Notes that the end of a stream was acknowledged.
    pub(in crate::h3) fn acknowledged(&mut self, now: Instant, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(id) {
            stream.is_acknowledged = true;
        }
        if self.unacknowledged.remove(id) {
            self.finish_drain(now);
        }
    }

    pub(super) fn take_goaway(&mut self, now: Instant, id: u64) -> Result<(), Violation> {
        // RFC 9114 section 5.2: a server names a request stream.
        if self.session.side() == Side::Client && StreamOrigin::of(id) != StreamOrigin::ClientBidi {
            return Err(Violation::StreamIdInvalid);
        }
        let news = (Self::GOAWAY_CODE, StreamId(id));
        self.session.take_goaway(id, news, &[], false)?;
        if self.session.side() == Side::Server {
            // It names pushes, of which there are none.
            return Ok(());
        }
        for stream in self.streams.ids() {
            if stream.0 >= id {
                self.give_up(now, stream);
            }
        }
        self.finish_drain(now);
        Ok(())
    }

    /// Client: the server never takes this request; it may be sent again.
    fn give_up(&mut self, now: Instant, stream: StreamId) {
        self.stop_both(stream, H3Code::REQUEST_CANCELLED);
        self.end_early(now, stream, ResetBy::Peer(Self::GOAWAY_CODE), true);
    }

    /// Whether the peer has said that it will never process a request of ours.
    pub(super) fn is_unprocessed(&self, id: StreamId) -> bool {
        let side = self.session.side();
        self.session.drain().is_unprocessed(id.0, side)
    }

    fn write_goaway(&mut self, id: u64) {
        let mut payload = Vec::new();
        varint::put(id, &mut payload);
        put_frame(kind::GOAWAY, &payload, self.control_out());
    }
}
