//! The state of one request stream. It owns no timer and no map entry; the connection decides.

use super::frame::FrameReader;
use crate::abuse::BodyFrames;
use crate::error::Violation;
use crate::exchange::{Pressure, Received, SendClock, Sent, Timed, unwanted_deadline};
use crate::http::priority::Priority;
use crate::limits::Timeouts;
use crate::min_rate::MinRate;
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Bytes on their way out.
#[derive(Debug)]
pub(super) struct OutPiece {
    pub(super) bytes: Bytes,
    /// Frame headers are in it; otherwise it is body without them.
    pub(super) framed: bool,
}

/// Bytes that wait on one stream.
#[derive(Debug, Default)]
pub(super) struct H3SendQueue {
    pub(super) pieces: VecDeque<OutPiece>,
    bytes: usize,
    /// `send_room` says 0 until half of the queue is gone.
    pub(super) is_full: bool,
    /// It has one of the turns of a connection without room.
    pub(super) has_turn: bool,
    /// How long bytes wait for the peer.
    pub(super) clock: SendClock,
}

impl H3SendQueue {
    /// Bytes that wait.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
    pub(super) fn push(&mut self, bytes: Bytes, framed: bool) {
        if !bytes.is_empty() {
            self.bytes += bytes.len();
            self.pieces.push_back(OutPiece { bytes, framed });
        }
    }
    /// Bytes that came back go out first.
    pub(super) fn put_back(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.bytes += bytes.len();
            let framed = true;
            self.pieces.push_front(OutPiece { bytes, framed });
        }
    }
    /// Takes up to `max` bytes of the first piece.
    pub(super) fn take(&mut self, max: usize) -> Option<Bytes> {
        let front = self.pieces.front_mut()?;
        let taken = if front.bytes.len() <= max {
            self.pieces.pop_front()?.bytes
        } else {
            front.bytes.split_to(max)
        };
        self.bytes -= taken.len();
        Some(taken)
    }
    /// Body bytes at the front in pieces below `piece_max`, up to `max`.
    pub(super) fn small_body(&self, piece_max: usize, max: usize) -> usize {
        let small = self.pieces.iter();
        let small = small.take_while(|piece| !piece.framed && piece.bytes.len() < piece_max);
        small.map(|piece| piece.bytes.len()).sum::<usize>().min(max)
    }
    /// Forgets everything, keeps the memory.
    pub(super) fn clear(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        *self = Self {
            pieces,
            ..Self::default()
        };
    }
}

/// A section that waits for the QPACK table, and what came behind it.
#[derive(Debug, Default)]
pub(super) struct BlockedInput {
    pub(super) behind: Vec<u8>,
    pub(super) fin: bool,
}

/// One exchange on the connection.
#[derive(Debug)]
pub(crate) struct Stream {
    // The peer's message.
    pub(super) received: Received,
    pub(super) reader: FrameReader,
    /// HEADERS in pieces.
    pub(super) section: Vec<u8>,
    pub(super) blocked_input: Option<Box<BlockedInput>>,
    /// Body bytes that came for the user.
    pub(super) body_bytes: u64,
    /// Body bytes that the user holds.
    pub(super) unread: u64,
    /// The count of its frames.
    pub(super) frames: BodyFrames,
    /// Bytes beyond the transport's window that are read ahead, as the user requested.
    pub(super) read_ahead: u32,
    /// The user holds a window full: nothing is read until it is half empty.
    pub(super) is_full: bool,
    /// It was full, and the transport has held more for it ever since: its reader is what it
    /// waits for, and not the peer.
    pub(super) is_behind: bool,
    /// Discarded body bytes so far, if the body is discarded.
    pub(super) discarding: Option<u64>,
    /// How fast it comes.
    pub(super) min_rate: MinRate,

    // Our message.
    pub(super) sent: Sent,
    /// Body bytes that were framed.
    pub(super) sent_bytes: u64,
    /// Waiting bytes; allocated with the first.
    pub(super) queue: Option<Box<H3SendQueue>>,
    /// The transport takes nothing now.
    pub(super) blocked: bool,
    /// The end is in a write that was asked for.
    pub(super) end_queued: bool,
    /// The end is with the transport, or a reset.
    pub(super) is_sent: bool,
    /// The peer has the end, or wants no more of the message.
    pub(super) is_acknowledged: bool,

    pub(super) opened_at: Instant,
    /// The handler is gone, or the user of a tunnel.
    pub(super) released: bool,
    /// Its user has left the tunnel that it is: when it is over at the latest.
    pub(super) left_until: Option<Instant>,
    /// The client's priority, if it sent one.
    pub(super) priority: Option<Priority>,
}

impl Stream {
    pub(super) fn new(received: Received, sent: Sent, now: Instant) -> Self {
        Self {
            received,
            reader: FrameReader::default(),
            section: Vec::new(),
            blocked_input: None,
            body_bytes: 0,
            unread: 0,
            frames: BodyFrames::default(),
            read_ahead: 0,
            is_full: false,
            is_behind: false,
            discarding: None,
            min_rate: MinRate::new(now, 0),
            sent,
            sent_bytes: 0,
            queue: None,
            blocked: false,
            end_queued: false,
            is_sent: false,
            is_acknowledged: false,
            opened_at: now,
            released: false,
            left_until: None,
            priority: None,
        }
    }
    /// Whether both sides are over.
    pub(super) fn is_over(&self) -> bool {
        self.received.is_ended() && self.is_sent
    }
    /// Body bytes that the user may hold. `least`: of any stream.
    pub(super) fn ahead(&self, least: u64) -> u64 {
        least.max(u64::from(self.read_ahead))
    }
    /// Bytes that wait to be sent.
    pub(super) fn queued(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.len())
    }
    /// Whether bytes or the end wait.
    pub(super) fn wants_to_send(&self) -> bool {
        let waits = self.queue.as_ref().is_some_and(|queue| !queue.is_empty());
        waits || self.sent.is_ended() && !self.end_queued && !self.is_sent
    }
    /// Whether a write need not stand behind another of its stream.
    pub(super) fn is_direct(&self) -> bool {
        !self.blocked && self.queue.as_ref().is_none_or(|queue| queue.is_empty())
    }
    /// Whether the peer, and not our user, is the one to act.
    pub(super) fn awaits_peer(&self) -> bool {
        self.received.is_peer_due(&self.sent, self.unread) || self.discarding.is_some()
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
        let carried = pressure.carried_in;
        if !self.awaits_peer() {
            // Our user is the one to act.
            self.min_rate.restart(now, carried);
        }
        if self.received.is_ended() {
            return Ok(None);
        }
        if self.received.awaits_head() {
            let due = timeouts.head.map(|head| self.min_rate.received_at() + head);
            return match due.is_some_and(|at| at <= now) {
                true => Err(Violation::BodyTimeout),
                false => Ok(due),
            };
        }
        if self.left_until.is_some() {
            // Its bytes are the peer's to read first.
            return Ok(None);
        }
        if self.discarding.is_some() {
            return unwanted_deadline(now, &self.min_rate);
        }
        let has_length = self.received.content_left().is_some();
        let is_due = has_length || pressure.is_scarce;
        self.min_rate.check(now, timeouts, carried, is_due)
    }
    fn send_clock(&mut self) -> Option<(&mut SendClock, bool)> {
        let queue = self.queue.as_mut()?;
        Some((&mut queue.clock, self.blocked))
    }
    fn left_until(&self) -> Option<Instant> {
        self.left_until
    }
    fn postpone_receiving(&mut self, by: Duration) {
        self.min_rate.postpone(by);
    }
}
