//! Measurements of the paths to origins, made by their connections.

use crate::pool::{Origin, Pool};
use std::time::{Duration, Instant};

impl<R> Pool<R> {
    /// The receive window that the path to an origin has shown to need in the last ten minutes, in
    /// bytes; 0: nothing is known.
    pub fn bdp_bytes(&self, now: Instant, origin: &Origin) -> u32 {
        let key = self.by_origin.get(origin).copied();
        let state = key.and_then(|key| self.origins.get(key));
        state.map_or(0, |state| state.bdp_bytes(now))
    }

    /// The round trip to an origin as its connections measured it last, over the network of now.
    pub fn round_trip(&self, now: Instant, origin: &Origin) -> Option<Duration> {
        let key = self.by_origin.get(origin).copied();
        let state = key.and_then(|key| self.origins.get(key));
        state.and_then(|state| state.round_trip(now))
    }
}
