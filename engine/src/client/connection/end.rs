//! The end of a connection: its error, and the requests that it leaves behind, which are sent again or failed.

use super::ConnectionTask;
use super::entry::{ExchangeEntry, Incoming};
use crate::client::exchange::Early;
use crate::driver::signals::Stop;
use crate::error::{Error, ErrorKind};
use crate::tls::refusal_in;
use std::time::Instant;
use tokio::runtime::Id;
use trunkline_core::error::{Closed, H2Code};
use trunkline_core::pool::{Cause, Loss, NoRetry};

impl<S> ConnectionTask<S> {
    /// After the requests that were dispatched before have started: they may be the last of the
    /// connection.
    pub(super) fn apply_stop(&mut self, now: Instant) {
        match self.stop.take() {
            None => {}
            stop @ Some(Stop::Idle | Stop::Drain | Stop::LeaveBodies) if self.has_waiting() => {
                self.stop = stop;
            }
            Some(stop @ (Stop::Idle | Stop::Drain | Stop::LeaveBodies)) => {
                self.slots.leaves_bodies |= stop == Stop::LeaveBodies;
                self.idled = stop == Stop::Idle && self.slots.len() == 0;
                self.draining = true;
                self.io.machine.shut_down(now);
            }
            Some(Stop::Abort | Stop::Reset) => self.io.machine.abort(now, H2Code::CANCEL),
        }
    }

    /// Whether requests of the connection wait for the peer's settings, or for the first piece of their body. A
    /// drained connection takes none of them any more, and they may be the last ones that it was to carry.
    fn has_waiting(&self) -> bool {
        !self.unsettled.is_empty() || !self.held.is_empty()
    }

    /// Why the connection ended, for its listener.
    pub(super) fn why_it_ended(&self) -> Error {
        match (self.ended, &self.tunnel) {
            (_, Some(_)) => Error::cancelled("the connection speaks another protocol now"),
            (Some(Closed::Drained), None) if self.idled => Error::closed(Closed::Idle),
            (Some(Closed::Drained), None) if self.gave_up => {
                Error::cancelled("a request on the connection was given up")
            }
            (Some(closed), None) => self.with_failure(Error::closed(closed)),
            (None, None) => Error::cancelled("the client or its runtime is gone"),
        }
    }

    /// How the connection ended, or was given up by its peer, if it has answered nothing in its life.
    pub(super) fn ended_unused(&self) -> Option<Error> {
        let is_given_up = self.draining && self.stop.is_none();
        let goaway = is_given_up.then_some(Closed::ByPeer(H2Code::NO_ERROR));
        let closed = self.ended.or(goaway).filter(|_| !self.answered)?;
        Some(self.with_failure(Error::closed(closed)))
    }

    /// Names what the transport said when it failed.
    pub(super) fn with_failure(&self, error: Error) -> Error {
        let error = match self.given_up {
            Some(why) => error.with_note(why),
            None => error,
        };
        if error.kind() != ErrorKind::TransportClosed {
            return error;
        }
        let Some(failure) = self.io.failure() else {
            return error;
        };
        let error = match refusal_in(&*failure) {
            Some((number, name)) => error.with_tls_refusal(number, name),
            None => error,
        };
        error.with_shared_source(failure)
    }
}

impl<S> ConnectionTask<S> {
    /// Sets the runtime of its task, which may end before the client does.
    pub(in crate::client) fn on_runtime(mut self, runtime: Option<Id>) -> Self {
        self.runtime = runtime;
        self
    }

    pub(super) fn loss(&self, entry: &ExchangeEntry, cause: Cause) -> Loss {
        Loss {
            cause,
            tries: entry.request.tries,
            replayable: entry.is_replayable(),
            idempotent: entry.request.is_idempotent(),
        }
    }

    /// Sends a lost request again if the pool allows it; otherwise fails it with `error`.
    pub(super) fn give_back(
        &mut self,
        now: Instant,
        mut entry: ExchangeEntry,
        loss: Loss,
        error: Error,
    ) {
        let Some(dispatch) = self.dispatch.upgrade() else {
            return entry.fail(self.id, &self.settings.counts, error);
        };
        if !loss.replayable {
            dispatch.note_loss(now, &entry.request.origin, self.id, loss.cause);
            return entry.fail(self.id, &self.settings.counts, error);
        }
        if !entry.request.exchange.detach() {
            return;
        }
        entry.note_end(self.id, &error);
        entry.request.body.rewind();
        if loss.cause == Cause::TooEarly {
            entry.request.early = Early::Never;
        }
        entry.request.perhaps_processed |= matches!(
            loss.cause,
            Cause::Lost { .. } | Cause::Behind | Cause::Abandoned
        );
        if let Err((request, why)) = dispatch.give_back(now, entry.request, self.id, loss) {
            let error = match why {
                NoRetry::Budget => error.with_note("; too many retries for its origin"),
                NoRetry::Class | NoRetry::Tries => error,
            };
            request.fail(&self.settings.counts, error);
        }
    }

    /// The runtime of the task drops it: requests without a response are lost with the connection, and bodies that
    /// come are cut.
    pub(super) fn lose_all(&mut self) {
        if self.settings.spawner.is_some() {
            return;
        }
        let now = Instant::now();
        for slot in 0..self.slots.slots() {
            let Some(entry) = self.slots.remove(slot) else {
                continue;
            };
            let error = Error::cancelled("the runtime that the connection was opened on is gone");
            let error = error.with_processing_possible();
            if !matches!(entry.incoming, Incoming::Awaited) {
                entry.fail(self.id, &self.settings.counts, error);
                continue;
            }
            let loss = self.loss(&entry, Cause::Abandoned);
            self.give_back(now, entry, loss, error);
        }
    }
}
