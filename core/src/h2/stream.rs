//! One stream's state: windows, body accounting, and queued bytes. It owns no timer and no map
//! entry; the connection decides.
//!
//! Most exchanges are a head each way and a small body. State that only the others need is in boxes
//! that the connection reuses, so that a hundred streams fit the L1 cache.

use super::stream_state::{StreamInput, StreamState, step};
use crate::abuse::BodyFrames;
use crate::credit::{Credit, Quota};
use crate::error::Violation;
use crate::exchange::{Pressure, Received, SendClock, Sent, Timed, unwanted_deadline};
use crate::http::Fields;
use crate::http::priority::Priority;
use crate::limits::Timeouts;
use crate::min_rate::MinRate;
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A body on its way out.
#[derive(Debug, Default)]
pub(super) struct H2SendQueue {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    /// Nothing follows what is queued.
    pub(super) end: bool,
    /// Sent behind the body; they carry END_STREAM.
    pub(super) trailers: Option<Box<Fields>>,
    /// `send_room` says 0 until half of the queue is gone.
    pub(super) is_full: bool,
    /// It has one of the turns of a connection without room.
    pub(super) has_turn: bool,
    /// How long bytes wait for the peer.
    pub(super) clock: SendClock,
    /// When they are given up, behind a tunnel that its user has left.
    pub(super) left_until: Option<Instant>,
}

/// A body on its way in.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Our grant to the peer.
    pub(super) credit: Credit,
    /// The count of its frames.
    pub(super) frames: BodyFrames,
    /// How fast it comes.
    pub(super) min_rate: MinRate,
    /// The user has taken some of it.
    pub(super) is_read: bool,
}

/// Memory of bodies that are over. A stream takes a box, not what is in it.
#[derive(Debug, Default)]
pub(super) struct FreeBodies {
    #[expect(clippy::vec_box, reason = "as the type says")]
    pub(super) incoming: Vec<Box<Incoming>>,
    #[expect(clippy::vec_box, reason = "as the type says")]
    pub(super) queues: Vec<Box<H2SendQueue>>,
}

impl H2SendQueue {
    /// Bytes that wait.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }
    /// Whether no byte waits. An end or trailers never wait alone.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }
    pub(super) fn push(&mut self, data: Bytes) {
        if !data.is_empty() {
            self.bytes += data.len();
            self.pieces.push_back(data);
        }
    }
    /// Forgets everything, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        let pieces = std::mem::take(&mut self.pieces);
        *self = Self {
            pieces,
            ..Self::default()
        };
    }
    /// Takes up to `max` bytes of the first piece.
    pub(super) fn take(&mut self, max: usize) -> Option<Bytes> {
        let front = self.pieces.front_mut()?;
        let piece = if front.len() <= max {
            self.pieces.pop_front()?
        } else {
            front.split_to(max)
        };
        self.bytes -= piece.len();
        Some(piece)
    }
}

/// One exchange on the connection.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(super) state: StreamState,
    /// The peer's message.
    pub(super) received: Received,
    /// Our message.
    pub(super) sent: Sent,
    /// The peer's grant to us.
    pub(super) quota: Quota,
    pub(super) priority: Priority,
    pub(super) opened_at: Instant,
    /// There from the start unless the head was the end.
    pub(super) incoming: Option<Box<Incoming>>,
    /// There once a body had to wait.
    pub(super) queue: Option<Box<H2SendQueue>>,
    /// Server: the handler is gone, so received bytes are discarded.
    pub(super) released: bool,
    /// The peer is asked to stop its message once all of ours has gone.
    pub(super) stops: bool,
}

impl Stream {
    /// Moves the state on by an input that was checked before.
    pub(super) fn advance(&mut self, input: StreamInput) {
        match step(self.state, input) {
            Ok(state) => self.state = state,
            Err(violation) => debug_assert!(false, "{input:?} in {:?}: {violation}", self.state),
        }
    }
    /// Server: whether the response is complete, the handler gone, and more of the request to come.
    pub(super) fn is_unwanted(&self) -> bool {
        self.released && self.state == StreamState::HalfClosedLocal
    }
    /// Body bytes that wait to be sent.
    pub(super) fn queued(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.len())
    }
    /// State of a body still to come.
    pub(super) fn incoming(&mut self) -> Option<&mut Incoming> {
        self.incoming.as_deref_mut()
    }
    /// Body bytes that the user holds.
    pub(super) fn unread(&self) -> u64 {
        let incoming = self.incoming.as_ref();
        incoming.map_or(0, |incoming| incoming.credit.unread())
    }
}

impl Timed for Stream {
    #[inline]
    fn sent(&self) -> &Sent {
        &self.sent
    }
    #[inline]
    fn has_request(&self) -> bool {
        self.received.has_request()
    }
    fn queued(&self) -> usize {
        self.queued()
    }
    fn receive_deadline(
        &mut self,
        now: Instant,
        timeouts: &Timeouts,
        pressure: &Pressure,
    ) -> Result<Option<Instant>, Violation> {
        let is_due = self.received.is_peer_due(&self.sent, self.unread());
        let (carried, is_unwanted) = (pressure.carried_in, self.is_unwanted());
        let Some(incoming) = &mut self.incoming else {
            return Ok(None);
        };
        if !self.state.can_recv() {
            return Ok(None);
        }
        if is_unwanted {
            return unwanted_deadline(now, &incoming.min_rate);
        }
        if !is_due {
            // Our user is the one to act.
            incoming.min_rate.restart(now, carried);
        }
        let has_length = self.received.content_left().is_some();
        let is_due = has_length || pressure.is_scarce;
        incoming.min_rate.check(now, timeouts, carried, is_due)
    }
    fn send_clock(&mut self) -> Option<(&mut SendClock, bool)> {
        let is_shut = self.quota.available() == 0;
        let queue = self.queue.as_mut()?;
        Some((&mut queue.clock, is_shut))
    }
    fn left_until(&self) -> Option<Instant> {
        self.queue.as_ref()?.left_until
    }
    fn postpone_receiving(&mut self, by: Duration) {
        if let Some(incoming) = &mut self.incoming {
            incoming.min_rate.postpone(by);
        }
    }
}
