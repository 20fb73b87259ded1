//! The whole transition table, cell by cell, and the getters.

use super::ClosedHow::{Ended, ResetByPeer, ResetByUs};
use super::StreamInput::{
    RecvData, RecvHeaders, RecvPriority, RecvReset, RecvWindowUpdate, SendData, SendHeaders,
    SendReset,
};
use super::StreamState::{Closed, HalfClosedLocal, HalfClosedRemote, Idle, Open};
use super::{StreamInput, StreamState, step};
use crate::error::{H2Code, Scope, Violation};

const STATES: [StreamState; 7] = [
    Idle,
    Open,
    HalfClosedLocal,
    HalfClosedRemote,
    Closed(Ended),
    Closed(ResetByPeer),
    Closed(ResetByUs),
];

type Answer = Result<StreamState, Violation>;

/// One row per input: the answer of each of [`STATES`], in that order.
fn table() -> [(StreamInput, [Answer; 7]); 11] {
    const IDLE: Answer = Err(Violation::StreamIdle);
    const HALF: Answer = Err(Violation::StreamHalfClosed);
    const ENDED: Answer = Err(Violation::StreamClosedByEnd);
    const RESET: Answer = Err(Violation::StreamClosedByReset);
    let (end, more) = (true, false);
    let open = Ok(Open);
    let local = Ok(HalfClosedLocal);
    let remote = Ok(HalfClosedRemote);
    let over = Ok(Closed(Ended));
    let by_peer = Ok(Closed(ResetByPeer));
    let by_us = Ok(Closed(ResetByUs));
    [
        (
            RecvHeaders { end: more },
            [open, open, local, HALF, ENDED, RESET, by_us],
        ),
        (
            RecvHeaders { end },
            [remote, remote, over, HALF, ENDED, RESET, by_us],
        ),
        (
            RecvData { end: more },
            [IDLE, open, local, HALF, ENDED, RESET, by_us],
        ),
        (
            RecvData { end },
            [IDLE, remote, over, HALF, ENDED, RESET, by_us],
        ),
        (
            RecvReset,
            [IDLE, by_peer, by_peer, by_peer, over, by_peer, by_us],
        ),
        (
            RecvWindowUpdate,
            [IDLE, open, local, remote, over, by_peer, by_us],
        ),
        (
            RecvPriority,
            [Ok(Idle), open, local, remote, over, by_peer, by_us],
        ),
        (
            SendHeaders { end: more },
            [open, open, HALF, remote, ENDED, RESET, RESET],
        ),
        (
            SendHeaders { end },
            [local, local, HALF, over, ENDED, RESET, RESET],
        ),
        (
            SendData { end: more },
            [IDLE, open, HALF, remote, ENDED, RESET, RESET],
        ),
        (
            SendData { end },
            [IDLE, local, HALF, over, ENDED, RESET, RESET],
        ),
    ]
}

#[test]
fn every_state_answers_every_input_as_rfc_9113_section_5_1_says() {
    for (input, answers) in table() {
        for (state, answer) in STATES.into_iter().zip(answers) {
            assert_eq!(step(state, input), answer, "{input:?} in {state:?}");
        }
    }
    for state in STATES {
        let answer = match state {
            Idle => Err(Violation::StreamIdle),
            Closed(Ended) => Err(Violation::StreamClosedByEnd),
            Closed(_) => Err(Violation::StreamClosedByReset),
            Open | HalfClosedLocal | HalfClosedRemote => Ok(Closed(ResetByUs)),
        };
        assert_eq!(step(state, SendReset), answer, "SendReset in {state:?}");
    }
}

#[test]
fn data_on_an_idle_stream_is_a_connection_error() {
    let violation = step(Idle, RecvData { end: false }).unwrap_err();
    assert_eq!(violation.scope(), Scope::Connection);
    assert_eq!(violation.h2_code(), H2Code::PROTOCOL_ERROR);
}

#[test]
fn data_after_end_stream_is_a_stream_error_while_we_still_answer() {
    let violation = step(HalfClosedRemote, RecvData { end: false }).unwrap_err();
    assert_eq!(violation.scope(), Scope::Stream);
    assert_eq!(violation.h2_code(), H2Code::STREAM_CLOSED);
}

#[test]
fn a_closed_stream_never_opens_again() {
    for (input, _) in table() {
        for state in STATES.into_iter().filter(|state| state.is_closed()) {
            if let Ok(next) = step(state, input) {
                assert_eq!(next, state, "{input:?}");
            }
        }
    }
}

#[test]
fn a_peer_that_may_not_send_has_its_headers_and_data_refused() {
    for state in STATES {
        let data = step(state, RecvData { end: false });
        let ignored = state == Closed(ResetByUs);
        assert_eq!(data.is_ok() && !ignored, state.can_recv(), "{state:?}");
        let sent = step(state, SendData { end: false });
        let may_send = matches!(state, Open | HalfClosedRemote);
        assert_eq!(sent.is_ok(), may_send, "{state:?}");
    }
}
