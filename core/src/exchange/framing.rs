//! The rules that are the same over every framing, as provided methods: a connection gives its
//! session and its own verbs, and gets them.

use super::{Session, Timed, deadlines};
use crate::abuse::Verdict;
use crate::error::Violation;
use std::time::{Duration, Instant};

/// One connection of a version that carries exchanges on streams.
pub(crate) trait Framing {
    /// The number of a stream.
    type Id: Copy;
    /// One exchange.
    type Stream: Timed;

    /// The state that is alike in all versions.
    fn session(&mut self) -> &mut Session;
    /// Exchanges that a client may start now.
    fn capacity_now(&self) -> u32;
    /// Whether [`Event::Closed`](crate::http::Event::Closed) was queued.
    fn is_over(&self) -> bool;
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
    /// The deadline of the streams came: ends those whose time is up.
    fn expire_streams(&mut self, now: Instant) {
        deadlines::expire_streams(self, now);
    }
    /// Nothing was read for so long, because our user did not keep up: the deadlines of streams are
    /// as much later.
    fn postpone_streams(&mut self, by: Duration) {
        deadlines::postpone_streams(self, by);
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
        let verdict = self.session().abuse_mut().glitch(points, now);
        self.judge(now, verdict)
    }
    /// Client: announces the capacity when it is not what was announced last; once per change,
    /// however many streams ended since.
    #[inline]
    fn note_capacity(&mut self) {
        if !self.session().is_server() && !self.is_over() {
            let capacity = self.capacity_now();
            self.session().announce_capacity(capacity);
        }
    }
}
