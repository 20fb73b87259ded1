//! Remembers servers' SETTINGS beside their session tickets, because early data is sent under them
//! (RFC 9114 section 7.2.4.2), and counts the outcomes of early data.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use trunkline_core::h3::settings::Settings;

/// Servers remembered; more than whose tickets are kept.
const SERVERS_MAX: usize = 256;

/// A server as its tickets are kept: the name that its certificate has, and its port.
type ServerKey = (Box<str>, u16);

/// The remembered state of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) settings: Settings,
    /// How far away it was.
    pub(crate) round_trip: Duration,
}

/// The memory of one client.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlyMemory(Arc<Memory>);

#[derive(Debug, Default)]
struct Memory {
    servers: Mutex<BTreeMap<ServerKey, Remembered>>,
    counts: EarlyCounts,
}

/// Requests that went out with a handshake, and what became of them.
#[derive(Debug, Default)]
pub(crate) struct EarlyCounts {
    pub(crate) sent: AtomicU64,
    /// The server took no early data.
    pub(crate) rejected: AtomicU64,
    /// The server took it, and answered 425.
    pub(crate) too_early: AtomicU64,
    /// Handshakes without an answer.
    pub(crate) unanswered: AtomicU64,
}

/// One connection's place in it.
#[derive(Clone, Debug)]
pub(crate) struct EarlySlot {
    memory: EarlyMemory,
    server: ServerKey,
}

impl EarlyMemory {
    /// The place of a connection to a server.
    pub(crate) fn slot(&self, name: &str, port: u16) -> EarlySlot {
        EarlySlot {
            memory: self.clone(),
            server: (name.into(), port),
        }
    }
    pub(crate) fn counts(&self) -> &EarlyCounts {
        &self.0.counts
    }
}

impl EarlySlot {
    /// Takes the remembered settings. They are removed, so that after failed early data the next
    /// connection starts without.
    pub(crate) fn take(&self) -> Option<Remembered> {
        self.lock().remove(&self.server)
    }
    /// The server has said `settings`, from so far away.
    pub(crate) fn note(&self, settings: Settings, round_trip: Duration) {
        let mut servers = self.lock();
        if servers.len() >= SERVERS_MAX && !servers.contains_key(&self.server) {
            // Whichever: it costs that server one round trip.
            servers.pop_first();
        }
        let remembered = Remembered {
            settings,
            round_trip,
        };
        servers.insert(self.server.clone(), remembered);
    }
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ServerKey, Remembered>> {
        // No code panics while it holds the lock.
        let servers = &self.memory.0.servers;
        servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "early_data_test.rs"]
mod early_data_test;
