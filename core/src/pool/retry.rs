//! Decides whether and when a request that a connection lost is sent again. Pure: random bytes are
//! an argument.
//!
//! Three classes. **A**, provably unprocessed (RFC 9113 section 8.7): any method. **B**, perhaps
//! processed: only where RFC 9110 section 9.2.2 makes a repetition harmless. Either the request was
//! lost with its connection after it was written: then only when the connection had worked before
//! (the usual race with a peer that closes an idle connection), and only if the user allows it. Or it was
//! pipelined behind a request whose response was not complete. Or we ended the connection. Or the peer asked
//! for a repetition over HTTP/1.1. **C**, everything else: never.
//!
//! A budget bounds the retries of a failing origin to a tenth of its traffic plus a burst. Requests
//! returned once by a GOAWAY are free, and so are those that were never sent on a connection that had
//! answered something before: each costs the peer an answer. A peer that ends its connections before
//! it answers anything gets [`UNUSED_CONNECTIONS_MAX`] of them per request, and a proxy that ends its tunnels
//! so one.

use crate::error::{Closed, H2Code};
use crate::http::Reset;
use crate::http::event::ResetBy;
use crate::limits::UNUSED_CONNECTIONS_MAX;
use std::time::Duration;

/// Times a request is sent again: at once, and twice after a pause.
pub const RETRIES_MAX: u32 = 3;
/// Retries that the budget lets through at once: what the loss of two full connections costs.
pub const RETRY_BURST: u32 = 200;
/// Share of an origin's requests that may be retries, in per cent.
pub const RETRY_PERCENT: u32 = 10;
/// The pause before the second retry; twice as long before the third. Half of it is random, so
/// that many requests refused together do not come back together.
pub const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// How a request came back from its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The cause of the loss.
    pub cause: Cause,
    /// How often it was put on a connection, this time included. Where nothing of it was written on
    /// an unused connection: on how many such connections, this one included.
    pub tries: u32,
    /// All of its body is still there: nothing of a streaming body was read.
    pub replayable: bool,
    /// Its method may be sent twice (RFC 9110 section 9.2.2).
    pub idempotent: bool,
}

/// The event that ended a request on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing of it was written.
    NeverSent {
        /// The connection ended, or drains, and has answered nothing in its life.
        unused: bool,
        /// A proxy was asked for the connection: one more is one more request of the proxy.
        tunnel: bool,
    },
    /// Its stream is above the last one of a GOAWAY (RFC 9113 section 6.8).
    GoneAway,
    /// REFUSED_STREAM. `below_limit`: although the peer's own limit was not reached.
    Refused {
        /// Fewer streams were open than the peer allows.
        below_limit: bool,
    },
    /// HTTP_1_1_REQUIRED: the origin wants HTTP/1.1 (RFC 9113 section 7). The code alone does not
    /// say that the request was not processed (section 8.7).
    Http1Required {
        /// The peer said so apart from the code: its stream is above the last one of a GOAWAY.
        unprocessed: bool,
    },
    /// 421: the connection is not one for this origin (RFC 9110 section 15.5.20).
    Misdirected,
    /// It was in early data, and the peer takes none, or not this one (425, RFC 8470 section 5.2).
    TooEarly,
    /// 417: the peer knows nothing of what the request expected of it, and is to get it without
    /// (RFC 9110 section 15.5.18).
    ExpectationFailed,
    /// HTTP/1.1: the connection ended before a response in front of its own was complete (RFC 9112 section 9.3.2).
    Behind,
    /// The connection died under it before any byte of the response.
    Lost {
        /// The connection had answered something before.
        reused: bool,
    },
    /// We ended the connection under it, before any byte of the response: its task was dropped.
    Abandoned,
    /// Anything else.
    Failed,
}

impl Cause {
    /// The cause that a reset gives. `reused`: the connection had answered a request before;
    /// `has_room`: it may open another exchange, now that this one is over.
    pub fn of(reset: &Reset, reused: bool, has_room: bool) -> Self {
        match reset.by {
            ResetBy::Peer(H2Code::HTTP_1_1_REQUIRED)
            | ResetBy::Connection(Closed::ByPeer(H2Code::HTTP_1_1_REQUIRED)) => {
                Self::Http1Required {
                    unprocessed: reset.unprocessed,
                }
            }
            ResetBy::Peer(H2Code::REFUSED_STREAM) if reset.unprocessed => Self::Refused {
                below_limit: has_room,
            },
            ResetBy::EarlyDataRejected => Self::TooEarly,
            _ if reset.unprocessed => Self::GoneAway,
            _ if reset.behind => Self::Behind,
            ResetBy::Connection(Closed::Transport(_) | Closed::ByPeer(H2Code::NO_ERROR)) => {
                Self::Lost { reused }
            }
            _ => Self::Failed,
        }
    }
}

/// The class of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetryClass {
    /// A: provably unprocessed.
    Unprocessed,
    /// B: perhaps processed; harmless twice.
    Harmless,
    /// C: not to be sent again.
    Never,
}

/// The verdict on a lost request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Into the line again, after this pause.
    After(Duration),
    /// The request fails.
    No(NoRetry),
}

/// Why a request is not sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRetry {
    /// Class C, or its body is gone.
    Class,
    /// It was sent [`RETRIES_MAX`] times more already.
    Tries,
    /// The origin's budget is used up.
    Budget,
}

/// The class of a loss; `lost_too`: the user allows class B.
pub fn classify(loss: &Loss, lost_too: bool) -> RetryClass {
    if !loss.replayable {
        return RetryClass::Never;
    }
    match loss.cause {
        Cause::NeverSent { .. }
        | Cause::GoneAway
        | Cause::Refused { .. }
        | Cause::Http1Required { unprocessed: true }
        | Cause::Misdirected
        | Cause::TooEarly
        | Cause::ExpectationFailed => RetryClass::Unprocessed,
        Cause::Lost { reused: true } if lost_too && loss.idempotent => RetryClass::Harmless,
        // A pipelined request that the connection ended in front of: its user allows it by pipelining.
        Cause::Behind if loss.idempotent => RetryClass::Harmless,
        // The peer has no part in it.
        Cause::Abandoned if loss.idempotent => RetryClass::Harmless,
        // The peer asks for it, over another version.
        Cause::Http1Required { unprocessed: false } if loss.idempotent => RetryClass::Harmless,
        Cause::Behind
        | Cause::Lost { .. }
        | Cause::Abandoned
        | Cause::Http1Required { .. }
        | Cause::Failed => RetryClass::Never,
    }
}

/// Tokens for the retries of one origin.
#[derive(Clone, Copy, Debug)]
pub struct RetryBudget {
    /// Hundredths of a retry.
    left: u32,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self {
            left: RETRY_BURST * WHOLE,
        }
    }
}

impl RetryBudget {
    /// A request of the user's came: a part of a retry is earned.
    pub fn earn(&mut self) {
        self.left = (self.left + RETRY_PERCENT).min(RETRY_BURST * WHOLE);
    }

    /// Decides, and pays. `random` spreads the pauses.
    pub fn decide(&mut self, loss: &Loss, lost_too: bool, random: u32) -> Retry {
        let class = classify(loss, lost_too);
        if class == RetryClass::Never {
            return Retry::No(NoRetry::Class);
        }
        // A request is early once and expects something once: no peer can make a loop of it.
        let once = matches!(loss.cause, Cause::TooEarly | Cause::ExpectationFailed);
        // Each connection that ends costs the request at its front, which the bounds below are for.
        let is_of_front = loss.cause == Cause::Behind;
        // No peer has a part in it.
        let is_ours = loss.cause == Cause::Abandoned;
        if once
            || is_ours
            || is_of_front
            || matches!(loss.cause, Cause::NeverSent { unused: false, .. })
        {
            return Retry::After(Duration::ZERO);
        }
        let is_unsent = matches!(loss.cause, Cause::NeverSent { .. });
        let tries_max = match loss.cause {
            Cause::NeverSent { tunnel: true, .. } => 1,
            Cause::NeverSent { .. } => UNUSED_CONNECTIONS_MAX,
            _ => RETRIES_MAX + 1,
        };
        if loss.tries >= tries_max || loss.cause == Cause::Misdirected && loss.tries > 1 {
            return Retry::No(NoRetry::Tries);
        }
        let is_free = (loss.cause == Cause::GoneAway || is_unsent) && loss.tries == 1;
        if !is_free {
            match self.left.checked_sub(WHOLE) {
                Some(left) => self.left = left,
                None => return Retry::No(NoRetry::Budget),
            }
        }
        Retry::After(pause(loss.tries, random))
    }
}

/// The pause before a retry: none before the first, then half of [`RETRY_PAUSE`] and up to as much more, doubling.
fn pause(tries: u32, random: u32) -> Duration {
    let Some(doublings) = tries.checked_sub(2) else {
        return Duration::ZERO;
    };
    let half = RETRY_PAUSE * (1 << doublings.min(8)) / 2;
    half + Duration::from_nanos((half.as_nanos() as u64).saturating_mul(u64::from(random)) >> 32)
}

/// Parts of a token in one retry.
const WHOLE: u32 = 100;
