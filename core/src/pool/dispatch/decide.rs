//! Decides whether to reuse a connection, open one, wait or refuse. Pure: equal views give equal
//! decisions. [`Pool`](crate::pool::Pool) and the engine carry them out.
//!
//! The number of connections grows with demand beyond the limits of the open and opening ones,
//! never with a queue that our own send window caused (RFC 9113 section 9.1: SHOULD NOT open more
//! than one connection).

use crate::pool::ConnectionId;

/// One origin as the decision sees it.
#[derive(Clone, Copy, Debug)]
pub struct OriginView {
    /// Requests that wait, the one in question included.
    pub waiting: u32,
    /// How many may wait.
    pub waiting_max: u32,
    /// The ready connection that should get the next request.
    pub roomiest: Option<ConnectionId>,
    /// The remaining room is kept for requests more urgent than this one.
    pub kept_free: bool,
    /// The attempt that asks for the version has taken too long.
    pub probe_is_late: bool,
    /// Connections that may get requests: draining ones do not, they are leaving, and suspect ones may be dead.
    pub connections: u32,
    /// Connections whose peer answers nothing, which are not in `connections`.
    pub suspects: u32,
    /// Attempts under way.
    pub attempts: u32,
    /// The bound on connections and attempts together, less the draining connections that keep their place.
    pub connections_max: u32,
    /// Sockets that the client as a whole may still open.
    pub sockets_left: u32,
    /// Expected capacity of one more connection; `None` while unknown.
    pub per_connection: Option<u32>,
    /// Exchanges expected of connections whose limit is not known yet.
    pub expected: u32,
    /// The last attempt failed: one at a time until one succeeds.
    pub failing: bool,
    /// A failed attempt forbids new ones for now.
    pub backing_off: bool,
}

/// The decision for the request at the head of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start it on this connection.
    Reuse(ConnectionId),
    /// Open this many connections, and decide again.
    Open(u32),
    /// Let it wait.
    Wait(WaitReason),
    /// There is no place to wait.
    Refuse,
}

/// Why a request is not on a connection yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitReason {
    /// A connection is being opened.
    Attempt,
    /// A connection is open, but the peer has not said how many exchanges it allows.
    Settings,
    /// Every connection is full, and the bound on connections is reached or the peer allows no exchanges.
    Capacity,
    /// The last attempt failed; the next one waits for its time.
    BackOff,
    /// The client's bound on sockets is reached by other origins.
    Sockets,
    /// The remaining room is kept for more urgent requests.
    Reserve,
    /// The peer refused it; it pauses before it is sent again.
    Pause,
    /// The peer of every open connection answers nothing, and another connection is being opened.
    Silence,
}

impl WaitReason {
    /// Every reason, for tables and metrics.
    pub const ALL: [Self; 8] = [
        Self::Attempt,
        Self::Settings,
        Self::Capacity,
        Self::BackOff,
        Self::Sockets,
        Self::Reserve,
        Self::Pause,
        Self::Silence,
    ];

    /// The reason as a label of metrics: lower case, with `_` between words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attempt => "attempt",
            Self::Settings => "settings",
            Self::Capacity => "capacity",
            Self::BackOff => "back_off",
            Self::Sockets => "sockets",
            Self::Reserve => "reserve",
            Self::Pause => "pause",
            Self::Silence => "silence",
        }
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Attempt => "a connection is being opened",
            Self::Settings => "the peer has not said how many exchanges it allows",
            Self::Capacity => {
                "every connection is full, and the bound on connections is reached or the peer allows no exchanges"
            }
            Self::BackOff => "the last attempt failed and the next one waits for its time",
            Self::Sockets => "the client's bound on sockets is reached",
            Self::Reserve => "the slots that are left are kept for more urgent requests",
            Self::Pause => "the peer refused it and it pauses before it is sent again",
            Self::Silence => {
                "the peer answers nothing on the connections that are open and another one is being opened"
            }
        }
    }
}

/// Decides for the request at the head of the line.
pub fn decide(origin: &OriginView) -> Decision {
    match decide_by_counts(origin) {
        Decision::Wait(WaitReason::Attempt) if origin.suspects > 0 && origin.connections == 0 => {
            Decision::Wait(WaitReason::Silence)
        }
        decision => decision,
    }
}

fn decide_by_counts(origin: &OriginView) -> Decision {
    if origin.kept_free {
        return Decision::Wait(WaitReason::Reserve);
    }
    if let Some(connection) = origin.roomiest {
        return Decision::Reuse(connection);
    }
    if origin.waiting > origin.waiting_max {
        return Decision::Refuse;
    }
    let (want, otherwise) = wanted(origin);
    if want == 0 {
        return Decision::Wait(otherwise);
    }
    if origin.failing && origin.attempts > 0 {
        return Decision::Wait(WaitReason::Attempt);
    }
    let want = if origin.failing { 1 } else { want };
    let bound_left = origin
        .connections_max
        .saturating_sub(origin.connections + origin.attempts);
    let lacking = match (bound_left, origin.sockets_left) {
        (0, _) if origin.attempts > 0 => Some(WaitReason::Attempt),
        (0, _) => Some(WaitReason::Capacity),
        (_, 0) => Some(WaitReason::Sockets),
        _ if origin.backing_off => Some(WaitReason::BackOff),
        _ => None,
    };
    match lacking {
        Some(reason) => Decision::Wait(reason),
        None => Decision::Open(want.min(bound_left).min(origin.sockets_left)),
    }
}

/// How many more attempts the line deserves, and what it waits for when that is none.
fn wanted(origin: &OriginView) -> (u32, WaitReason) {
    let reason = if origin.attempts > 0 {
        WaitReason::Attempt
    } else {
        WaitReason::Settings
    };
    let Some(per_connection) = origin.per_connection else {
        // One attempt probes for all: until it answers, the use of a second is unknown.
        let alone = origin.attempts == 0 || origin.attempts == 1 && origin.probe_is_late;
        let wants = alone && origin.connections == 0 && origin.waiting > 0;
        return (u32::from(wants), reason);
    };
    // A peer that allows nothing is answered by waiting, not by more connections to it.
    if per_connection == 0 {
        let alone = origin.attempts == 0 && origin.connections == 0;
        return (u32::from(alone), WaitReason::Capacity);
    }
    let expected = origin
        .expected
        .saturating_add(origin.attempts.saturating_mul(per_connection));
    let missing = origin.waiting.saturating_sub(expected);
    (missing.div_ceil(per_connection), reason)
}
