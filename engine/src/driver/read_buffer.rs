//! One read buffer per thread, which a connection borrows for one read, so that idle connections
//! own none.

use std::cell::Cell;

/// Bytes of the buffer. One read takes at most this much: four full TLS records and the start of
/// a fifth, or what a 64 KiB window lets a peer send.
pub(crate) const READ_BUFFER_BYTES: usize = 80 * 1024;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Lends this thread's buffer. A nested borrow gets a fresh one.
pub(crate) fn with_read_buffer<R>(read: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut buffer = BUFFER.take();
    if buffer.is_empty() {
        buffer.resize(READ_BUFFER_BYTES, 0);
    }
    let result = read(&mut buffer);
    BUFFER.set(buffer);
    result
}
