//! Passes the raw bytes of a client that breaks its connection's rules to the callback API, which
//! may answer them, and reports why a connection ends early.

use super::exchange::CallbackExchange;
use super::exchanges::CallbackExchanges;
use super::{Callbacks, StreamHandle};
use crate::server::response::RequestFacts;
use std::io;
use trunkline_core::error::Violation;
use trunkline_core::http::{Refused, StreamId};

impl<A: Callbacks> CallbackExchanges<A> {
    /// A request broke HTTP/1.1: a callback that takes it gets the bytes of the connection.
    pub(super) fn hand_over(&mut self, stream: StreamId, refused: &Refused) {
        let facts = RequestFacts {
            stream,
            head: false,
            connect: false,
        };
        let handle = StreamHandle {
            slot: self.slot(),
            facts,
            early: false,
            http10: false,
        };
        let connection = self.connection.as_ref();
        let taken = connection.and_then(|to| self.callbacks.refused(to, handle, refused));
        match taken {
            Some(exchange) => self.put(CallbackExchange::leaving(handle, exchange)),
            None => self.give_back(handle.slot),
        }
    }
    /// Reports a broken rule once, before the connection's exchanges end.
    pub(super) fn report_broken(&mut self, violation: Violation) {
        if let Some(connection) = &self.connection
            && !std::mem::replace(&mut self.is_broken, true)
        {
            self.callbacks.broken(connection, violation);
        }
    }
    /// Reports a failed transport once, before the connection's exchanges end; not behind a broken rule, after
    /// which a client may leave at any time.
    pub(super) fn report_failed(&mut self, error: &io::Error) {
        if let Some(connection) = &self.connection
            && !std::mem::replace(&mut self.is_broken, true)
        {
            self.callbacks.failed(connection, error);
        }
    }
}
