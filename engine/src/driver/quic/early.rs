//! What servers have said in SETTINGS, remembered with the session tickets that they gave: early
//! data goes out under it (RFC 9114 section 7.2.4.2).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trunkline_core::h3::settings::Settings;

/// Servers remembered; more than whose tickets are kept.
const SERVERS_MAX: usize = 256;

/// A server as its tickets are kept: the name that its certificate has, and its port.
type Server = (Box<str>, u16);

/// The memory of one client.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlyMemory(Arc<Mutex<BTreeMap<Server, Settings>>>);

/// One connection's place in it.
#[derive(Clone, Debug)]
pub(crate) struct EarlyPlace {
    memory: EarlyMemory,
    server: Server,
}

impl EarlyMemory {
    /// The place of a connection to a server.
    pub(crate) fn place(&self, name: &str, port: u16) -> EarlyPlace {
        EarlyPlace {
            memory: self.clone(),
            server: (name.into(), port),
        }
    }
}

impl EarlyPlace {
    /// What the server said last. It is forgotten with that: where early data leads nowhere, the
    /// next connection begins without.
    pub(crate) fn take(&self) -> Option<Settings> {
        self.lock().remove(&self.server)
    }
    /// The server has said `settings`.
    pub(crate) fn note(&self, settings: Settings) {
        let mut servers = self.lock();
        if servers.len() >= SERVERS_MAX && !servers.contains_key(&self.server) {
            // Whichever: it costs that server one round trip.
            servers.pop_first();
        }
        servers.insert(self.server.clone(), settings);
    }
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Server, Settings>> {
        // No code panics while it holds the lock.
        self.memory.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "early_test.rs"]
mod early_test;
