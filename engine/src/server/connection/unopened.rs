//! A connection that was accepted and has no task yet.

use super::accept::{Opener, Served, Started, TransportFacts};
use super::proxied::start_proxied;
use crate::connection_info::Addresses;
use crate::net::byte_stream::Io;
use crate::server::exchange::serve::Serve;
use crate::server::registry::OpenEntry;
use std::sync::Arc;

/// A connection that was accepted: the parts of its task.
pub(in crate::server) struct Unopened<S, T> {
    socket: T,
    first: First,
    opener: Opener<S>,
    entry: OpenEntry,
}

/// The part before the handshake and HTTP.
enum First {
    Nothing(TransportFacts),
    /// The header of a proxy. The addresses of the proxy and of this server.
    ProxyHeader(Option<Addresses>),
}

impl<S: Serve, T: Io> Unopened<S, T> {
    pub(in crate::server) fn new(
        socket: T,
        known: TransportFacts,
        opener: Opener<S>,
        entry: OpenEntry,
    ) -> Self {
        Self {
            socket,
            first: First::Nothing(known),
            opener,
            entry,
        }
    }
    /// `own`: the addresses of the proxy and of this server.
    pub(in crate::server) fn proxied(
        socket: T,
        own: Option<Addresses>,
        opener: Opener<S>,
        entry: OpenEntry,
    ) -> Self {
        Self {
            socket,
            first: First::ProxyHeader(own),
            opener,
            entry,
        }
    }
    /// The task that serves it; `Send` where the exchanges of `S` are.
    pub(in crate::server) fn serve(
        self,
    ) -> Served<S, T, impl Future<Output = Started<S, T>> + use<S, T>> {
        let Self {
            socket,
            first,
            opener,
            entry,
        } = self;
        let (signals, counters) = (
            Arc::clone(&opener.signals),
            Arc::clone(&opener.shared.counters),
        );
        let name = entry.name();
        let start = async move {
            match first {
                First::Nothing(known) => opener.start(socket, known).await,
                First::ProxyHeader(own) => {
                    // Boxed, so that the others need no room for it.
                    Box::pin(start_proxied(socket, own, opener, name)).await
                }
            }
        };
        Served::new(start, signals, &counters, entry)
    }
}
