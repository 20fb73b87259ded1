//! How many bytes a connection has carried.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of one connection so far, which grow while it lives: of HTTP where the connection is a byte stream (without
/// the records of TLS), of UDP payloads where it is QUIC. May be read on any thread, also after the connection's end.
#[derive(Clone, Debug, Default)]
pub struct Traffic(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    read: AtomicU64,
    written: AtomicU64,
}

impl Traffic {
    /// Bytes that came from the peer.
    pub fn bytes_read(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }
    /// Bytes that were handed to the transport: TLS may still hold some of them.
    pub fn bytes_written(&self) -> u64 {
        self.0.written.load(Ordering::Relaxed)
    }
    /// Sets both; for a transport that counts by itself.
    pub(crate) fn set(&self, read: u64, written: u64) {
        self.0.read.store(read, Ordering::Relaxed);
        self.0.written.store(written, Ordering::Relaxed);
    }
    pub(crate) fn add_read(&self, bytes: usize) {
        self.0.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }
    pub(crate) fn add_written(&self, bytes: usize) {
        self.0.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Two are equal that count the same connection.
impl PartialEq for Traffic {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Traffic {}
