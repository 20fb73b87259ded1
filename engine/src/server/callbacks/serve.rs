//! The callback API as the source of a server's exchanges: it answers requests, receives failed
//! handshakes, and may take clients that do not use HTTP.

use super::exchange::CallbackExchange;
use super::exchanges::CallbackExchanges;
use super::tunnel::CallbackTunnel;
use super::{Callbacks, ConnectionHandle, Pause, StreamHandle};
use crate::connection_info::{Addresses, ConnectionInfo};
use crate::driver::signals::Signals;
use crate::server::exchange::serve::{RawConnection, Serve};
use crate::server::observe::handshake_failure::HandshakeFailure;
use crate::server::response::{AnswerOptions, RequestFacts};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The source of the exchanges of a server with callbacks.
#[derive(Clone)]
pub(in crate::server) struct CallbackServer<A> {
    callbacks: A,
    extra: Arc<AnswerOptions>,
}

impl<A> CallbackServer<A> {
    pub(in crate::server) fn new(callbacks: A, extra: &Arc<AnswerOptions>) -> Self {
        let extra = Arc::clone(extra);
        Self { callbacks, extra }
    }
}

impl<A: Callbacks> Serve for CallbackServer<A> {
    type Exchanges = CallbackExchanges<A>;

    fn exchanges(&self, signals: &Arc<Signals>, _: bool) -> CallbackExchanges<A> {
        let commands = ConnectionHandle::new(signals, &self.extra);
        CallbackExchanges::new(self.callbacks.clone(), commands, signals)
    }
    fn pause(&self) -> Option<Pause> {
        self.callbacks.pause()
    }
    fn leaves_connection(&self) -> bool {
        self.callbacks.leaves_connection()
    }
    fn lag(&self, now: Instant) -> Duration {
        self.callbacks.lag(now)
    }
    fn handshake_failed(&self, addresses: Option<Addresses>, failure: &HandshakeFailure) {
        self.callbacks.handshake_failed(addresses, failure);
    }
    fn take_upgraded(
        &self,
        left: RawConnection,
        info: Option<ConnectionInfo>,
        signals: &Arc<Signals>,
    ) {
        let commands = ConnectionHandle::new(signals, &self.extra);
        let facts = RequestFacts {
            stream: left.stream,
            head: false,
            connect: false,
        };
        let handle = StreamHandle {
            slot: 0,
            facts,
            early: false,
            http10: false,
        };
        let callbacks = &self.callbacks;
        let taken = callbacks.unnegotiated(commands.clone(), handle, info.as_ref());
        if let Some((connection, exchange)) = taken {
            let (callbacks, signals) = (callbacks.clone(), Arc::clone(signals));
            let entry = CallbackExchange::new(handle, exchange, (false, Instant::now()));
            let tunnel =
                CallbackTunnel::new(callbacks, Some(connection), entry, left, commands, signals);
            tokio::task::spawn_local(tunnel);
        }
    }
}
