//! Memory in which datagrams arrive.

use super::BUFFER_BYTES;
use bytes::BytesMut;
use quinn_udp::BATCH_SIZE;
use std::io::IoSliceMut;

/// From here on a receive is handed on in the buffer that it came in, and the copy saved. A
/// datagram that is kept holds all of its buffer, so less than half of one would pin more than it is.
const HANDED_ON_BYTES_MIN: usize = BUFFER_BYTES / 2;

/// The buffers of one batch. All sockets of a thread share them, because each is emptied at once.
pub(super) struct Arrivals {
    /// Each is whole, except for what was handed on in the last batch.
    buffers: [BytesMut; BATCH_SIZE],
}

impl Arrivals {
    pub(super) fn new() -> Self {
        // Memory that no datagram came in is not touched.
        Self {
            buffers: std::array::from_fn(|_| BytesMut::zeroed(BUFFER_BYTES)),
        }
    }
    /// The buffers, all whole.
    pub(super) fn slices(&mut self) -> [IoSliceMut<'_>; BATCH_SIZE] {
        let mut buffers = self.buffers.iter_mut();
        std::array::from_fn(|_| {
            let whole = buffers.next().map(|buffer| {
                restore(buffer);
                &mut buffer[..]
            });
            IoSliceMut::new(whole.unwrap_or_default())
        })
    }
    /// The `length` bytes that came in the buffer of this number; few of them are copied into `arena`.
    pub(super) fn take(&mut self, number: usize, length: usize, arena: &mut BytesMut) -> BytesMut {
        let Some(buffer) = self.buffers.get_mut(number) else {
            return BytesMut::new();
        };
        if length >= HANDED_ON_BYTES_MIN {
            return buffer.split_to(length);
        }
        let received = &buffer[..length];
        if length > super::ARENA_BYTES_MAX {
            return BytesMut::from(received);
        }
        arena.extend_from_slice(received);
        arena.split()
    }
}

/// Makes a buffer whole. The datagrams that were handed on in it are mostly gone by now: their bytes
/// are read before the next batch is.
fn restore(buffer: &mut BytesMut) {
    if buffer.len() == BUFFER_BYTES {
        return;
    }
    buffer.clear();
    if !buffer.try_reclaim(BUFFER_BYTES) {
        *buffer = BytesMut::zeroed(BUFFER_BYTES);
        return;
    }
    // SAFETY: the capacity suffices, and the memory is that of `BytesMut::zeroed` above or in `new`:
    // `try_reclaim` never allocates other, and bytes that were initialised stay so.
    unsafe { buffer.set_len(BUFFER_BYTES) };
}

#[cfg(test)]
#[path = "arrivals_test.rs"]
mod arrivals_test;
