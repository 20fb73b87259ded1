//! Estimates which packets of a connection the peer has not acknowledged. quinn-proto exposes
//! neither probe timeouts nor bytes in flight; its counts of sent frames and fired timers give the
//! same information.

use quinn_proto::FrameStats;
use std::time::Instant;
use trunkline_core::pool::Unanswered;

/// Counts from one sign of the peer's to the next.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Ack-eliciting frames sent so far.
    sent: u64,
    /// PING frames among them.
    pings: u64,
    /// A timer of quinn-proto's has fired since packets were last counted.
    fired: bool,
    unanswered: Option<Unanswered>,
}

impl Answers {
    /// A packet came. It need not acknowledge what was sent last: what stays unacknowledged is sent
    /// again, and counts from then on.
    pub(crate) fn note_received(&mut self) {
        self.unanswered = None;
    }
    /// A timer has fired.
    pub(crate) fn note_timeout(&mut self) {
        self.fired = true;
    }
    /// Packets were sent; `frames`: all that were sent so far. One repetition at most is counted for
    /// them: a timeout may have been the cause, or a PING is among them.
    pub(crate) fn note_sent(&mut self, now: Instant, frames: &FrameStats) {
        let sent = eliciting(frames);
        let fired = std::mem::take(&mut self.fired);
        let pinged = std::mem::replace(&mut self.pings, frames.ping) != frames.ping;
        if sent == std::mem::replace(&mut self.sent, sent) {
            return;
        }
        let unanswered = self.unanswered.get_or_insert(Unanswered {
            since: now,
            repeats: 0,
            refused: false,
        });
        // The first of it is no repetition, whichever timer it was sent for.
        if (fired || pinged) && unanswered.since < now {
            unanswered.repeats += 1;
        }
    }
    /// The network says that no process listens at the peer's port.
    pub(crate) fn note_refused(&mut self) {
        if let Some(unanswered) = &mut self.unanswered {
            unanswered.refused = true;
        }
    }
    /// The unacknowledged data now.
    pub(crate) fn unanswered(&self) -> Option<Unanswered> {
        self.unanswered
    }
}

/// Frames that a peer acknowledges: all but ACK, PADDING and CONNECTION_CLOSE (RFC 9002 section 2).
fn eliciting(frames: &FrameStats) -> u64 {
    [
        frames.ack_frequency,
        frames.crypto,
        frames.data_blocked,
        frames.datagram,
        frames.handshake_done.into(),
        frames.immediate_ack,
        frames.max_data,
        frames.max_stream_data,
        frames.max_streams_bidi,
        frames.max_streams_uni,
        frames.new_connection_id,
        frames.new_token,
        frames.path_challenge,
        frames.path_response,
        frames.ping,
        frames.reset_stream,
        frames.retire_connection_id,
        frames.stream_data_blocked,
        frames.streams_blocked_bidi,
        frames.streams_blocked_uni,
        frames.stop_sending,
        frames.stream,
    ]
    .iter()
    .sum()
}

#[cfg(test)]
#[path = "unanswered_test.rs"]
mod unanswered_test;
