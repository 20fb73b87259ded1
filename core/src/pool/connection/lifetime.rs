//! Learns how many requests a server accepts per connection: many servers end a connection with
//! GOAWAY after a fixed number. Requests in flight beyond it come back, and without a bound a burst
//! would be sent to connection after connection, each accepting only a few.
//!
//! The number is not announced, so it is learned: two connections in a row that end with GOAWAY
//! after the same number of requests give it. From then on a connection gets no more, and the pool
//! opens as many as the queue needs.
//!
//! Some servers send GOAWAY with the last accepted request, others only when one more arrives. A
//! connection still open after its learned number of responses may be of the second kind: for a
//! while it is closed without a probe, then the next one is probed with one request more. If that
//! comes back, the number is trusted twice as long; if it is answered, the number is forgotten.

use crate::pool::slab::Key;
use crate::pool::{Pool, Standing};
use std::time::{Duration, Instant};

/// How long a spent connection may carry a long exchange before it is probed with one request more:
/// servers send GOAWAY when they read the last request, not when they answer it.
pub(in crate::pool) const LIFETIME_PROBE_AFTER: Duration = Duration::from_secs(1);
/// How long a learned number is trusted without a probe; doubles each time a probe confirms it.
/// While it is wrong, every connection's worth of requests costs one extra handshake.
const TRUST: Duration = Duration::from_secs(5);
/// The longest. A right one costs one request sent twice in so long.
const TRUST_MAX: Duration = Duration::from_secs(600);

/// The learned number of one origin.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pool) struct Lifetime {
    believed: Option<Believed>,
    /// The request count at which the last connection was cut off.
    cut_at: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Believed {
    /// Requests of a connection's whole life.
    most: u64,
    trust: Duration,
    /// No probe before this.
    until: Instant,
}

impl Lifetime {
    /// Requests of a connection's whole life, if its peer counts them.
    pub(in crate::pool) fn believed(&self) -> Option<u64> {
        self.believed.map(|believed| believed.most)
    }

    /// The capacity of a new connection, where it is known.
    pub(in crate::pool) fn bound(&self, per_connection: Option<u32>) -> Option<u32> {
        let most = self.believed().unwrap_or(u64::MAX);
        per_connection.map(|limit| limit.min(most.try_into().unwrap_or(u32::MAX)))
    }

    /// A connection was cut off after `carried` requests. The smallest number counts.
    fn learn(&mut self, now: Instant, carried: u64) {
        let trust = match self.believed {
            Some(Believed { most, trust, .. }) if most == carried => {
                Some((trust * 2).min(TRUST_MAX))
            }
            Some(Believed { most, .. }) if carried < most => Some(TRUST),
            // It carried more than any should.
            Some(_) => None,
            None => (self.cut_at == Some(carried)).then_some(TRUST),
        };
        self.believed = trust.map(|trust| Believed {
            most: carried,
            trust,
            until: now + trust,
        });
        self.cut_at = Some(carried);
    }
}

impl<R> Pool<R> {
    /// A GOAWAY gave requests of this connection back.
    pub(in crate::pool) fn learn_lifetime(&mut self, now: Instant, origin: Key, key: Key) {
        let (Some(connection), Some(state)) =
            (self.connections.get(key), self.origins.get_mut(origin))
        else {
            return;
        };
        let carried = connection.gate.taken().saturating_sub(connection.returned);
        // A peer that takes nothing is not one that counts.
        if carried > 0 {
            state.lifetime.learn(now, carried);
            let believed = state.lifetime.believed();
            self.set_lifetime(origin, believed);
        }
    }

    /// Notes that all requests of a connection's learned limit are answered, and it is still open.
    pub(in crate::pool) fn outlive(&mut self, now: Instant, origin: Key, key: Key) {
        let believed = self.origins.get(origin).and_then(|it| it.lifetime.believed);
        let Some(believed) = believed else {
            return;
        };
        if self.carries_more(key, believed.most) {
            self.forget_lifetime(origin);
        } else if now < believed.until {
            self.retire(now, key);
        } else {
            self.ask_for_one_more(origin, key);
        }
    }

    /// The time has passed in which a spent connection ends.
    pub(in crate::pool) fn probe_lifetime(&mut self, now: Instant, key: Key) {
        let Some(connection) = self.connections.get(key) else {
            return;
        };
        let origin = connection.origin;
        let believed = self
            .origins
            .get(origin)
            .and_then(|it| it.lifetime.believed());
        if !connection.gate.is_spent() || connection.gate.standing() != Standing::Open {
            return;
        }
        match believed {
            Some(most) if !self.carries_more(key, most) => self.ask_for_one_more(origin, key),
            _ => self.forget_lifetime(origin),
        }
        self.pump(now, origin);
    }

    fn carries_more(&self, key: Key, most: u64) -> bool {
        let connection = self.connections.get(key);
        connection.is_some_and(|connection| connection.gate.dispatched() > most)
    }

    fn ask_for_one_more(&mut self, origin: Key, key: Key) {
        let (Some(connection), Some(state)) =
            (self.connections.get_mut(key), self.origins.get_mut(origin))
        else {
            return;
        };
        connection.gate.allow_one_more();
        state.refile(key, connection);
    }

    /// A connection has outlived its learned limit.
    fn forget_lifetime(&mut self, origin: Key) {
        if let Some(state) = self.origins.get_mut(origin) {
            state.lifetime = Lifetime::default();
            self.set_lifetime(origin, None);
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
