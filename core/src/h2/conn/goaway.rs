//! GOAWAY (RFC 9113 section 6.8). A server drains in two steps, so that requests which cross the
//! first one are still served: GOAWAY with the highest id and a PING; at its answer, or after
//! [`DRAIN_WAIT`], GOAWAY with the id of the last accepted request.

use super::ping::DRAIN_PING;
use super::{Conn, Life, Timer};
use crate::error::{H2Code, Violation};
use crate::exchange::Framing;
use crate::h2::frame::{FRAME_BYTES_DEFAULT, FrameHeader, Goaway, STREAM_ID_MAX};
use crate::h2::stream_state::ClosedHow;
use crate::http::event::ResetBy;
use crate::http::{Event, Side, StreamId};
use crate::limits::GOAWAY_POINTS;
use bytes::Bytes;
use std::time::{Duration, Instant};

/// How long the second GOAWAY waits for the answer to the PING.
const DRAIN_WAIT: Duration = Duration::from_secs(1);
/// Debug data of a GOAWAY: what a frame that every peer takes has room for.
const DEBUG_BYTES_MAX: usize = FRAME_BYTES_DEFAULT as usize - 8;

/// How far we are with our own drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::h2) enum H2Drain {
    /// New streams are welcome.
    No,
    /// Server: the user has said GOAWAY, and the connection goes on; streams above `last` are
    /// ignored.
    Sent { last: u32 },
    /// Server: the first GOAWAY is out; requests that crossed it are served.
    Announced,
    /// Streams above `last` are ignored.
    Final { last: u32 },
}

impl H2Drain {
    /// Whether a stream that the peer opens now is ignored: it knows that it may send it again.
    pub(in crate::h2) fn ignores(self, id: u32) -> bool {
        matches!(self, Self::Final { last } | Self::Sent { last } if id > last)
    }
    pub(super) fn is_announced(self) -> bool {
        self == Self::Announced
    }
}

impl Conn {
    /// Drains: no new exchanges, open ones finish, then `Closed(Drained)`.
    pub fn shut_down(&mut self, now: Instant) {
        if self.life == Life::Closed {
            return;
        }
        match self.draining {
            H2Drain::No => {}
            // Nothing can cross: the peer knows where we stop.
            H2Drain::Sent { .. } => return self.finish_goaway(now),
            H2Drain::Announced | H2Drain::Final { .. } => return,
        }
        if self.session.side() == Side::Client {
            // Nothing of the peer's can cross: we refuse pushes.
            self.draining = H2Drain::Final { last: 0 };
            self.write_goaway(0, H2Code::NO_ERROR);
            self.note_capacity();
            self.finish_drain(now);
            return;
        }
        self.draining = H2Drain::Announced;
        self.write_goaway(STREAM_ID_MAX, H2Code::NO_ERROR);
        self.write_ping(DRAIN_PING);
        self.timers.set(Timer::Drain, now + DRAIN_WAIT);
    }

    /// Server: says GOAWAY in the user's words and goes on, as RFC 9113 section 6.8 has it of a
    /// server that warns. `last` is the highest stream that is still served; `None`, or one above
    /// what was said before: what the state of the connection says. `debug` is cut at what fits a
    /// frame. Nothing on a client, which has no streams of the peer's.
    pub fn go_away(&mut self, last: Option<u32>, code: H2Code, debug: &[u8]) {
        if self.life == Life::Closed || self.session.side() == Side::Client {
            return;
        }
        let newest = match self.draining {
            H2Drain::Sent { last } | H2Drain::Final { last } => last,
            H2Drain::No | H2Drain::Announced => STREAM_ID_MAX,
        };
        let last = last.unwrap_or(self.last_peer_id).min(newest);
        if matches!(self.draining, H2Drain::No | H2Drain::Sent { .. }) {
            self.draining = H2Drain::Sent { last };
        }
        let debug = &debug[..debug.len().min(DEBUG_BYTES_MAX)];
        let goaway = Goaway {
            last_stream: last,
            code,
            debug,
        };
        goaway.write(self.outbox.buffer());
    }

    /// The second GOAWAY.
    pub(super) fn finish_goaway(&mut self, now: Instant) {
        let last = match self.draining {
            H2Drain::Sent { last } => last.min(self.last_peer_id),
            _ => self.last_peer_id,
        };
        self.draining = H2Drain::Final { last };
        self.timers.stop(Timer::Drain);
        self.write_goaway(last, H2Code::NO_ERROR);
        self.finish_drain(now);
    }

    /// Whether new exchanges may still be asked for at all.
    pub(super) fn takes_exchanges(&self) -> bool {
        self.life != Life::Closed
            && self.draining == H2Drain::No
            && self.peer_goaway.is_none()
            && self.next_id <= STREAM_ID_MAX
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
        match self.peer_goaway {
            // RFC 9113 section 6.8: what the peer has given up it cannot take back.
            Some((before, _)) if last > before => return Err(Violation::GoawayIdIncreased),
            before => {
                self.peer_goaway = Some((last, code));
                let is_news = self.session.side() == Side::Client && before.is_none();
                if is_news || self.session.config().frame_events {
                    let last = StreamId(u64::from(last));
                    let debug = Bytes::copy_from_slice(goaway.debug);
                    self.session
                        .push_event(Event::GoingAway { code, last, debug });
                }
            }
        }
        if self.session.side() == Side::Client {
            let above: Vec<u32> = self.streams.ids().filter(|&id| id > last).collect();
            for id in above {
                let by = ResetBy::Peer(code);
                self.end_early(now, id, by, true, ClosedHow::ResetByPeer);
            }
        }
        self.finish_drain(now);
        Ok(())
    }

    /// Whether the peer has said that it will never process a request of ours
    /// (RFC 9113 section 8.7).
    pub(super) fn is_unprocessed(&self, id: u32) -> bool {
        self.session.side() == Side::Client && self.peer_goaway.is_some_and(|(last, _)| id > last)
    }
}
