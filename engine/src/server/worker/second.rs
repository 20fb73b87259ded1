//! The first worker's way to the second one of its server (`bind/second.rs`).

use super::spawn::SpawnConnections;
use super::{Worker, WorkerCommand};
use crate::net::listener::AcceptedSocket;
use crate::server::observe::counters::Counters;
use crate::server::registry::places::{ConnectionPlace, ConnectionPlaces};
use crate::server::registry::shedding::AddressRates;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use trunkline_core::limits::Config;

/// The part of a second worker that its server has, until it serves.
pub(in crate::server) struct Second {
    pub(in crate::server) link: SecondLink,
    pub(in crate::server) counters: Arc<Counters>,
    pub(in crate::server) places: Arc<ConnectionPlaces>,
    pub(in crate::server) address_rates: Arc<AddressRates>,
}

/// The first worker's way to the second.
#[derive(Clone, Debug)]
pub(in crate::server) struct SecondLink {
    pub(in crate::server) commands: mpsc::UnboundedSender<WorkerCommand>,
    /// A connection was left to it.
    pub(in crate::server) has_left: Cell<bool>,
    /// It has started.
    pub(in crate::server) serves: Arc<AtomicBool>,
    /// The server's HTTP/3 is its own.
    pub(in crate::server) has_quic: bool,
}

/// A connection for the second worker, which has its place.
pub(in crate::server) struct LeftConnection {
    pub(in crate::server) socket: AcceptedSocket,
    pub(in crate::server) place: ConnectionPlace,
}

impl SecondLink {
    /// Leaves a connection to it; back comes one for which it ended too early.
    pub(in crate::server) fn leave(&self, left: LeftConnection) -> Option<LeftConnection> {
        self.has_left.set(true);
        match self.commands.send(WorkerCommand::Leave(left)) {
            Err(mpsc::error::SendError(WorkerCommand::Leave(left))) => Some(left),
            _ => None,
        }
    }
    /// One of its connections that are idle is to give its place up.
    pub(in crate::server) fn make_room(&self) {
        // One that has ended has taken none.
        let _ = self.commands.send(WorkerCommand::MakeRoom);
    }
    pub(in crate::server) fn configure(&self, http1: &Arc<Config>, others: &Arc<Config>) {
        let (http1, others) = (Arc::clone(http1), Arc::clone(others));
        // One that has ended takes no connection.
        let _ = self
            .commands
            .send(WorkerCommand::Configure { http1, others });
    }
    /// Behind the connections that were left to it.
    pub(in crate::server) fn drain(&self, deadline: Duration) {
        let (cut, _) = oneshot::channel();
        // One that has ended has nothing to drain.
        let _ = self.commands.send(WorkerCommand::Drain { deadline, cut });
    }
    /// The way to it, where it has a socket that another process may take over.
    #[cfg(unix)]
    pub(in crate::server) fn with_socket(&self) -> Option<&mpsc::UnboundedSender<WorkerCommand>> {
        (self.has_quic && !self.commands.is_closed()).then_some(&self.commands)
    }
    /// Waits until it has drained; one to which nothing was left need not start for that.
    pub(in crate::server) async fn ended(&self) {
        if self.has_left.get() || self.has_quic {
            self.commands.closed().await;
        }
    }
}

impl<S: SpawnConnections> Worker<S> {
    /// Connections that begin have these settings, with either worker.
    pub(super) fn configure(&mut self, http1: Arc<Config>, others: Arc<Config>) {
        if let Some(second) = &self.second {
            second.configure(&http1, &others);
        }
        self.shared.http1_config = http1;
        self.shared.config = others;
    }
    /// Waits until the second worker has drained; its deadlines may become earlier meanwhile.
    pub(super) async fn await_second(&self, commands: &mut mpsc::UnboundedReceiver<WorkerCommand>) {
        let Some(second) = &self.second else {
            return;
        };
        loop {
            tokio::select! {
                () = second.ended() => return,
                command = commands.recv() => match command {
                    Some(WorkerCommand::Drain { deadline, .. }) => second.drain(deadline),
                    Some(WorkerCommand::Inspect { limits, reply, list }) => {
                        self.inspect(limits, &reply, list);
                    }
                    // No connection begins any more.
                    Some(_) => {}
                    // The waiting side is gone, and the second worker ends with this one.
                    None => return,
                },
            }
        }
    }
}
