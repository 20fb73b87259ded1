//! The life of one stream (RFC 9113 section 5.1), as one total match: a new input does not compile
//! until every state answers it. Message rules (a second head, a wrong length) are checked
//! elsewhere.

use crate::error::Violation;

#[cfg(test)]
#[path = "stream_state_test.rs"]
mod stream_state_test;

/// Where a stream is. Push does not exist here, hence no reserved states.
///
/// ```text
///                  RecvHeaders | SendHeaders
///         Idle ---------------------------------> Open
///           |                                     |  |
///           | RecvHeaders{end}       Recv*{end}   |  |   Send*{end}
///           +---------------> HalfClosedRemote <--+  +--> HalfClosedLocal
///           | SendHeaders{end}        |                     ^      |
///           +-------------------------|---------------------+      |
///                                     | Send*{end}      Recv*{end} |
///                                     +------> Closed(Ended) <-----+
///
///     Open, HalfClosed* -- RecvReset --> Closed(ResetByPeer)
///     Open, HalfClosed* -- SendReset --> Closed(ResetByUs)
/// ```
///
/// `Recv*` and `Send*` are headers or data. Local is our sending side, remote the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamState {
    /// Nothing was sent or received on it.
    Idle,
    /// Both sides may send.
    Open,
    /// We have ended our side; the peer may send.
    HalfClosedLocal,
    /// The peer has ended its side; we may send.
    HalfClosedRemote,
    /// Over.
    Closed(ClosedHow),
}

/// How a stream ended; late frames are judged by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClosedHow {
    /// Both sides sent END_STREAM.
    Ended,
    /// The peer sent RST_STREAM.
    ResetByPeer,
    /// We sent RST_STREAM; what the peer sent before it saw that may still arrive.
    ResetByUs,
}

/// An event of a stream. `end` is the END_STREAM flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "side and frame are in the name")]
pub enum StreamInput {
    RecvHeaders { end: bool },
    RecvData { end: bool },
    RecvReset,
    RecvWindowUpdate,
    RecvPriority,
    SendHeaders { end: bool },
    SendData { end: bool },
    SendReset,
}

/// The state after `input`.
///
/// A refused `Recv*` is the violation to answer with. A refused `Send*` is a call that our own
/// side must not make: the error names the same rule seen from the other side, and the caller
/// turns it into [`Misuse::StreamNotOpen`](crate::error::Misuse::StreamNotOpen).
///
/// # Errors
/// The [`Violation`] of RFC 9113 section 5.1 that the input is in this state.
pub fn step(state: StreamState, input: StreamInput) -> Result<StreamState, Violation> {
    use ClosedHow::{Ended, ResetByPeer, ResetByUs};
    use StreamInput::{
        RecvData, RecvHeaders, RecvPriority, RecvReset, RecvWindowUpdate, SendData, SendHeaders,
        SendReset,
    };
    use StreamState::{Closed, HalfClosedLocal, HalfClosedRemote, Idle, Open};

    match (state, input) {
        // RFC 9113 section 5.3.2: PRIORITY may come in every state and changes none.
        (state, RecvPriority) => Ok(state),

        (Idle, RecvHeaders { end: false } | SendHeaders { end: false }) => Ok(Open),
        (Idle, RecvHeaders { end: true }) => Ok(HalfClosedRemote),
        (Idle, SendHeaders { end: true }) => Ok(HalfClosedLocal),
        (Idle, RecvData { .. } | RecvReset | RecvWindowUpdate | SendData { .. } | SendReset) => {
            Err(Violation::StreamIdle)
        }

        (Open, RecvHeaders { end } | RecvData { end }) => {
            Ok(if end { HalfClosedRemote } else { Open })
        }
        (Open, SendHeaders { end } | SendData { end }) => {
            Ok(if end { HalfClosedLocal } else { Open })
        }
        (HalfClosedLocal, RecvHeaders { end } | RecvData { end }) => {
            Ok(if end { Closed(Ended) } else { HalfClosedLocal })
        }
        (HalfClosedRemote, SendHeaders { end } | SendData { end }) => {
            Ok(if end { Closed(Ended) } else { HalfClosedRemote })
        }
        (HalfClosedRemote, RecvHeaders { .. } | RecvData { .. })
        | (HalfClosedLocal, SendHeaders { .. } | SendData { .. }) => {
            Err(Violation::StreamHalfClosed)
        }
        (Open | HalfClosedLocal | HalfClosedRemote, RecvWindowUpdate) => Ok(state),
        (Open | HalfClosedLocal | HalfClosedRemote, RecvReset) => Ok(Closed(ResetByPeer)),
        (Open | HalfClosedLocal | HalfClosedRemote, SendReset) => Ok(Closed(ResetByUs)),

        // The peer cannot know yet that our END_STREAM closed the stream.
        (Closed(Ended), RecvWindowUpdate | RecvReset) => Ok(state),
        (Closed(Ended), RecvHeaders { .. } | RecvData { .. }) => Err(Violation::StreamClosedByEnd),
        // No RST_STREAM answers an RST_STREAM (RFC 9113 section 5.4.2); a WINDOW_UPDATE that a
        // sloppy peer sends behind its own reset does no harm.
        (Closed(ResetByPeer), RecvReset | RecvWindowUpdate) => Ok(state),
        (Closed(ResetByPeer), RecvHeaders { .. } | RecvData { .. }) => {
            Err(Violation::StreamClosedByReset)
        }
        // Sent before the peer saw our reset: ignored. Its HPACK and its window still count.
        (
            Closed(ResetByUs),
            RecvHeaders { .. } | RecvData { .. } | RecvReset | RecvWindowUpdate,
        ) => Ok(state),
        (Closed(Ended), SendHeaders { .. } | SendData { .. } | SendReset) => {
            Err(Violation::StreamClosedByEnd)
        }
        (Closed(ResetByPeer | ResetByUs), SendHeaders { .. } | SendData { .. } | SendReset) => {
            Err(Violation::StreamClosedByReset)
        }
    }
}

impl StreamState {
    /// Whether the peer may still send headers or data.
    pub fn can_recv(self) -> bool {
        matches!(self, Self::Open | Self::HalfClosedLocal)
    }
    /// Whether the stream is over.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Closed(_))
    }
}
