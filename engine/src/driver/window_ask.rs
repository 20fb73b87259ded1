//! A request to read or set a receive window, from another task to the one that owns the connection.

use super::machine::Machine;
use std::time::Instant;
use tokio::sync::oneshot;
use trunkline_core::credit::Readback;
use trunkline_core::error::Misuse;
use trunkline_core::http::StreamId;

/// The request of a handle of receive windows to the task that owns the connection.
#[derive(Debug)]
pub(crate) struct WindowAsk {
    /// `None`: the connection's.
    pub(crate) stream: Option<StreamId>,
    pub(crate) set: Option<u32>,
    pub(crate) answer: oneshot::Sender<Result<Readback, Misuse>>,
}

impl WindowAsk {
    /// Does what it asks for.
    pub(crate) fn carry_out(self, machine: &mut Machine, now: Instant) {
        let set = match self.set {
            Some(window) => machine.set_receive_window(now, self.stream, window),
            None => Ok(()),
        };
        let read = set.and_then(|()| machine.receive_window(self.stream));
        // The handle may be gone.
        let _ = self.answer.send(read);
    }
}
