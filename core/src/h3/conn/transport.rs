//! Input from the QUIC transport, sorted by stream.

use super::{Conn, Timer};
use crate::error::{Closed, H3Code, TransportEnd, Violation};
use crate::exchange::{Framing, Received, Sent};
use crate::h3::TransportAction;
use crate::h3::stream::Stream;
use crate::h3::stream_kind::StreamOrigin;
use crate::http::{Side, StreamId};
use std::time::{Duration, Instant};

impl Conn {
    /// The handshake is confirmed enough for requests: the deadlines of the connection start.
    pub fn handle_handshake_done(&mut self, now: Instant) {
        let timeouts = &self.session.config().timeouts;
        let start = [
            (Timer::Settings, timeouts.settings),
            (Timer::Idle, timeouts.idle),
            (Timer::Age, timeouts.age_max),
        ];
        for (timer, after) in start {
            let is_due = match timer {
                Timer::Settings => !self.is_limit_known(),
                Timer::Idle => self.streams.is_empty(),
                _ => true,
            };
            if let Some(after) = after.filter(|_| is_due) {
                self.timers.set(timer, now + after);
            }
        }
    }

    /// The peer opened a stream, of either kind. Report streams in the order of their ids; a stream
    /// that was not reported is opened by its first bytes, with those below it.
    pub fn handle_opened(&mut self, now: Instant, stream: StreamId) {
        if !self.closed
            && let Err(violation) = self.opened(now, stream)
        {
            self.fail(now, violation);
        }
    }

    /// The next bytes of a stream, in order; `fin`: nothing follows (may come with no bytes).
    /// Give no more than [`read_room`](Self::read_room) allows: that is the back-pressure.
    pub fn handle_stream(&mut self, now: Instant, stream: StreamId, bytes: &[u8], fin: bool) {
        if self.closed {
            return;
        }
        let handled = self
            .opened(now, stream)
            .and_then(|()| match StreamOrigin::of(stream.0) {
                StreamOrigin::ClientBidi => self.read_request(now, stream, bytes, fin),
                _ => self.read_uni(now, stream, bytes, fin),
            });
        if let Err(violation) = handled {
            self.fail(now, violation);
        }
        self.note_capacity();
    }

    /// The transport holds nothing more of a stream that was read: what comes next has not come yet.
    pub fn handle_drained(&mut self, now: Instant, stream: StreamId) {
        let Some(stream) = self.streams.get_mut(stream).filter(|it| !it.is_full) else {
            return;
        };
        self.slow.note_drained();
        if std::mem::take(&mut stream.is_behind) {
            self.slow.note_caught_up();
            self.retry_blocked(now);
        }
    }

    /// The peer reset its sending side (RESET_STREAM).
    pub fn handle_stream_reset(&mut self, now: Instant, stream: StreamId, code: H3Code) {
        if self.closed {
            return;
        }
        let handled = self
            .opened(now, stream)
            .and_then(|()| match StreamOrigin::of(stream.0) {
                StreamOrigin::ClientBidi => self.take_reset(now, stream, code),
                _ => self.uni_ended(stream),
            });
        if let Err(violation) = handled {
            self.fail(now, violation);
        }
        self.note_capacity();
    }

    /// The peer wants no more of what we send (STOP_SENDING).
    pub fn handle_stop_sending(&mut self, now: Instant, stream: StreamId, code: H3Code) {
        if self.closed {
            return;
        }
        let handled = match StreamOrigin::of(stream.0) {
            StreamOrigin::ClientBidi => self
                .opened(now, stream)
                .and_then(|()| self.take_stop(now, stream, code)),
            // RFC 9114 section 6.2.1: a peer must not ask that of a critical stream.
            _ if self.is_our_uni(stream) => Err(Violation::CriticalStreamClosed),
            _ => Ok(()),
        };
        if let Err(violation) = handled {
            self.fail(now, violation);
        }
        self.note_capacity();
    }

    /// The peer acknowledged everything up to our `fin` on this stream. Once per stream, and not
    /// for one that was reset. It may come behind the peer's STOP_SENDING.
    pub fn handle_finished(&mut self, now: Instant, stream: StreamId) {
        if StreamOrigin::of(stream.0) == StreamOrigin::ClientBidi {
            self.acknowledged(now, stream);
        }
    }

    /// Client: the number of bidirectional streams that may be opened, counted from the start (as
    /// MAX_STREAMS counts): never falls. 0 before the first call.
    pub fn handle_streams_available(&mut self, now: Instant, limit: u64) {
        let _ = now;
        self.stream_quota.raise_to(limit);
        self.note_capacity();
    }

    /// Charges `points` of the glitch budget for useless work that the peer caused in the
    /// transport.
    pub fn handle_glitches(&mut self, now: Instant, points: u32) {
        if !self.closed
            && let Err(violation) = self.glitch(now, points)
        {
            self.fail(now, violation);
        }
    }

    /// The transport's estimate of the round trip, whenever it is at hand.
    pub fn handle_round_trip(&mut self, rtt: Duration) {
        self.session.set_round_trip(rtt);
    }

    /// The connection ended below us: with the application code of the peer's CONNECTION_CLOSE,
    /// or `None` for everything else (a transport error, a timeout, a reset).
    pub fn handle_close(&mut self, now: Instant, code: Option<H3Code>) {
        let closed = match code {
            Some(code) => Closed::ByPeer(code.as_h2()),
            None => Closed::Transport(TransportEnd::Failed),
        };
        self.close(now, closed);
        self.actions.clear();
    }

    /// Bytes of this stream that the machine takes now. At 0 leave the rest in the transport until
    /// [`TransportAction::Read`]. Large for streams that never push back.
    pub fn read_room(&self, stream: StreamId) -> usize {
        match self.streams.get(stream) {
            Some(stream) if stream.blocked_input.is_some() || stream.is_full => 0,
            Some(stream) if stream.discarding.is_none() => {
                let ahead = stream.ahead(self.read_window());
                ahead.saturating_sub(stream.unread) as usize
            }
            _ => usize::MAX,
        }
    }

    /// The request streams that are open, of which the transport may hold bytes beyond the room.
    pub fn open_streams(&self) -> Vec<StreamId> {
        self.streams.ids()
    }

    /// Body bytes of a stream that the user may hold, unless more was asked for; behind them the
    /// transport's own window fills.
    pub(super) fn read_window(&self) -> u64 {
        u64::from(self.session.config().windows.stream_first())
    }

    /// Opens what the peer has opened up to `stream`.
    fn opened(&mut self, now: Instant, stream: StreamId) -> Result<(), Violation> {
        match (StreamOrigin::of(stream.0), self.session.side()) {
            (StreamOrigin::ClientBidi, Side::Server) => {
                while self.streams.next_id() <= stream {
                    self.accept(now)?;
                }
                Ok(())
            }
            (StreamOrigin::ClientBidi, Side::Client) => Ok(()),
            // RFC 9114 section 6.1: without an extension there is none.
            (StreamOrigin::ServerBidi, _) => Err(Violation::StreamTypeForbidden),
            (StreamOrigin::ClientUni, Side::Server) | (StreamOrigin::ServerUni, Side::Client) => {
                self.theirs.accept(stream)
            }
            // Our own: nothing comes on them.
            (StreamOrigin::ClientUni, Side::Client) | (StreamOrigin::ServerUni, Side::Server) => {
                Ok(())
            }
        }
    }

    /// Server: takes the next request stream.
    fn accept(&mut self, now: Instant) -> Result<(), Violation> {
        self.stream_credit.opened(now)?;
        self.session.abuse_mut().stream_opened();
        if self.session.drain().ignores(self.streams.next_id().0) {
            // RFC 9114 section 5.2: beyond our GOAWAY; the client knows that it may ask again.
            let stream = self.streams.skip();
            self.reject(stream);
            return Ok(());
        }
        let id = self.streams.next_id();
        let mut stream = Stream::new(Received::awaiting_request(), Sent::awaiting_response(), now);
        stream.priority = self.session.take_priority(id.0);
        self.streams.insert(id, stream);
        self.timers.stop(Timer::Idle);
        self.watch_streams(now, self.session.config().timeouts.head);
        Ok(())
    }

    /// Ends both sides of a stream that is not kept, so that its credit comes back.
    pub(super) fn reject(&mut self, stream: StreamId) {
        let code = H3Code::REQUEST_REJECTED;
        self.session.totals_mut().refused += 1;
        self.actions
            .push(TransportAction::StopSending { stream, code });
        self.actions.push(TransportAction::Reset { stream, code });
        self.decoder.cancel(stream);
        self.stream_credit.closed();
    }
}
