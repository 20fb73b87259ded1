//! A second worker of a server with callbacks, on another thread: it has the server's settings, counts, places and budgets,
//! and gets connections from the first, which alone has the listening socket. The UDP socket of HTTP/3 is the second's.

use super::listening::{BoundServer, unusable};
use crate::error::Error;
use crate::net::listener::Listener;
use crate::server::callbacks::Callbacks;
use crate::server::callbacks::serve::CallbackServer;
use crate::server::no_worker;
use crate::server::observe::counters::Counters;
use crate::server::registry::places::ConnectionPlaces;
use crate::server::registry::shedding::AddressRates;
use crate::server::worker::quic::QuicSetup;
use crate::server::worker::second::{Second, SecondLink};
use crate::server::worker::{self, WorkerCommand, WorkerConfig};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::sync::mpsc;

/// A worker that has not started; see [`BoundServer::second_worker`]. Where it is dropped the first serves all, HTTP/3 included.
pub struct SecondWorker {
    worker_config: WorkerConfig<()>,
    queue: Queue,
    serves: Arc<AtomicBool>,
}

/// The commands of a worker that has not started, and its HTTP/3.
struct Queue {
    commands: Option<mpsc::UnboundedReceiver<WorkerCommand>>,
    setup: Option<QuicSetup>,
    first: Option<mpsc::WeakUnboundedSender<WorkerCommand>>,
}

impl Drop for Queue {
    /// Gives connections and HTTP/3 back.
    fn drop(&mut self) {
        let first = self
            .first
            .as_ref()
            .and_then(mpsc::WeakUnboundedSender::upgrade);
        let Some((mut commands, first)) = self.commands.take().zip(first) else {
            return;
        };
        commands.close();
        if let Some(setup) = self.setup.take() {
            let _ = first.send(WorkerCommand::ServeQuic(Box::new(setup)));
        }
        while let Ok(command) = commands.try_recv() {
            if matches!(command, WorkerCommand::Leave(_)) {
                // A server that has ended closes it.
                let _ = first.send(command);
            }
        }
    }
}

impl<A> BoundServer<A> {
    /// A second worker, for another thread, before [`serve_callbacks`](Self::serve_callbacks). It gets the
    /// connections over TCP and Unix sockets of which [`Callbacks::leaves_connection`] says so: they wait until it serves. Both are one server: one
    /// [`ServerHandle`](super::listening::ServerHandle) commands them, bounds and budgets are for both together, and so are counts and
    /// lists. All of HTTP/3 is the second's, whose packets wait until it serves; streams that are given stay with the first.
    pub fn second_worker(&mut self) -> SecondWorker {
        let (commands, receiver) = mpsc::unbounded_channel();
        let setup = self.setups.pop();
        let second = SecondLink {
            commands,
            has_left: Cell::new(false),
            serves: Arc::default(),
            has_quic: setup.is_some(),
        };
        let (counters, places) = (
            Arc::<Counters>::default(),
            ConnectionPlaces::new(self.allowed),
        );
        let address_rates = AddressRates::new(Instant::now());
        let worker_config = WorkerConfig {
            listener: Listener::None,
            setup: None,
            shared: self.shared(Arc::clone(&counters), &places, ()),
            places: Arc::clone(&places),
            shedding: self.shedding.clone(),
            address_rates: Arc::clone(&address_rates),
            second: None,
        };
        let serves = Arc::clone(&second.serves);
        self.second = Some(Second {
            link: second,
            counters,
            places,
            address_rates,
        });
        let first = self.commands.last().map(|(first, _)| first.downgrade());
        let queue = Queue {
            commands: Some(receiver),
            setup,
            first,
        };
        SecondWorker {
            worker_config,
            queue,
            serves,
        }
    }
}

impl SecondWorker {
    /// Serves on the calling thread, as [`BoundServer::serve_callbacks`] does: the future ends with the server.
    ///
    /// # Errors
    /// The future's: when the runtime cannot use the UDP socket.
    pub fn serve_callbacks<T: Callbacks>(
        self,
        callbacks: T,
    ) -> impl Future<Output = Result<(), Error>> + use<T> {
        let Self {
            worker_config,
            mut queue,
            serves,
        } = self;
        let commands = queue.commands.take();
        let WorkerConfig {
            listener,
            setup: _,
            shared,
            places,
            shedding,
            address_rates,
            second,
        } = worker_config;
        let service = CallbackServer::new(callbacks, &shared.extra);
        let worker_config = WorkerConfig {
            listener,
            setup: queue.setup.take(),
            shared: shared.serving(service),
            places,
            shedding,
            address_rates,
            second,
        };
        async move {
            let commands = commands.ok_or_else(no_worker)?;
            serves.store(true, Ordering::Release);
            let served = worker::serve_here(worker_config, commands).await;
            served.map_err(unusable)
        }
    }
}

impl fmt::Debug for SecondWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecondWorker").finish_non_exhaustive()
    }
}
