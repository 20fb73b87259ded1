//! The bytes that JavaScript streams have given and not taken, by the number of the stream.
//!
//! Each direction has a window of bytes that the other side has not taken, so that a stream holds bounded
//! memory: JavaScript stops reading its `Duplex` at [`STREAM_UNREAD_BYTES_MAX`], and the engine writes nothing
//! more at [`OUTBOUND_BYTES_MAX`] until the `Duplex` has called back.

use crate::channel::codes::{STREAM_UNREAD_BYTES_MAX, completion};
use crate::channel::lock;
use crate::channel::ring::Entry;
use bytes::{Buf, Bytes};
use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use tokio::io::ReadBuf;

/// Bytes for a `Duplex` that it has not taken. The connection's own outbox holds what is more, which has
/// this bound too.
pub(crate) const OUTBOUND_BYTES_MAX: usize = 256 * 1024;
/// Bytes taken of which JavaScript learns in one completion: a quarter of the window, so that it never
/// waits for an engine that reads.
const TAKEN_BYTES_MIN: usize = STREAM_UNREAD_BYTES_MAX / 4;

/// The streams of one environment, by their numbers.
#[derive(Default)]
pub(crate) struct Streams {
    open: Mutex<HashMap<u32, Arc<Mutex<StreamState>>>>,
    /// A `mark` was read, and the engine has not rested since.
    marked: AtomicBool,
}

impl Streams {
    /// Enters the stream that JavaScript has given this number.
    pub(crate) fn open(&self, number: u32) -> Arc<Mutex<StreamState>> {
        let state = Arc::<Mutex<StreamState>>::default();
        lock(&self.open).insert(number, Arc::clone(&state));
        state
    }
    /// Removes a stream that the engine has dropped.
    pub(crate) fn remove(&self, number: u32) {
        lock(&self.open).remove(&number);
    }
    fn get(&self, number: u32) -> Option<Arc<Mutex<StreamState>>> {
        lock(&self.open).get(&number).cloned()
    }
    /// A `mark` was read.
    pub(crate) fn mark(&self) {
        self.marked.store(true, Ordering::Relaxed);
    }
    /// The completion that is due when the engine comes to rest.
    pub(crate) fn rested(&self) -> Option<Entry> {
        let marked = self.marked.swap(false, Ordering::Relaxed);
        marked.then(|| completion::rested(0))
    }
    /// Bytes of the stream have come.
    pub(crate) fn push(&self, number: u32, bytes: Bytes) {
        self.change(number, |state| {
            state.inbound.push_back(bytes);
            state.reader.take()
        });
    }
    /// No more come.
    pub(crate) fn end(&self, number: u32, end: End) {
        self.change(number, |state| {
            // Bytes that came before a failure are read first, and an end in order stays one.
            state.end.get_or_insert(end);
            if end == End::Failed {
                state.refuses = true;
                wake(state.writer.take());
            }
            state.reader.take()
        });
    }
    /// The stream has taken bytes.
    pub(crate) fn take(&self, number: u32, bytes: usize) {
        self.change(number, |state| {
            state.outbound = state.outbound.saturating_sub(bytes);
            state.writer.take()
        });
    }
    fn change(&self, number: u32, change: impl FnOnce(&mut StreamState) -> Option<Waker>) {
        // A stream that the engine has dropped needs no wait.
        if let Some(state) = self.get(number) {
            let waker = change(&mut lock(&state));
            wake(waker);
        }
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// How the bytes of a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    InOrder,
    Failed,
}

/// The bytes of one stream on their way, and the tasks that wait for some or for room.
#[derive(Default)]
pub(crate) struct StreamState {
    inbound: VecDeque<Bytes>,
    pub(crate) end: Option<End>,
    /// It takes no bytes any more.
    pub(crate) refuses: bool,
    /// Bytes read since JavaScript learned of some.
    taken: usize,
    /// Bytes that the stream has not taken.
    outbound: usize,
    pub(crate) reader: Option<Waker>,
    pub(crate) writer: Option<Waker>,
}

impl StreamState {
    /// Moves bytes that have come into `buffer`; false: there are none.
    pub(crate) fn read(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let before = buffer.remaining();
        while buffer.remaining() > 0
            && let Some(first) = self.inbound.front_mut()
        {
            let length = first.len().min(buffer.remaining());
            buffer.put_slice(&first[..length]);
            first.advance(length);
            if first.is_empty() {
                self.inbound.pop_front();
            }
        }
        let read = before - buffer.remaining();
        self.taken += read;
        read > 0
    }
    /// The bytes read that JavaScript is to learn of now.
    pub(crate) fn due(&mut self) -> Option<usize> {
        (self.taken >= TAKEN_BYTES_MIN).then(|| mem::take(&mut self.taken))
    }
    /// How many of `wanted` bytes may be written now, and are taken for written; `None`: none.
    pub(crate) fn reserve(&mut self, wanted: usize) -> Option<usize> {
        let room = OUTBOUND_BYTES_MAX.saturating_sub(self.outbound).min(wanted);
        self.outbound += room;
        (room > 0).then_some(room)
    }
}

#[cfg(test)]
#[path = "stream_table_test.rs"]
mod stream_table_test;
