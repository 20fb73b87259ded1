//! Byte-level primitives: a checked reading [`Cursor`], the integers and headers of HTTP/3, and the
//! [`Outbox`] of bytes that wait to go out.

mod type_length;
pub mod varint;

pub use type_length::TypeLength;

use bytes::Bytes;
use std::collections::VecDeque;
use std::io::IoSlice;

/// Bodies of this size and more are queued by reference; smaller ones are copied, because a copy
/// of a few KiB costs less than another slice in the system call (tens of ns against hundreds).
pub const BY_REFERENCE_BYTES_MIN: usize = 16 * 1024;

/// Sent bytes that may stand in the buffer before what waits is moved over them.
const SENT_BYTES_MAX: usize = 64 * 1024;

/// Waiting bytes count as few when this many times as many were sent.
const LITTLE: usize = 8;

/// Reads integers and slices from a buffer; every read says whether there was enough.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Starts at the front of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
    /// The unread bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// One byte.
    pub fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }
    /// Two bytes, big-endian.
    pub fn u16(&mut self) -> Option<u16> {
        let (head, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u16::from_be_bytes(*head))
    }
    /// Four bytes, big-endian.
    pub fn u32(&mut self) -> Option<u32> {
        let (head, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_be_bytes(*head))
    }
    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }
}

/// Bytes waiting to go out: one contiguous buffer, with large bodies spliced in by reference.
///
/// Invariant: `large` is ordered by `at`, and every `at` lies in `sent..=buffer.len()`.
#[derive(Debug, Default)]
pub struct Outbox {
    buffer: Vec<u8>,
    /// How much of `buffer` is sent.
    sent: usize,
    /// Nothing before the first: most answers are small.
    #[allow(
        clippy::box_collection,
        reason = "a connection that idles pays one word for it"
    )]
    large: Option<Box<VecDeque<Large>>>,
    large_bytes: usize,
    written: u64,
}

#[derive(Debug)]
struct Large {
    /// The place in `buffer` before which the bytes go.
    at: usize,
    bytes: Bytes,
}

impl Outbox {
    /// An empty outbox; it grows on the first write and keeps its capacity.
    pub fn new() -> Self {
        Self::default()
    }
    /// Bytes waiting, large bodies included.
    pub fn len(&self) -> usize {
        self.buffer.len() - self.sent + self.large_bytes
    }
    /// Bytes written since the start, and those of [`note_drained`](Self::note_drained): distinguishes
    /// progress from a stall.
    pub fn written(&self) -> u64 {
        self.written
    }
    /// The peer took `bytes` of those that were written before, though the transport's own buffer
    /// is too full to take more: progress too.
    pub fn note_drained(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The buffer to append to. Only append: what stands there may be half sent.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }
    /// Queues body bytes behind what stands: a copy below [`BY_REFERENCE_BYTES_MIN`], else a
    /// reference.
    pub fn push_body(&mut self, bytes: Bytes) {
        if bytes.len() < BY_REFERENCE_BYTES_MIN {
            self.buffer.extend_from_slice(&bytes);
        } else {
            self.large_bytes += bytes.len();
            let at = self.buffer.len();
            let large = self.large.get_or_insert_default();
            large.push_back(Large { at, bytes });
        }
    }
    /// Moves everything that waits in `other` behind what stands here.
    pub fn append(&mut self, other: &mut Outbox) {
        let mut from = other.sent;
        for Large { at, bytes } in other.large.take().into_iter().flat_map(|large| *large) {
            self.buffer.extend_from_slice(&other.buffer[from..at]);
            from = at;
            self.large_bytes += bytes.len();
            let at = self.buffer.len();
            let large = self.large.get_or_insert_default();
            large.push_back(Large { at, bytes });
        }
        self.buffer.extend_from_slice(&other.buffer[from..]);
        *other = Self::default();
    }
    /// The waiting bytes, if they are one piece.
    pub fn whole(&self) -> Option<&[u8]> {
        (self.large_bytes == 0).then(|| &self.buffer[self.sent..])
    }
    /// The pieces that wait, in order.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let large = self.large.iter().flat_map(|large| large.iter());
        let mut from = self.sent;
        let before = large.flat_map(move |large| {
            let plain = &self.buffer[std::mem::replace(&mut from, large.at)..large.at];
            [plain, &large.bytes]
        });
        let last = self.large.as_ref().and_then(|large| large.back());
        let rest = last.map_or(self.sent, |large| large.at);
        before.chain([&self.buffer[rest..]])
    }
    /// Fills `slices` with what waits, in order, at most `room` bytes; returns how many were filled.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>], mut room: usize) -> usize {
        let mut filled = 0;
        let mut from = self.sent;
        let mut put = |slice: &'a [u8]| {
            let slice = &slice[..slice.len().min(room)];
            if slice.is_empty() {
                return room > 0;
            }
            let Some(slot) = slices.get_mut(filled) else {
                return false;
            };
            *slot = IoSlice::new(slice);
            filled += 1;
            room -= slice.len();
            true
        };
        for large in self.large.iter().flat_map(|large| large.iter()) {
            if !put(&self.buffer[from..large.at]) || !put(&large.bytes) {
                return filled;
            }
            from = large.at;
        }
        put(&self.buffer[from..]);
        filled
    }
    /// Forgets the first `len` bytes: they are written. `len` is at most [`len`](Self::len).
    pub fn advance(&mut self, mut len: usize) {
        debug_assert!(len <= self.len());
        self.written += len as u64;
        while len > 0 {
            let queue = self.large.as_mut();
            let mut large = queue.and_then(|large| large.front_mut());
            let until = large.as_ref().map_or(self.buffer.len(), |large| large.at);
            let plain = len.min(until - self.sent);
            self.sent += plain;
            len -= plain;
            let Some(large) = large.as_mut() else {
                break;
            };
            if self.sent < large.at {
                break;
            }
            let cut = len.min(large.bytes.len());
            bytes::Buf::advance(&mut large.bytes, cut);
            self.large_bytes -= cut;
            len -= cut;
            if large.bytes.is_empty()
                && let Some(large) = &mut self.large
            {
                large.pop_front();
            }
        }
        if self.sent == self.buffer.len() && self.large_bytes == 0 {
            self.buffer.clear();
            self.sent = 0;
        } else {
            let left = self.buffer.len() - self.sent;
            // A little that is left moves at once: what comes behind it then stands where memory is
            // near.
            if left <= self.sent / LITTLE || self.sent >= SENT_BYTES_MAX && left <= self.sent {
                self.compact();
            }
        }
    }
    /// Moves what waits to the front: an outbox that is never quite empty must not keep all that
    /// it ever sent. At most as many bytes move as were sent since the last time.
    fn compact(&mut self) {
        self.buffer.drain(..self.sent);
        for large in self.large.iter_mut().flat_map(|large| large.iter_mut()) {
            large.at -= self.sent;
        }
        self.sent = 0;
    }
    /// Gives the memory of an idle, empty outbox back (an idle connection owns no buffer).
    pub fn release(&mut self) {
        if self.is_empty() {
            *self = Self {
                written: self.written,
                ..Self::default()
            };
        }
    }
}

#[cfg(test)]
#[path = "wire_test.rs"]
mod wire_test;
