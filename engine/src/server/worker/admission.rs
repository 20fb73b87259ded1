//! The way of an accepted connection into a worker: bounds per address and of the whole, the header of a
//! proxy, and the task that serves it.

use super::second::LeftConnection;
use super::spawn::{SpawnConnections, Unopened};
use super::{Accepted, Worker};
use crate::connection_info::Addresses;
#[cfg(unix)]
use crate::connection_info::unix::UnixPeer;
use crate::driver::signals::{Signals, Stop};
use crate::net::byte_stream::Io;
use crate::server::connection::accept::{Opener, TransportFacts};
use crate::server::observe::counters::add;
use crate::server::registry::places::ConnectionPlace;
use crate::server::registry::{Activity, OpenConnections, OpenEntry};
use std::net::SocketAddr;
use std::sync::Arc;

impl<S: SpawnConnections> Worker<S> {
    /// Serves it, or lets it wait until another one has given way.
    pub(super) fn take(&mut self, accepted: Accepted) {
        self.has_distant_clients |= matches!(accepted, Accepted::Tcp(_, peer) if is_distant(peer));
        if let Some(peer) = accepted.peer()
            && !self.begins_with_header(&accepted)
            && !self.open.admits(peer.ip())
        {
            return;
        }
        if self.open.is_full() {
            match &self.second {
                Some(second) if !self.open.can_make_room() => second.make_room(),
                _ => OpenConnections::make_room_soon(&self.open),
            }
            self.waiting.push_back(accepted);
        } else if let Some(accepted) = self.leave(accepted) {
            self.serve(accepted);
        }
    }
    /// Leaves it to the second worker; back comes one that is to be served here.
    fn leave(&self, accepted: Accepted) -> Option<Accepted> {
        let (false, Some(second)) = (self.is_draining, &self.second) else {
            return Some(accepted);
        };
        if matches!(accepted, Accepted::Given(_)) {
            return Some(accepted);
        }
        if !self.shared.service.leaves_connection() {
            return Some(accepted);
        }
        let peer = match self.begins_with_header(&accepted) {
            true => None,
            false => accepted.peer().map(|peer| peer.ip()),
        };
        let socket = accepted.unregistered()?;
        let place = self.open.take_place(peer);
        let back = second.leave(LeftConnection { socket, place })?;
        // One that cannot be used is closed already.
        back.socket.registered().ok()
    }
    /// Serves one that the other worker of the server has accepted.
    pub(super) fn serve_left(&self, LeftConnection { socket, place }: LeftConnection) {
        // As above.
        if let Ok(accepted) = socket.registered() {
            self.serve_at(accepted, Some(place));
        }
    }
    /// Whether it is of a proxy, whose header names the client.
    fn begins_with_header(&self, accepted: &Accepted) -> bool {
        let Some(proxies) = &self.shared.info_policy.proxies else {
            return false;
        };
        match accepted {
            Accepted::Tcp(_, peer) => proxies.contains(peer.ip()),
            // The file's permissions bound the peers.
            #[cfg(unix)]
            Accepted::Unix(_) => true,
            Accepted::Given(_) => false,
        }
    }
    pub(super) fn serve(&self, accepted: Accepted) {
        self.serve_at(accepted, None);
    }
    /// `place`: it has one already.
    fn serve_at(&self, accepted: Accepted, place: Option<ConnectionPlace>) {
        let is_proxied = self.begins_with_header(&accepted);
        match accepted {
            Accepted::Tcp(socket, peer) => {
                // Batches are ours to make: Nagle would only hold their last segment back. A socket
                // that refuses is closing already.
                let _ = socket.set_nodelay(true);
                let addresses = match self.shared.info_policy.is_placeless() {
                    true => None,
                    // A socket without an address is closed already.
                    false => socket.local_addr().ok().map(|local| (peer, local)),
                };
                if is_proxied {
                    self.serve_proxied(socket, addresses, place);
                } else {
                    let known = TransportFacts::between(addresses);
                    self.serve_known(socket, (Some(peer), place), known);
                }
            }
            #[cfg(unix)]
            Accepted::Unix(socket) if is_proxied => self.serve_proxied(socket, None, place),
            #[cfg(unix)]
            Accepted::Unix(socket) => {
                // A socket without credentials is closed already.
                let peer = self
                    .shared
                    .info_policy
                    .info
                    .then(|| socket.peer_cred().ok());
                let known = TransportFacts::of_unix(peer.flatten().map(UnixPeer::new));
                self.serve_known(socket, (None, place), known);
            }
            Accepted::Given(stream) => {
                let peer = stream.addresses().map(|(peer, _)| peer);
                let known = TransportFacts::of(&stream);
                self.serve_known(stream.into_io(), (peer, place), known);
            }
        }
    }
    fn serve_known(
        &self,
        socket: impl Io,
        (peer, place): (Option<SocketAddr>, Option<ConnectionPlace>),
        known: TransportFacts,
    ) {
        let (opener, entry) = self.enter(peer, place);
        self.shared
            .service
            .spawn(Unopened::new(socket, known, opener, entry));
    }
    /// `own`: the addresses of the proxy and of this server.
    fn serve_proxied(
        &self,
        socket: impl Io,
        own: Option<Addresses>,
        place: Option<ConnectionPlace>,
    ) {
        let (opener, entry) = self.enter(None, place);
        self.shared
            .service
            .spawn(Unopened::proxied(socket, own, opener, entry));
    }
    fn enter(
        &self,
        peer: Option<SocketAddr>,
        place: Option<ConnectionPlace>,
    ) -> (Opener<S>, OpenEntry) {
        add(&self.shared.counters.connections_accepted, 1);
        let signals = Arc::new(Signals::default());
        let activity = Activity::new();
        let place = place.unwrap_or_else(|| self.open.take_place(peer.map(|peer| peer.ip())));
        let entry = OpenConnections::enter_at(&self.open, place, (&signals, &activity), peer);
        if self.is_draining {
            signals.stop(Stop::Drain);
        }
        let shared = self.shared.clone();
        let opener = Opener {
            shared,
            signals,
            activity,
        };
        (opener, entry)
    }
}

/// Whether a handshake with it takes time: over the loopback interface its end is there when its beginning is.
fn is_distant(peer: SocketAddr) -> bool {
    !peer.ip().to_canonical().is_loopback()
}

#[cfg(test)]
#[path = "admission_test.rs"]
mod admission_test;
