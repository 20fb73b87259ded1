//! The rules that are the same over every framing, as provided methods: a connection gives its
//! session and its own verbs, and gets them.

use super::Session;
use crate::abuse::Verdict;
use crate::error::Violation;
use std::time::Instant;

/// One connection of a version that carries exchanges on streams.
pub(crate) trait Framing {
    /// The state that is alike in all versions.
    fn session(&mut self) -> &mut Session;
    /// Exchanges that a client may start now.
    fn capacity_now(&self) -> u32;
    /// Whether [`Event::Closed`](crate::http::Event::Closed) was queued.
    fn is_over(&self) -> bool;
    /// No new exchanges; open ones finish.
    fn drain(&mut self, now: Instant);

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
