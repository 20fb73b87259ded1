//! The exchanges on a connection, indexed by slot and by stream id.

use super::super::exchange::Outgoing;
use super::receiver::Receiver;
use crate::body::Body;
use crate::driver::machine::Machine;
use crate::error::{Error, Progress};
use crate::metrics::client::counters::ClientCounts;
use crate::tunnel::datagrams::{DatagramInlet, Datagrams};
use bytes::Bytes;
use http_body::Body as _;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::{Duration, Instant};
use trunkline_core::http::{ResponseHead, StreamId};
use trunkline_core::inspect::{StreamSnapshot, StreamWait};
use trunkline_core::pool::ConnectionId;

/// Exchanges of a connection, the oldest, among which one whose deadline passed is looked for to say why it did not move: each of
/// many that end at once looks at them.
const LATE_STREAMS_MAX: usize = 100;

/// One exchange on the connection.
pub(super) struct ExchangeEntry {
    pub(super) request: Box<Outgoing>,
    /// It goes to a listener, not to a future.
    pub(super) has_listener: bool,
    pub(super) stream: StreamId,
    /// Distinguishes this entry from earlier ones in its slot.
    pub(super) serial: u64,
    pub(super) upload: Upload,
    /// A part of a streaming body was read: it cannot be sent again, unless the body keeps that part.
    pub(super) body_read: bool,
    /// A 1xx came.
    pub(super) interim_seen: bool,
    pub(super) incoming: Incoming,
    /// Its datagrams, if it may have any: our side, and the user's until the answer.
    pub(super) datagrams: Option<(DatagramInlet, Option<Datagrams>)>,
    /// When either direction last moved.
    pub(super) progress_at: Instant,
    /// Dropped behind the last of its body, where that goes on behind the response: its listener waits for that.
    pub(super) unsent: Option<Box<dyn Send>>,
}

/// The state of the request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upload {
    /// Nothing of it was read: it can still be sent elsewhere.
    Untouched,
    /// Held back until the peer asks for it, or until this time (RFC 9110 section 10.1.1).
    Deferred(Instant),
    /// The peer answered without asking for it: it is not sent.
    Declined,
    /// The peer takes no more of it.
    Stopped,
    /// It streams.
    Streaming,
    /// It streams, and its source has no bytes now.
    SourceEmpty,
    /// All of it is with the machine, or there is none.
    Done,
}

/// The state of the response.
pub(super) enum Incoming {
    /// Nothing final came.
    Awaited,
    /// The head came in this turn; perhaps all of the body does too.
    Head(ResponseHead),
    /// The user has the response; its body comes.
    Streaming(Receiver),
    /// All of it came.
    Ended,
}

impl Upload {
    /// How a body starts, and its bytes if all of them are there. Bytes are shared with the
    /// request, so that it can be sent again.
    pub(super) fn of(body: &Body) -> (Self, Option<Bytes>) {
        match body.whole() {
            Some(bytes) => (Self::Done, Some(bytes)),
            None if body.is_end_stream() => (Self::Done, None),
            None => (Self::Untouched, None),
        }
    }
    /// Whether the body can be read from.
    pub(super) fn flows(self) -> bool {
        matches!(self, Self::Untouched | Self::Streaming | Self::SourceEmpty)
    }
}

impl ExchangeEntry {
    pub(super) fn is_unanswered(&self) -> bool {
        matches!(self.incoming, Incoming::Awaited | Incoming::Head(_))
    }
    /// Whether both directions are complete, or the response is and the peer does not want the body.
    pub(super) fn is_over(&self) -> bool {
        let ended = matches!(self.incoming, Incoming::Ended);
        let is_sent = matches!(
            self.upload,
            Upload::Done | Upload::Declined | Upload::Stopped
        );
        ended && is_sent
    }
    /// Lets its listener wait for the rest of the body, whose response is about to end.
    pub(super) fn await_unsent(&mut self) {
        self.unsent = match (&mut self.request.listener, &mut self.incoming) {
            (Some(listener), _) => listener.await_unsent(),
            (None, Incoming::Streaming(receiver)) => receiver.await_unsent(),
            _ => None,
        };
    }
    /// Whether bytes of its body are with the machine, or were.
    pub(super) fn has_content(&self) -> bool {
        self.body_read || self.request.body.is_whole() && !self.request.leaves_http
    }
    /// Whether the request could be sent once more without reading a body twice, and nothing of a
    /// response came.
    pub(super) fn is_replayable(&self) -> bool {
        let has_body = !self.body_read || self.request.body.can_rewind();
        matches!(self.incoming, Incoming::Awaited) && !self.interim_seen && has_body
    }
    /// Fails the exchange, whichever part of it the user waits for.
    pub(super) fn fail(mut self, on: ConnectionId, counts: &ClientCounts, error: Error) {
        counts.failures.count(error.kind());
        self.note_end(on, &error);
        let error = counts.timelines.note(self.request.annotate(error));
        match self.incoming {
            Incoming::Awaited | Incoming::Head(_) => {
                self.request.complete_failed(error);
            }
            Incoming::Streaming(receiver) => {
                if !self.request.exchange.is_abandoned() {
                    receiver.fail(error);
                }
            }
            Incoming::Ended => {}
        }
    }
    /// Notes the reason why the exchange does not move: its deadline has passed.
    pub(super) fn note_wait(&mut self, now: Instant, machine: &Machine) {
        let snapshot = machine.inspect(now, LATE_STREAMS_MAX);
        let found = snapshot.streams.iter().find(|it| it.id == self.stream);
        self.request.held_by = found.and_then(StreamSnapshot::wait);
    }
    /// Notes that the request ended on this connection with `error`.
    pub(super) fn note_end(&mut self, on: ConnectionId, error: &Error) {
        // A whole body may be with the machine, which cannot send it.
        let waits = self.request.held_by.is_some_and(StreamWait::is_of_bytes);
        let is_sent = matches!(self.upload, Upload::Done) && !waits;
        let progress = match self.incoming {
            Incoming::Awaited | Incoming::Head(_) if is_sent => Progress::AwaitingResponse,
            Incoming::Awaited | Incoming::Head(_) => Progress::Sending,
            Incoming::Streaming(_) => Progress::ReceivingBody,
            Incoming::Ended => Progress::Answered,
        };
        let progress = Some((progress, self.progress_at));
        self.request.note_end(on, error.kind(), progress);
    }
    /// When it has taken too long, unless something moves before.
    pub(super) fn due(&self) -> Option<Instant> {
        let patience = &self.request.patience;
        let phase = match self.incoming {
            Incoming::Awaited | Incoming::Head(_) => patience.headers,
            Incoming::Streaming(_) => patience.body,
            // The request's body goes on: its peer has to take it.
            Incoming::Ended => patience.headers,
        };
        let phase = phase.map(|patience| self.progress_at + patience);
        let deferred = match self.upload {
            Upload::Deferred(until) => Some(until),
            _ => None,
        };
        let due = phase.into_iter().chain(self.request.total_until);
        due.chain(deferred).min()
    }
    /// Bytes that lie unread are the reader's delay, not the peer's.
    pub(super) fn note_slow_reader(&mut self, now: Instant) {
        if let Incoming::Streaming(receiver) = &self.incoming
            && receiver.has_unread()
        {
            self.progress_at = now;
        }
    }
    /// A source that has no bytes is the user's delay: the peer cannot answer, or take, what has not come.
    pub(super) fn note_slow_source(&mut self, now: Instant) {
        if !matches!(self.incoming, Incoming::Streaming(_)) && self.upload == Upload::SourceEmpty {
            self.progress_at = now;
        }
    }
    /// The phase whose deadline has passed, with the option that bounds it and its value, as text for the error.
    pub(super) fn lateness(&self, now: Instant) -> String {
        let patience = &self.request.patience;
        let (missing, bound, phase) = match self.incoming {
            _ if self.request.total_until.is_some_and(|at| at <= now) => {
                return "the request took longer than its total timeout".to_owned();
            }
            Incoming::Streaming(_) => ("no piece of the body", patience.body, "body"),
            Incoming::Ended => (
                "no room for the request's body",
                patience.headers,
                "headers",
            ),
            _ => ("no response", patience.headers, "headers"),
        };
        let bound = bound.unwrap_or_default();
        format!(
            "{missing} came within the {phase} timeout of {bound:?} (in Node.js the option \
             {phase}Timeout, in Rust ClientTimeouts::{phase})"
        )
    }
}

/// Entries by slot; slots are used again, the lowest memory first.
#[derive(Default)]
pub(super) struct EntrySlots {
    entries: Vec<Option<ExchangeEntry>>,
    free: Vec<u32>,
    by_stream: HashMap<u64, u32, BuildHasherDefault<StreamHasher>>,
    serial: u64,
    /// Bodies of requests that are over, in the order in which they ended.
    pub(super) unflushed: Vec<UnflushedBody>,
    /// Bodies whose responses have ended are not sent any more.
    pub(super) leaves_bodies: bool,
}

/// The body of a request that is over, whose last bytes have not left. Its owner may let the process end when it is dropped.
pub(super) struct UnflushedBody {
    pub(super) stream: StreamId,
    /// How long the peer may take none of it.
    pub(super) patience: Duration,
    pub(super) until: Instant,
    /// Bytes that were here when that time began.
    pub(super) queued: usize,
    /// Dropped with this.
    _waiting: (Body, Option<Box<dyn Send>>),
}

impl EntrySlots {
    /// Keeps the body of an exchange that is over.
    pub(super) fn keep_unflushed(
        &mut self,
        entry: ExchangeEntry,
        (now, patience): (Instant, Duration),
        queued: usize,
    ) {
        let (stream, mut request) = (entry.stream, entry.request);
        let body = std::mem::replace(&mut request.body, Body::empty());
        self.unflushed.push(UnflushedBody {
            stream,
            patience,
            until: now + patience,
            queued,
            _waiting: (body, entry.unsent),
        });
    }
    /// The slot that `insert` will fill next.
    pub(super) fn vacant(&self) -> u32 {
        let next = self.entries.len() as u32;
        self.free.last().copied().unwrap_or(next)
    }
    /// Fills the vacant slot; returns the entry's serial number.
    pub(super) fn insert(&mut self, slot: u32, mut entry: ExchangeEntry) -> u64 {
        self.serial += 1;
        entry.serial = self.serial;
        self.by_stream.insert(entry.stream.0, slot);
        if self.free.pop().is_none() {
            self.entries.push(None);
        }
        self.entries[slot as usize] = Some(entry);
        self.serial
    }
    pub(super) fn remove(&mut self, slot: u32) -> Option<ExchangeEntry> {
        let entry = self.entries.get_mut(slot as usize)?.take()?;
        self.by_stream.remove(&entry.stream.0);
        self.free.push(slot);
        Some(entry)
    }
    pub(super) fn get(&self, slot: u32) -> Option<&ExchangeEntry> {
        self.entries.get(slot as usize)?.as_ref()
    }
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut ExchangeEntry> {
        self.entries.get_mut(slot as usize)?.as_mut()
    }
    pub(super) fn of_stream(&self, stream: StreamId) -> Option<u32> {
        self.by_stream.get(&stream.0).copied()
    }
    pub(super) fn len(&self) -> usize {
        self.by_stream.len()
    }
    /// Gives memory back while there is no exchange. Serial numbers go on: a late wake or deadline
    /// must not take a new entry for the old one.
    pub(super) fn release(&mut self) {
        if self.len() == 0 {
            *self = Self {
                serial: self.serial,
                unflushed: std::mem::take(&mut self.unflushed),
                ..Self::default()
            };
        }
    }
    /// How many slots there are, vacant ones included.
    pub(super) fn slots(&self) -> u32 {
        self.entries.len() as u32
    }
}

/// Hashes stream ids. We choose them and they grow by a fixed step, so a multiplication spreads
/// them well and a peer cannot force collisions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamHasher(u64);

impl Hasher for StreamHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        // The golden ratio in 64 bits (Knuth's multiplicative hashing).
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
