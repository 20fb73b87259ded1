//! The way of an accepted connection into a worker: bounds per address and of the whole, the header of a
//! proxy, and the task that serves it.

use super::{Accepted, Worker};
use crate::connection_info::Addresses;
#[cfg(unix)]
use crate::connection_info::unix::UnixPeer;
use crate::driver::signals::{Signals, Stop};
use crate::net::byte_stream::Io;
use crate::server::connection::accept::{Opener, Served, TransportFacts};
use crate::server::connection::proxied::start_proxied;
use crate::server::exchange::serve::Serve;
use crate::server::observe::counters::add;
use crate::server::registry::{Activity, OpenConnections, OpenEntry};
use std::net::SocketAddr;
use std::sync::Arc;

impl<S: Serve> Worker<S> {
    /// Serves it, or lets it wait until another one has given way.
    pub(super) fn take(&mut self, accepted: Accepted) {
        if let Some(peer) = accepted.peer()
            && !self.begins_with_header(&accepted)
            && !self.open.admits(peer.ip())
        {
            return;
        }
        if self.open.is_full() {
            OpenConnections::make_room_soon(&self.open);
            self.waiting.push_back(accepted);
        } else {
            self.serve(accepted);
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
                    self.serve_proxied(socket, addresses);
                } else {
                    self.serve_known(socket, Some(peer), TransportFacts::between(addresses));
                }
            }
            #[cfg(unix)]
            Accepted::Unix(socket) if is_proxied => self.serve_proxied(socket, None),
            #[cfg(unix)]
            Accepted::Unix(socket) => {
                // A socket without credentials is closed already.
                let peer = self
                    .shared
                    .info_policy
                    .info
                    .then(|| socket.peer_cred().ok());
                let known = TransportFacts::of_unix(peer.flatten().map(UnixPeer::new));
                self.serve_known(socket, None, known);
            }
            Accepted::Given(stream) => {
                let peer = stream.addresses().map(|(peer, _)| peer);
                let known = TransportFacts::of(&stream);
                self.serve_known(stream.into_io(), peer, known);
            }
        }
    }
    fn serve_known(&self, socket: impl Io, peer: Option<SocketAddr>, known: TransportFacts) {
        let (opener, entry) = self.enter(peer);
        let signals = Arc::clone(&opener.signals);
        let start = opener.start(socket, known);
        tokio::task::spawn_local(Served::new(start, signals, &self.shared.counters, entry));
    }
    /// `own`: the addresses of the proxy and of this server.
    fn serve_proxied(&self, socket: impl Io, own: Option<Addresses>) {
        let (opener, entry) = self.enter(None);
        let signals = Arc::clone(&opener.signals);
        let start = start_proxied(socket, own, opener, entry.name());
        tokio::task::spawn_local(Served::new(start, signals, &self.shared.counters, entry));
    }
    fn enter(&self, peer: Option<SocketAddr>) -> (Opener<S>, OpenEntry) {
        add(&self.shared.counters.connections_accepted, 1);
        let signals = Arc::new(Signals::default());
        let activity = Activity::new();
        let entry = OpenConnections::enter(&self.open, &signals, &activity, peer);
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
