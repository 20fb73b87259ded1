//! Hands requests that a connection gave back to the pool again, and attempts that were dropped.

use super::Dispatch;
use crate::client::exchange::Outgoing;
use crate::error::{Error, ErrorKind};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Id;
use trunkline_core::pool::{
    AttemptId, Cause, ConnectionId, FailureScope, Loss, NoRetry, Origin, Return,
};

impl Dispatch {
    /// The runtime of an attempt has dropped it: another one begins on another runtime, unless no other is known.
    pub(in super::super) fn attempt_dropped(
        self: &Arc<Self>,
        attempt: AttemptId,
        error: Error,
        runtime: Option<Id>,
    ) {
        let mut state = self.lock();
        let error = Arc::new(error);
        state.leave_runtime(runtime);
        let scope = match runtime.and(state.runtimes.latest()) {
            Some(_) => FailureScope::None,
            None => FailureScope::All,
        };
        let now = Instant::now();
        state.pool.handle_attempt_failed(now, attempt, scope);
        state.notify_prewarmers(attempt, Some(&error));
        self.finish_leaving(state, Some(error), runtime);
    }

    /// Hands a request in again of which `avoid` has sent nothing. `unused`: how that connection
    /// ended, if it has answered nothing in its life.
    pub(in super::super) fn resubmit(
        self: &Arc<Self>,
        now: Instant,
        mut request: Box<Outgoing>,
        avoid: ConnectionId,
        unused: Option<Error>,
    ) {
        if let Some(error) = &unused {
            request.unused += 1;
            request.note_end(avoid, error.kind(), None);
        }
        let origin = &request.origin;
        let is_asked = origin.proxy.is_some() && !self.settings.route.forwards(origin);
        // A peer that says that it goes away asks for another connection.
        let is_closed = |error: &Error| error.kind() == ErrorKind::TransportClosed;
        let loss = Loss {
            cause: Cause::NeverSent {
                unused: unused.is_some(),
                tunnel: is_asked && unused.as_ref().is_some_and(is_closed),
            },
            tries: request.unused,
            replayable: true,
            idempotent: false,
        };
        if let Err((request, why)) = self.give_back(now, request, avoid, loss) {
            let error = match (unused, why) {
                (Some(error), NoRetry::Tries | NoRetry::Budget) => {
                    let note = match request.unused.saturating_sub(1) {
                        0 => "; nothing of the request was written".to_owned(),
                        before => format!(
                            "; nothing of the request was written, as on {before} connections before"
                        ),
                    };
                    error.with_nothing_written().with_note(&note)
                }
                _ => Error::cancelled("the request found no connection"),
            };
            request.fail(&self.settings.counts, error);
        }
    }

    /// A connection gives a request back; the pool sends it again or not.
    ///
    /// # Errors
    /// The request, and why it is not sent again.
    pub(in super::super) fn give_back(
        self: &Arc<Self>,
        now: Instant,
        request: Box<Outgoing>,
        from: ConnectionId,
        loss: Loss,
    ) -> Result<(), (Box<Outgoing>, NoRetry)> {
        let mut state = self.lock();
        let exchange = Arc::clone(&request.exchange);
        let origin = Arc::clone(&request.origin);
        let back = Return {
            from,
            loss,
            rank: request.rank,
            alone: request.stands_alone(),
            limit: request.wait_limit(),
            random: random() as u32,
        };
        let outcome = state.pool.give_back(now, &origin, request, back);
        let outcome = outcome.map(|ticket| {
            ticket.and_then(|ticket| match exchange.wait_with(ticket) {
                true => None,
                false => state.pool.cancel(now, ticket),
            })
        });
        self.finish(state, None);
        outcome.map(drop)
    }

    /// A connection lost a request that cannot be sent again, from this cause.
    pub(in super::super) fn note_loss(
        self: &Arc<Self>,
        now: Instant,
        origin: &Origin,
        from: ConnectionId,
        cause: Cause,
    ) {
        let mut state = self.lock();
        state.pool.handle_loss(now, origin, from, cause);
        self.finish(state, None);
    }

    /// Whether the pool would send a request again after this loss.
    pub(in super::super) fn would_retry(&self, origin: &Origin, loss: &Loss) -> bool {
        self.lock().pool.would_retry(origin, loss)
    }
}

/// Unpredictable bits from the seed of the standard hash tables: enough to spread pauses.
pub(in super::super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
