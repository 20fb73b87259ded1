//! The callback API as the source of a server's exchanges: it answers requests, receives failed
//! handshakes, and may take clients that do not use HTTP.

use super::attendant::{Attendant, Line, Pause, Place};
use super::attended::Exchanges;
use super::attended_entry::Entry;
use super::attended_tunnel::Tunnel;
use super::handshake_failure::HandshakeFailure;
use super::heads::Heads;
use super::respond::{Asked, Extra};
use super::serve::{Left, Serve};
use crate::connection_info::{Addresses, ConnectionInfo};
use crate::driver::signals::Signals;
use std::rc::Rc;
use std::sync::Arc;

/// The source of the exchanges of a server with callbacks.
#[derive(Clone)]
pub(super) struct Attended<A> {
    attendant: A,
    heads: Rc<Heads>,
}

impl<A> Attended<A> {
    pub(super) fn new(attendant: A, extra: &Arc<Extra>) -> Self {
        let heads = Rc::new(Heads::new(extra));
        Self { attendant, heads }
    }
}

impl<A: Attendant> Serve for Attended<A> {
    type Exchanges = Exchanges<A>;

    fn exchanges(&self, signals: &Arc<Signals>, _: bool, extra: &Arc<Extra>) -> Exchanges<A> {
        let line = Line::new(signals, &self.heads);
        Exchanges::new(self.attendant.clone(), line, signals, extra)
    }
    fn pause(&self) -> Option<Pause> {
        self.attendant.pause()
    }
    fn handshake_failed(&self, addresses: Option<Addresses>, failure: &HandshakeFailure) {
        self.attendant.handshake_failed(addresses, failure);
    }
    fn meet_stranger(&self, left: Left, info: Option<ConnectionInfo>, signals: &Arc<Signals>) {
        let line = Line::new(signals, &self.heads);
        let asked = Asked {
            stream: left.stream,
            head: false,
            connect: false,
        };
        let place = Place {
            slot: 0,
            asked,
            early: false,
            http10: false,
        };
        let attendant = &self.attendant;
        let taken = attendant.stranger(line.clone(), place, info.as_ref());
        if let Some((connection, exchange)) = taken {
            let (attendant, signals) = (attendant.clone(), Arc::clone(signals));
            let entry = Entry::new(place, exchange, false);
            let tunnel = Tunnel::new(attendant, Some(connection), entry, left, line, signals);
            tokio::task::spawn_local(tunnel);
        }
    }
}
