//! How many requests a connection of an origin carries in its whole life, where the peer counts
//! them: many servers end a connection with GOAWAY after so many. Whatever is on its way to such a
//! connection beyond that number comes back, and a burst would be sent to connection after
//! connection, each time but for the few that it takes.
//!
//! Nobody announces the number, so it is learned: two connections in a row that a GOAWAY cut off
//! behind the same number of requests tell it. From then on a connection gets no more than that,
//! and the pool opens as many as the line needs. It is believed until a connection lives on: all
//! its requests are answered, or a while has passed, and it is still open.

use super::slab::Key;
use super::{Pool, Standing};
use std::time::{Duration, Instant};

/// A spent connection that its peer has not ended by then has outlived what was believed: GOAWAY
/// is said when the last request is read, not when it is answered.
pub(super) const LIFETIME_DOUBT: Duration = Duration::from_secs(1);

/// What is known of it at one origin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lifetime {
    believed: Option<u64>,
    /// Where the last connection was cut off.
    cut_at: Option<u64>,
}

impl Lifetime {
    /// Requests of a connection's whole life, if its peer counts them.
    pub(super) fn believed(&self) -> Option<u64> {
        self.believed
    }

    /// What a new connection carries, where that is known.
    pub(super) fn bound(&self, per_connection: Option<u32>) -> Option<u32> {
        let most = self.believed.unwrap_or(u64::MAX);
        per_connection.map(|limit| limit.min(most.try_into().unwrap_or(u32::MAX)))
    }

    fn learn(&mut self, carried: u64) {
        self.believed = (self.cut_at == Some(carried)).then_some(carried);
        self.cut_at = Some(carried);
    }
}

impl<R> Pool<R> {
    /// A GOAWAY gave requests of this connection back.
    pub(super) fn learn_lifetime(&mut self, origin: Key, key: Key) {
        let (Some(connection), Some(state)) =
            (self.connections.get(key), self.origins.get_mut(origin))
        else {
            return;
        };
        let carried = connection.gate.taken().saturating_sub(connection.returned);
        // A peer that takes nothing is not one that counts.
        if carried > 0 {
            state.lifetime.learn(carried);
            let believed = state.lifetime.believed;
            self.set_lifetime(origin, believed);
        }
    }

    /// A connection has outlived what was believed.
    pub(super) fn forget_lifetime(&mut self, origin: Key) {
        if let Some(state) = self.origins.get_mut(origin) {
            state.lifetime = Lifetime::default();
            self.set_lifetime(origin, None);
        }
    }

    /// The time has passed in which a spent connection ends.
    pub(super) fn doubt_lifetime(&mut self, now: Instant, key: Key) {
        let Some(connection) = self.connections.get(key) else {
            return;
        };
        let origin = connection.origin;
        if connection.gate.is_spent() && connection.gate.standing() == Standing::Open {
            self.forget_lifetime(origin);
            self.pump(now, origin);
        }
    }

    fn set_lifetime(&mut self, origin: Key, lifetime: Option<u64>) {
        let Some(state) = self.origins.get_mut(origin) else {
            return;
        };
        for (key, connection) in self.connections.iter_mut() {
            if connection.origin == origin {
                connection.gate.set_lifetime(lifetime);
                state.refile(key, connection);
            }
        }
    }
}
