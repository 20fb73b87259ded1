//! Opens connections before requests need them, and keeps what was learned of paths and networks.

use super::{Dispatch, State, failure};
use crate::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use trunkline_core::pool::{AttemptId, ConnectionId, Failure, Origin};

/// A caller waiting for these attempts to end.
pub(super) struct Warmer {
    attempts: Vec<AttemptId>,
    error: Option<Arc<Error>>,
    annotate: oneshot::Sender<Option<Arc<Error>>>,
}

impl Dispatch {
    /// A connection measured its path.
    pub(in super::super) fn note_round_trip(&self, id: ConnectionId, round_trip: Duration) {
        self.lock().pool.handle_round_trip(id, round_trip);
    }

    /// A connection's peer has said how long it waits for the next request.
    pub(in super::super) fn note_peer_patience(
        &self,
        now: Instant,
        id: ConnectionId,
        idle: Duration,
    ) {
        self.lock().pool.handle_peer_patience(now, id, idle);
    }

    /// The network changed: every connection is probed; nothing that failed before counts.
    pub(in super::super) fn network_changed(self: &Arc<Self>) {
        self.settings.alternatives().handle_network_change();
        let mut state = self.lock();
        for handle in state.handles.values() {
            handle.signals.network_changed();
        }
        state.pool.handle_network_change(Instant::now());
        self.finish(state, None);
    }

    /// A connection's peer answered after its handshake had begun, which was at `began` where the
    /// connection is younger than its handshake.
    pub(in super::super) fn alive(
        self: &Arc<Self>,
        now: Instant,
        id: ConnectionId,
        began: Option<Instant>,
    ) {
        let mut state = self.lock();
        state.pool.handle_alive(now, id, began);
        self.finish(state, None);
    }

    /// A connection stays silent: another may be opened in its place.
    pub(in super::super) fn replace(
        self: &Arc<Self>,
        now: Instant,
        id: ConnectionId,
        since: Instant,
    ) {
        let mut state = self.lock();
        state.pool.replace(now, id, since);
        self.finish(state, None);
    }

    /// Opens connections until the origin has `count`, as far as the bounds allow; returns how
    /// many it has.
    pub(in super::super) async fn warm_up(
        self: &Arc<Self>,
        origin: &Origin,
        count: u32,
    ) -> Result<u32, Error> {
        let (annotate, reported) = oneshot::channel();
        {
            let mut state = self.lock();
            let id = state.pool.origin_id(origin);
            let attempts = state.pool.warm_up(Instant::now(), id, count);
            // With nothing to open, its sender goes and the wait is over.
            let annotate = annotate;
            if !attempts.is_empty() {
                state.warmers.push(Warmer {
                    attempts,
                    error: None,
                    annotate,
                });
            }
            self.finish(state, None);
        }
        let error = reported.await.ok().flatten();
        let mut state = self.lock();
        let id = state.pool.origin_id(origin);
        match (state.pool.connections(id), error) {
            (0, Some(error)) => {
                // A failed warm-up is not repeated, because its caller has the error.
                state.pool.warm_up(Instant::now(), id, 0);
                Err(failure(Failure::AttemptFailed, Some(&error)))
            }
            (connections, _) => Ok(connections),
        }
    }
}

impl State {
    /// An attempt ended: completes the callers whose last attempt it was.
    pub(super) fn notify_prewarmers(&mut self, attempt: AttemptId, error: Option<&Arc<Error>>) {
        for warmer in &mut self.warmers {
            if let Some(at) = warmer.attempts.iter().position(|&a| a == attempt) {
                warmer.attempts.swap_remove(at);
                warmer.error = warmer.error.take().or_else(|| error.cloned());
            }
        }
        let done = |warmer: &mut Warmer| warmer.attempts.is_empty();
        for warmer in self.warmers.extract_if(.., done) {
            // The caller may have dropped its receiver.
            let _ = warmer.annotate.send(warmer.error);
        }
    }
}
