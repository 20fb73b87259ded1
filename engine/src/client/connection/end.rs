//! The error of a connection that ended, for the requests that it leaves behind.

use super::ConnectionTask;
use crate::driver::signals::Stop;
use crate::error::{Error, ErrorKind};
use crate::tls::refusal_in;
use std::time::Instant;
use trunkline_core::error::{Closed, H2Code};

impl<S> ConnectionTask<S> {
    /// After the requests that were dispatched before have started: they may be the last of the
    /// connection.
    pub(super) fn apply_stop(&mut self, now: Instant) {
        match self.stop.take() {
            None => {}
            Some(stop @ (Stop::Idle | Stop::Drain)) => {
                self.idled = stop == Stop::Idle && self.slots.len() == 0;
                self.draining = true;
                self.io.machine.shut_down(now);
            }
            Some(Stop::Abort | Stop::Reset) => self.io.machine.abort(now, H2Code::CANCEL),
        }
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
