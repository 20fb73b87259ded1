//! A server whose sockets are open, and the two ways to serve on it: workers of its own for a tower
//! service, or the caller's thread for an attendant.

use super::accept::{Ground, Shown};
use super::attendant::Attendant;
use super::attended::Attended;
use super::metrics::{self, Counters, Metrics};
use super::quic::Seat;
use super::respond::Extra;
use super::serve::Serve;
use super::worker::{self, Command};
use super::{Running, WorkerHandle};
use crate::error::Error;
use crate::tls::Tls;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use trunkline_core::credit::Lender;
use trunkline_core::limits::Config;

/// Open sockets, on which nobody is accepted yet. It goes to the thread that is to serve.
pub struct Listening {
    pub(super) listeners: Vec<TcpListener>,
    pub(super) seats: Vec<Seat>,
    pub(super) tls: Option<Tls>,
    pub(super) config: Arc<Config>,
    pub(super) connections_max: usize,
    pub(super) shown: Shown,
    pub(super) extra: Arc<Extra>,
    pub(super) lender: Arc<Lender>,
}

impl Listening {
    /// Where it listens, with the port that was chosen.
    pub fn local_addr(&self) -> SocketAddr {
        self.shown.local_addr
    }
    /// Serves on the calling thread: the future is to be run in a [`tokio::task::LocalSet`], whose
    /// thread `attendant` is called on. It ends when [`Attending`] is dropped, or has drained.
    /// One worker serves, whatever [`Server::workers`](super::Server::workers) says.
    pub fn attend<A: Attendant>(
        mut self,
        attendant: A,
    ) -> (Attending, impl Future<Output = ()> + 'static) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let service = Attended::new(attendant, &self.extra);
        let (listener, seat) = (self.listeners.pop(), self.seats.pop());
        let ground = self.ground(service);
        let attending = Attending {
            commands,
            counters: Arc::clone(&ground.counters),
        };
        let connections_max = self.connections_max;
        let serving = async move {
            if let Some(listener) = listener {
                worker::serve_here(listener, seat, ground, connections_max, receiver).await;
            }
        };
        (attending, serving)
    }
    /// Starts a thread for each listener.
    pub(super) fn serve<S: Serve + Send>(mut self, service: S) -> Result<Running, Error> {
        let listeners = std::mem::take(&mut self.listeners);
        let mut seats = std::mem::take(&mut self.seats).into_iter();
        let mut workers = Vec::with_capacity(listeners.len());
        let mut counters = Vec::with_capacity(listeners.len());
        for (number, listener) in listeners.into_iter().enumerate() {
            let ground = self.ground(service.clone());
            let seat = seats.next();
            counters.push(Arc::clone(&ground.counters));
            let (commands, receiver) = mpsc::unbounded_channel();
            let connections_max = self.connections_max;
            let thread = thread::Builder::new()
                .name(format!("trunkline-{number}"))
                .spawn(move || worker::run(listener, seat, ground, connections_max, receiver))
                .map_err(|error| Error::config("no thread can be started").with_source(error))?;
            workers.push(WorkerHandle {
                commands: Some(commands),
                thread: Some(thread),
            });
        }
        Ok(Running {
            local_addr: self.local_addr(),
            workers,
            counters,
        })
    }
    fn ground<S>(&self, service: S) -> Ground<S> {
        Ground {
            service,
            tls: self.tls.clone(),
            config: Arc::clone(&self.config),
            counters: Arc::new(Counters::default()),
            lender: Arc::clone(&self.lender),
            shown: self.shown.clone(),
            extra: Arc::clone(&self.extra),
        }
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening")
            .field("local_addr", &self.local_addr())
            .finish_non_exhaustive()
    }
}

/// An attended server. Dropping it stops it at once.
#[derive(Debug)]
pub struct Attending {
    commands: mpsc::UnboundedSender<Command>,
    counters: Arc<Counters>,
}

impl Attending {
    /// Stops accepting, tells every peer (GOAWAY twice, `connection: close`), lets open exchanges
    /// finish until `deadline`, then cuts what is left. The server's future ends then.
    pub fn drain(&self, deadline: Duration) {
        let (cut, _) = oneshot::channel();
        // A server that has ended has nothing to drain.
        let _ = self.commands.send(Command::Drain { deadline, cut });
    }
    /// What it has counted so far.
    pub fn metrics(&self) -> Metrics {
        metrics::sum(std::slice::from_ref(&self.counters))
    }
}
