//! GOAWAY (RFC 9113 section 6.8). A server drains in two steps, so that requests which cross the
//! first one are still served: GOAWAY with the highest id and a PING; at its answer, or after
//! [`DRAIN_WAIT`], GOAWAY with the id of the last accepted request.

use super::ping::DRAIN_PING;
use super::{Conn, Life, Timer};
use crate::error::{Closed, H2Code, Violation};
use crate::exchange::{DrainStep, Framing};
use crate::h2::frame::{FRAME_BYTES_DEFAULT, FrameHeader, Goaway, STREAM_ID_MAX};
use crate::h2::stream_state::ClosedHow;
use crate::http::event::ResetBy;
use crate::http::{Side, StreamId};
use crate::limits::GOAWAY_POINTS;
use std::time::{Duration, Instant};

/// How long the second GOAWAY waits for the answer to the PING.
const DRAIN_WAIT: Duration = Duration::from_secs(1);
/// How long a client waits for the bytes or the end of a connection whose server has sent GOAWAY with an
/// error's code. Go's `net/http` closes as long after such a GOAWAY; nothing else would end a request there
/// before its own deadlines.
const PEER_ERROR_WAIT: Duration = Duration::from_secs(1);
/// How long a server leaves the end of a connection without open streams to a client that has sent GOAWAY. Most close it
/// at once, and GOAWAY of ours would cross that end as an event that their users see.
const LEFT_CLIENT_WAIT: Duration = Duration::from_secs(1);
/// Debug data of a GOAWAY: what a frame that every peer takes has room for.
const DEBUG_BYTES_MAX: usize = FRAME_BYTES_DEFAULT as usize - 8;

impl Conn {
    /// Drains: no new exchanges, open ones finish, then `Closed(Drained)`.
    pub fn shut_down(&mut self, now: Instant) {
        if self.life == Life::Closed {
            return;
        }
        let side = self.session.side();
        match self.session.drain_mut().begin(side) {
            None => {}
            Some(DrainStep::Stop) => {
                self.write_goaway(0, H2Code::NO_ERROR);
                self.note_capacity();
                self.finish_drain(now);
            }
            Some(DrainStep::Announce) => {
                self.write_goaway(STREAM_ID_MAX, H2Code::NO_ERROR);
                self.write_ping(DRAIN_PING);
                self.timers.set(Timer::Drain, now + DRAIN_WAIT);
            }
            Some(DrainStep::Conclude) => self.finish_goaway(now),
        }
    }

    /// Says GOAWAY in the user's words and goes on, as RFC 9113 section 6.8 has it of a server that
    /// warns. `last` is the highest stream of the peer's that is still served; `None`, or one above
    /// what was said before: what the state of the connection says. `debug` is cut at what fits a
    /// frame. On a client it changes nothing else: a server opens no streams.
    pub fn go_away(&mut self, last: Option<u32>, code: H2Code, debug: &[u8]) {
        if self.life == Life::Closed {
            return;
        }
        let last = last.unwrap_or(self.ids.last_peer());
        let last_stream = match self.session.side() {
            Side::Client => last,
            Side::Server => (self.session.drain_mut().warn(u64::from(last) + 1) - 1) as u32,
        };
        let debug = &debug[..debug.len().min(DEBUG_BYTES_MAX)];
        let goaway = Goaway {
            last_stream,
            code,
            debug,
        };
        goaway.write(self.outbox.buffer());
    }

    /// The second GOAWAY.
    pub(super) fn finish_goaway(&mut self, now: Instant) {
        let next = u64::from(self.ids.last_peer()) + 1;
        let first = self.session.drain_mut().conclude(next);
        self.session.drain_mut().settle();
        self.timers.stop(Timer::Drain);
        self.write_goaway((first - 1) as u32, H2Code::NO_ERROR);
        self.finish_drain(now);
    }

    pub(super) fn take_goaway(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let goaway = Goaway::parse(header, payload)?;
        self.glitch(now, GOAWAY_POINTS)?;
        let (last, code) = (goaway.last_stream, goaway.code);
        let news = (code, StreamId(u64::from(last)));
        self.session
            .take_goaway(u64::from(last) + 1, news, goaway.debug, true)?;
        if self.session.side() == Side::Client {
            let above = self.streams.ids().into_iter().filter(|&id| id > last);
            for id in above {
                let by = ResetBy::Peer(code);
                self.end_early(now, id, by, true, ClosedHow::ResetByPeer);
            }
            if code != H2Code::NO_ERROR && !self.timers.is_set(Timer::Drain) {
                self.await_peer_error(now);
            }
        }
        self.finish_drain(now);
        Ok(())
    }

    /// RFC 9113 section 6.8: GOAWAY begins the end of a connection. A client that does not end it itself would hold it until
    /// its idle time.
    pub(super) fn await_left_client(&mut self, now: Instant) {
        if !self.timers.is_set(Timer::Drain) {
            self.timers.set(Timer::Drain, now + LEFT_CLIENT_WAIT);
        }
    }

    /// Drains: a request that the client sent behind its GOAWAY is still served.
    pub(super) fn expire_left_client(&mut self, now: Instant) {
        if self.streams.is_empty() && self.session.drain().is_left(self.session.side()) {
            self.shut_down(now);
        }
    }

    /// RFC 9113 section 5.4.1 has the peer close the connection behind a GOAWAY with an error's code. The
    /// streams that it may have processed keep what it still sends, and end when it neither sends a body nor
    /// closes for [`PEER_ERROR_WAIT`].
    fn await_peer_error(&mut self, now: Instant) {
        self.seen.received = self.session.totals().body_bytes_received as u32;
        self.timers.set(Timer::Drain, now + PEER_ERROR_WAIT);
    }

    pub(super) fn expire_peer_error(&mut self, now: Instant) {
        if self.session.totals().body_bytes_received as u32 != self.seen.received {
            return self.await_peer_error(now);
        }
        let code = self.session.drain().peer_code();
        self.close(now, Closed::ByPeer(code.unwrap_or(H2Code::NO_ERROR)));
    }

    /// Whether the peer has said that it will never process a request of ours
    /// (RFC 9113 section 8.7).
    pub(super) fn is_unprocessed(&self, id: u32) -> bool {
        let side = self.session.side();
        self.session.drain().is_unprocessed(u64::from(id), side)
    }
}
