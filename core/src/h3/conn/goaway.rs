//! GOAWAY (RFC 9114 section 5.2). A server drains in two steps, so that requests which cross the
//! first are still served: GOAWAY with the highest id; a round trip later GOAWAY with the first
//! rejected request. It closes another round trip later, and only once the responses are
//! acknowledged, because closing a QUIC connection discards data in flight. A client that is done waits
//! likewise for the ends of requests that were answered before.

use super::{Conn, Timer};
use crate::error::{Closed, H3Code, Violation};
use crate::exchange::Framing;
use crate::h3::frame::{kind, put_frame};
use crate::h3::stream_kind::StreamOrigin;
use crate::http::event::ResetBy;
use crate::http::{Event, Side, StreamId};
use crate::wire::varint;
use bytes::Bytes;
use std::time::{Duration, Instant};

/// The assumed round trip, where the transport has none.
const ROUND_TRIP_GUESS: Duration = Duration::from_secs(1);
/// How long a drained connection waits for acknowledgements before it closes.
const LINGER: Duration = Duration::from_secs(5);
/// The highest request stream: nothing is refused yet.
const STREAM_ID_MAX: u64 = varint::MAX - 3;

/// How far we are with our own drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::h3) enum H3Drain {
    /// New streams are welcome.
    No,
    /// Server: the first GOAWAY is out; requests that crossed it are served.
    Announced,
    /// Streams from `first` on are rejected. `reported`: the peer has had time to receive it, and its
    /// earlier streams have been rejected.
    Final { first: StreamId, reported: bool },
}

impl H3Drain {
    /// Whether a stream that the peer opens now is rejected.
    pub(in crate::h3) fn ignores(self, id: StreamId) -> bool {
        matches!(self, Self::Final { first, .. } if id >= first)
    }
}

impl Conn {
    /// Drains: no new exchanges, open ones finish, then `Closed(Drained)`.
    pub fn shut_down(&mut self, now: Instant) {
        if self.closed || self.draining != H3Drain::No {
            return;
        }
        match self.session.side() {
            Side::Client => {
                // RFC 9114 section 5.2: a client names a push; we take none.
                self.draining = H3Drain::Final {
                    first: StreamId(0),
                    reported: true,
                };
                self.write_goaway(0);
                self.note_capacity();
                self.finish_drain(now);
            }
            Side::Server => {
                self.draining = H3Drain::Announced;
                self.write_goaway(STREAM_ID_MAX);
                self.wait_for_peer(now);
            }
        }
    }

    /// The drain's timer: the second GOAWAY, the time it took to arrive, or the end of the linger.
    pub(super) fn go_on_draining(&mut self, now: Instant) {
        match &mut self.draining {
            H3Drain::No => self.late_ends.clear(),
            H3Drain::Announced => {
                let first = self.streams.next_id();
                self.draining = H3Drain::Final {
                    first,
                    reported: false,
                };
                self.write_goaway(first.0);
                self.wait_for_peer(now);
            }
            H3Drain::Final { reported, .. } if !*reported => *reported = true,
            H3Drain::Final { .. } => {
                self.unacknowledged = 0;
                self.late_ends.clear();
            }
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
        match (self.draining, self.session.side(), self.peer_goaway) {
            (
                H3Drain::Final {
                    reported: false, ..
                },
                _,
                _,
            ) => {}
            (H3Drain::Final { .. }, Side::Server, _) if self.unacknowledged > 0 => {
                self.timers.set(Timer::Drain, now + LINGER);
            }
            (H3Drain::Final { .. }, Side::Client, _) | (H3Drain::No, Side::Client, Some(_))
                if !self.late_ends.is_empty() =>
            {
                self.timers.set(Timer::Drain, now + LINGER);
            }
            (H3Drain::Final { .. }, _, _) => self.close_idle(now, Closed::Drained),
            (H3Drain::No, Side::Client, Some(_)) => {
                self.close_idle(now, Closed::ByPeer(Self::GOAWAY_CODE));
            }
            _ => {}
        }
    }

    /// This stream waits no more for the acknowledgement of its end.
    pub(in crate::h3) fn acknowledged(&mut self, now: Instant, id: StreamId) {
        self.unacknowledged = self.unacknowledged.saturating_sub(1);
        let was_late = self.late_ends.remove(&id) && self.late_ends.is_empty();
        let is_drained = matches!(self.draining, H3Drain::Final { .. });
        if was_late || self.unacknowledged == 0 && is_drained {
            self.finish_drain(now);
        }
    }

    /// Whether new exchanges may still be asked for at all.
    pub(super) fn takes_exchanges(&self) -> bool {
        !self.closed && self.draining == H3Drain::No && self.peer_goaway.is_none()
    }

    pub(super) fn take_goaway(&mut self, now: Instant, id: u64) -> Result<(), Violation> {
        // RFC 9114 section 5.2: a server names a request stream.
        if self.session.side() == Side::Client && StreamOrigin::of(id) != StreamOrigin::ClientBidi {
            return Err(Violation::StreamIdInvalid);
        }
        let is_first = self.peer_goaway.is_none();
        // RFC 9114 section 5.2: what the peer has given up it cannot take back.
        if self.peer_goaway.is_some_and(|before| id > before) {
            return Err(Violation::GoawayIdIncreased);
        }
        self.peer_goaway = Some(id);
        if is_first && (self.session.side() == Side::Client || self.session.config().frame_events) {
            let code = Self::GOAWAY_CODE;
            let (last, debug) = (StreamId(id), Bytes::new());
            self.session
                .push_event(Event::GoingAway { code, last, debug });
        }
        if self.session.side() == Side::Server {
            // What it names are pushes, of which there are none.
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
        self.session.side() == Side::Client && self.peer_goaway.is_some_and(|first| id.0 >= first)
    }

    fn write_goaway(&mut self, id: u64) {
        let mut payload = Vec::new();
        varint::put(id, &mut payload);
        put_frame(kind::GOAWAY, &payload, self.control_out());
    }
}
