//! The context of one turn of a server's connection: what every step of an exchange needs.

use super::scratch::{Scratch, with_scratch};
use crate::driver::machine::Machine;
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
}

/// Runs `work` as a part of a turn, with this thread's memory.
pub(in crate::server) fn with_turn<R>(
    machine: &mut Machine,
    now: Instant,
    extra: &AnswerOptions,
    work: impl FnOnce(&mut Turn<'_>) -> R,
) -> R {
    with_scratch(|scratch| {
        work(&mut Turn {
            machine,
            now,
            scratch,
            extra,
        })
    })
}
