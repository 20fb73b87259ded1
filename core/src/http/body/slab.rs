//! Copies received DATA into slabs, so that memory follows the bytes and not the frames
//! (RUSTSEC-2026-0258) and the read buffer is never pinned. Pieces of one stream become one event until
//! the owner asks for events.

use crate::http::{Event, StreamId};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// The slab for bodies in small frames: what it wastes is less than what it holds.
const SLAB_BYTES: usize = 16 * 1024;
/// The slab for bulk: fewer allocations and events, and pieces that are large enough to go on to
/// JavaScript without another copy.
const BULK_SLAB_BYTES: usize = 64 * 1024;
/// Bytes of one frame, or of one stream without an event yet, from which a body is bulk.
const BULK_BYTES_MIN: usize = 8 * 1024;

/// The slab that is being filled, and whose bytes stand in it.
#[derive(Debug, Default)]
pub(crate) struct BodySlab {
    slab: BytesMut,
    /// The stream of the bytes in `slab` without an event yet.
    open: Option<StreamId>,
}

impl BodySlab {
    /// Appends body bytes of `stream`.
    pub(crate) fn push(&mut self, stream: StreamId, body: &[u8], events: &mut VecDeque<Event>) {
        if self.open != Some(stream) {
            self.close(events);
        }
        if self.slab.capacity() - self.slab.len() < body.len() {
            // Over QUIC a frame is at most a packet: there a slab that one stream filled tells.
            let filled = self.slab.len();
            self.close(events);
            let bulk = filled.max(body.len()) >= BULK_BYTES_MIN;
            let room = if bulk { BULK_SLAB_BYTES } else { SLAB_BYTES };
            self.slab.reserve(room.max(body.len()));
        }
        self.slab.extend_from_slice(body);
        self.open = Some(stream);
    }
    /// Makes an event of the bytes that have none.
    pub(crate) fn close(&mut self, events: &mut VecDeque<Event>) {
        if let Some(stream) = self.open.take() {
            events.push_back(received(stream, self.slab.split().freeze(), false));
        }
    }
    /// The body of `stream` is complete.
    pub(crate) fn end(&mut self, stream: StreamId, events: &mut VecDeque<Event>) {
        if self.open != Some(stream) {
            self.close(events);
        }
        let data = match self.open.take() {
            Some(_) => self.slab.split().freeze(),
            None => Bytes::new(),
        };
        events.push_back(received(stream, data, true));
    }
    /// Gives the memory back.
    pub(crate) fn release(&mut self) {
        if self.open.is_none() {
            self.slab = BytesMut::new();
        }
    }
}

fn received(stream: StreamId, data: Bytes, end: bool) -> Event {
    Event::BodyReceived { stream, data, end }
}

#[cfg(test)]
#[path = "slab_test.rs"]
mod slab_test;
