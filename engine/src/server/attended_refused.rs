//! Passes the raw bytes of a client that breaks its connection's rules to the callback API, which
//! may answer them.

use super::attendant::{Attendant, Place};
use super::attended::Exchanges;
use super::attended_entry::Entry;
use super::respond::Asked;
use trunkline_core::error::Violation;
use trunkline_core::http::{Refused, StreamId};

impl<A: Attendant> Exchanges<A> {
    /// A request broke HTTP/1.1: who takes it gets the bytes of the connection.
    pub(super) fn hand_over(&mut self, stream: StreamId, refused: &Refused) {
        let asked = Asked {
            stream,
            head: false,
            connect: false,
        };
        let place = Place {
            slot: self.slot(),
            asked,
            early: false,
            http10: false,
        };
        let connection = self.connection.as_ref();
        let taken = connection.and_then(|to| self.attendant.refused(to, place, refused));
        match taken {
            Some(exchange) => self.put(Entry::leaving(place, exchange)),
            None => self.give_back(place.slot),
        }
    }
    /// Reports a broken rule once, before the connection's exchanges end.
    pub(super) fn tell_broken(&mut self, violation: Violation) {
        if let Some(connection) = &self.connection
            && !std::mem::replace(&mut self.is_broken, true)
        {
            self.attendant.broken(connection, violation);
        }
    }
}
