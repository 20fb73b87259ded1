//! The number of bytes that a connection has carried.

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
    /// The counts of all connections that this one is part of, where they are counted together.
    all: Option<Arc<Counts>>,
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
    /// Counts of one connection, whose bytes are counted here too.
    pub(crate) fn child(&self) -> Self {
        Self(Arc::new(Counts {
            all: Some(Arc::clone(&self.0)),
            ..Counts::default()
        }))
    }
    pub(crate) fn add_read(&self, bytes: usize) {
        bump(&self.0.read, bytes);
        if let Some(all) = &self.0.all {
            bump(&all.read, bytes);
        }
    }
    pub(crate) fn add_written(&self, bytes: usize) {
        bump(&self.0.written, bytes);
        if let Some(all) = &self.0.all {
            bump(&all.written, bytes);
        }
    }
}

/// A tunnel may be on another thread than the connections that are counted with it.
fn bump(counter: &AtomicU64, bytes: usize) {
    counter.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Two are equal that count the same connection.
impl PartialEq for Traffic {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Traffic {}
