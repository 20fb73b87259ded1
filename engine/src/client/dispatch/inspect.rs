//! A client's connections, listed when it is asked for them.

use super::Dispatch;
use crate::driver::machine::inspection::{
    InspectLimits, Inspection, Numbered, collect, inspection_end,
};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;
use trunkline_core::inspect::ConnectionSnapshot;
use trunkline_core::pool::{Origin, OriginStats, Wait};

/// One connection of a client, now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConnection {
    /// Its number; no other connection of the client ever has it.
    pub number: u64,
    /// The origin that it leads to.
    pub origin: Origin,
    /// Its exchanges and windows; `None`: it did not answer within 250 ms, because its thread is blocked.
    pub snapshot: Option<ConnectionSnapshot>,
}

/// A client, now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientSnapshot {
    /// Connections, the oldest first, as many as the limit lists.
    pub connections: Vec<ClientConnection>,
    /// Connections that are open and not in `connections`.
    pub unlisted: u64,
    /// Its origins.
    pub origins: Vec<OriginStats>,
    /// Requests that wait, each with the reason, the first in line first, as many as the limit lists connections.
    pub waits: Vec<Wait>,
    /// Requests that wait and are not in `waits`.
    pub unlisted_waits: u64,
}

impl Dispatch {
    pub(in super::super) async fn inspect(
        self: &Arc<Self>,
        limits: InspectLimits,
    ) -> ClientSnapshot {
        let end = inspection_end();
        let (mut client, replies) = self.begin_inspection(limits);
        let mut snapshots = collect(end, replies).await;
        snapshots.sort_unstable_by_key(|(number, _)| *number);
        for connection in &mut client.connections {
            let found = snapshots.binary_search_by_key(&connection.number, |(number, _)| *number);
            connection.snapshot = found.ok().map(|at| snapshots[at].1.clone());
        }
        client
    }

    /// Asks every connection that is listed.
    fn begin_inspection(
        &self,
        limits: InspectLimits,
    ) -> (ClientSnapshot, mpsc::UnboundedReceiver<Numbered>) {
        let now = Instant::now();
        let (reply, replies) = mpsc::unbounded_channel();
        let state = self.lock();
        let mut asked = Vec::new();
        let mut connections = Vec::new();
        for (id, handle) in state.handles.iter().take(limits.connections_max) {
            let Some(origin) = state.pool.origin_of(*id) else {
                continue;
            };
            asked.push((id.number(), Arc::clone(handle)));
            connections.push(ClientConnection {
                number: id.number(),
                origin: origin.clone(),
                snapshot: None,
            });
        }
        let unlisted = state.handles.len().saturating_sub(limits.connections_max);
        let origins = state.pool.stats(now);
        let mut waits = state.pool.waits(now);
        drop(state);
        // Notes wake tasks: not under the lock.
        for (number, handle) in asked {
            handle.signals.inspect(Inspection {
                number,
                streams_max: limits.streams_max,
                reply: reply.clone(),
            });
        }
        let unlisted_waits = waits.len().saturating_sub(limits.connections_max);
        waits.truncate(limits.connections_max);
        let client = ClientSnapshot {
            connections,
            unlisted: unlisted as u64,
            origins,
            waits,
            unlisted_waits: unlisted_waits as u64,
        };
        (client, replies)
    }
}
