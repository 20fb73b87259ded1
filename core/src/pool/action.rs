//! The pool's actions, which its owner carries out.

use super::dispatch::decide::WaitReason;
use super::{AttemptId, ConnectionId, OriginId};
use std::time::Duration;

/// An action for the owner.
#[derive(Debug)]
pub enum Action<R> {
    /// Open a connection; answer with `handle_connected` or `handle_attempt_failed`.
    Open {
        /// To where.
        origin: OriginId,
        /// Names it in the answer.
        attempt: AttemptId,
    },
    /// Start the exchange. The connection counts it as `taken` in its next report.
    Dispatch {
        /// The submitted request.
        request: R,
        /// On which connection.
        connection: ConnectionId,
        /// Why it waited, at first; `None`: it did not.
        waited_for: Option<WaitReason>,
        /// The connection gets none behind it: [`Action::Close`] follows.
        last: bool,
    },
    /// Fail the user's request.
    Fail {
        /// The submitted request.
        request: R,
        /// The reason.
        why: Failure,
    },
    /// Another connection to its origin has become suspect: ask whether this one's peer lives.
    Probe {
        /// The connection.
        connection: ConnectionId,
        /// Even if it answered a moment ago.
        even_if_recent: bool,
    },
    /// Another connection to its origin works while this one is suspect.
    Outlived {
        /// The connection.
        connection: ConnectionId,
        /// How long the peer took recently for an answer: a handshake, or a silence that ended.
        answer_time: Duration,
    },
    /// Close the connection once it has nothing open; it gets no more requests.
    Close {
        /// The connection.
        connection: ConnectionId,
        /// It carried nothing for its idle time.
        idle: bool,
    },
}

/// The waiting requests that fail with an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureScope {
    /// All, where no connection and no other attempt is there to hope for; later attempts may pause.
    #[default]
    All,
    /// The next in line: an attempt is for one request. Those behind it have attempts of their own.
    Next,
    /// None: another attempt begins for them.
    None,
}

/// Why the pool fails a request. Nothing of it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The attempt failed, and no connection or other attempt is there to hope for.
    AttemptFailed,
    /// It waited until its deadline, at the end for this.
    QueueTimeout(WaitReason),
    /// The peer was connected and allowed no exchange.
    NoExchanges,
    /// The queue holds this many already.
    QueueFull(u32),
    /// The pool is shut down.
    ShutDown,
}
