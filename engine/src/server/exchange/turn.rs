//! The context of one turn of a server's connection: what every step of an exchange needs.

use super::scratch::{Scratch, with_scratch};
use crate::driver::machine::Machine;
use crate::server::observe::Counters;
use crate::server::response::AnswerOptions;
use std::time::Instant;

/// One turn of a connection. Steps of an exchange take it in place of its parts.
pub(in crate::server) struct Turn<'a> {
    pub(in crate::server) machine: &'a mut Machine,
    /// The time of this turn.
    pub(in crate::server) now: Instant,
    /// The thread's reusable memory.
    pub(in crate::server) scratch: &'a mut Scratch,
    /// Fields that every response of this server carries.
    pub(in crate::server) extra: &'a AnswerOptions,
    /// Seconds after which a request that is refused with 429 or 503 may come again (RFC 9110 section 10.2.3).
    pub(in crate::server) retry_after: u8,
    counters: &'a Counters,
    /// Exchanges that began in this turn: how many had their final head sent in it, and how many ended. Their
    /// time is read from the clock once, at the end of the turn.
    inline: (u32, u32),
}

impl Turn<'_> {
    /// The head of a final response was sent, to a request whose head came at `began`.
    pub(in crate::server) fn count_head(&mut self, began: Instant, status: u16) {
        let version = self.machine.version();
        self.counters.answered(version, status);
        match began == self.now {
            true => self.inline.0 += 1,
            false => self.counters.took(version, self.since(began), (1, 0)),
        }
    }
    /// An exchange ended whose request's head came at `began`.
    pub(in crate::server) fn count_end(&mut self, began: Instant) {
        match began == self.now {
            true => self.inline.1 += 1,
            false => {
                let version = self.machine.version();
                self.counters.took(version, self.since(began), (0, 1));
            }
        }
    }
    fn since(&self, began: Instant) -> std::time::Duration {
        self.now.saturating_duration_since(began)
    }
    fn count_inline(&self) {
        if self.inline != (0, 0) {
            let version = self.machine.version();
            self.counters.took(version, self.now.elapsed(), self.inline);
        }
    }
}

/// Runs `work` as a part of a turn, with this thread's memory.
pub(in crate::server) fn with_turn<R>(
    machine: &mut Machine,
    now: Instant,
    (extra, counters): (&AnswerOptions, &Counters),
    work: impl FnOnce(&mut Turn<'_>) -> R,
) -> R {
    with_scratch(|scratch| {
        let mut turn = Turn {
            machine,
            now,
            scratch,
            extra,
            retry_after: 1,
            counters,
            inline: (0, 0),
        };
        let result = work(&mut turn);
        turn.count_inline();
        result
    })
}
