//! A connection's capacity for the pool. It names no version: HTTP/1.1 and HTTP/2 connections
//! differ in their numbers only.

use std::time::Instant;

/// A connection's report, made by its driver at most once per turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// How many more exchanges may start now.
    pub free: u32,
    /// Exchanges that are open.
    pub active: u32,
    /// How many dispatched requests the connection has taken over so far, in its whole life.
    /// Requests dispatched but not yet taken are on their way and occupy room; counting both
    /// ends makes the report right whatever crosses it.
    pub taken: u64,
    /// False until the peer has said how many exchanges it allows (HTTP/2: its SETTINGS).
    pub limit_known: bool,
    /// Whether it may get more.
    pub standing: Standing,
}

/// Whether a connection may get new exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Yes.
    Open,
    /// Never again: the peer said GOAWAY, or the connection is to close. Open exchanges go on.
    Draining,
    /// Not now: it has been silent for too long. Any byte from the peer clears it.
    Suspect {
        /// Since when the peer has owed an answer.
        since: Instant,
    },
}

impl Capacity {
    /// A connection that carries `free` exchanges, none yet.
    pub fn fresh(free: u32, limit_known: bool) -> Self {
        Self {
            free,
            active: 0,
            taken: 0,
            limit_known,
            standing: Standing::Open,
        }
    }
}

/// Whether connections of an origin carry many exchanges at once: all that the pool knows of a
/// version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplexing {
    /// One exchange, or the pipelining depth: HTTP/1.1.
    No,
    /// As many as the peer's limit allows: HTTP/2, HTTP/3.
    Yes,
}
