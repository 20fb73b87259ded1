//! The error of a connection that ended, for the requests that it leaves behind.

use super::ConnectionTask;
use crate::error::{Error, ErrorKind};
use crate::tls::refusal_in;
use trunkline_core::error::{Closed, H2Code};

impl<S> ConnectionTask<S> {
    /// How the connection ended, or was given up by its peer, if it has answered nothing in its life.
    pub(super) fn ended_unused(&self) -> Option<Error> {
        let is_given_up = self.draining && self.stop.is_none();
        let goaway = is_given_up.then_some(Closed::ByPeer(H2Code::NO_ERROR));
        let closed = self.ended.or(goaway).filter(|_| !self.answered)?;
        Some(self.with_failure(Error::closed(closed)))
    }

    /// Names what the transport said when it failed.
    pub(super) fn with_failure(&self, error: Error) -> Error {
        let error = match self.buried {
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
