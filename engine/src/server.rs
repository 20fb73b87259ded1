//! The server: any tower service on HTTP/1.1 and HTTP/2, cleartext and TLS, on one port.

mod accept;
mod connection;
mod date;
mod exchange;
mod metrics;
mod request;
mod respond;
mod service;
mod worker;

pub use metrics::Metrics;
pub use service::HttpService;

use crate::config::ServerConfig;
use crate::error::Error;
use crate::net::listen::listeners;
use crate::tls::Tls;
use accept::Ground;
use metrics::Counters;
use std::fmt;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use trunkline_core::credit::Lender;
use worker::Command;

/// A server to be: an address and settings.
///
/// ```no_run
/// # async fn example<S: trunkline::HttpService>(service: S) -> Result<(), trunkline::Error> {
/// use trunkline::{Server, Tls};
///
/// let running = Server::bind("0.0.0.0:8443")
///     .tls(Tls::self_signed(["localhost"])?)
///     .serve(service)?;
/// println!("listening on {}", running.local_addr());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    address: Result<SocketAddr, Error>,
    tls: Option<Tls>,
    workers: usize,
    config: ServerConfig,
}

impl Server {
    /// A server for `address`; port 0 takes a free one. Cleartext, one worker, default settings.
    /// An address that cannot be resolved is the error of [`serve`](Self::serve).
    pub fn bind(address: impl ToSocketAddrs + fmt::Debug) -> Self {
        let shown = format!("{address:?}");
        let address = match address.to_socket_addrs().map(|mut found| found.next()) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(Error::config(format!("{shown} has no address"))),
            Err(error) => Err(Error::config(format!(
                "{shown} is not an address; write host:port, for example 127.0.0.1:8080"
            ))
            .with_source(error)),
        };
        Self {
            address,
            tls: None,
            workers: 1,
            config: ServerConfig::default(),
        }
    }
    /// Serves under TLS.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }
    /// How many threads serve, each with its own listener on the port. Default 1; 0 means one per
    /// processor.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = match workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        self
    }
    /// Takes other settings than the default.
    #[must_use]
    pub fn config(mut self, config: ServerConfig) -> Self {
        self.config = config;
        self
    }
    /// Starts the workers. Each gets a clone of `service`.
    ///
    /// # Errors
    /// When the address cannot be listened on or a setting is out of its range.
    pub fn serve<S: HttpService>(mut self, service: S) -> Result<Running, Error> {
        let address = std::mem::replace(&mut self.address, Err(Error::config("address taken")))?;
        let listeners = listeners(address, self.workers, self.config.backlog)?;
        self.start(listeners, service)
    }
    /// Starts the workers on a socket that listens already; they share it.
    ///
    /// # Errors
    /// When the socket cannot be used or a setting is out of its range.
    pub fn serve_on<S: HttpService>(
        self,
        listener: TcpListener,
        service: S,
    ) -> Result<Running, Error> {
        let unusable =
            |error| Error::config("the listening socket cannot be used").with_source(error);
        listener.set_nonblocking(true).map_err(unusable)?;
        let mut listeners = Vec::with_capacity(self.workers);
        for _ in 1..self.workers {
            listeners.push(listener.try_clone().map_err(unusable)?);
        }
        listeners.push(listener);
        self.start(listeners, service)
    }
    fn start<S: HttpService>(
        self,
        listeners: Vec<TcpListener>,
        service: S,
    ) -> Result<Running, Error> {
        let config = self.config.freeze()?;
        let local_addr = listeners
            .first()
            .ok_or_else(|| Error::config("workers is 0; it must be at least 1"))?
            .local_addr()
            .map_err(|error| Error::config("the socket has no address").with_source(error))?;
        let lender = Arc::new(Lender::new(config.windows.memory_budget));
        let mut workers = Vec::with_capacity(listeners.len());
        let mut counters = Vec::with_capacity(listeners.len());
        for (number, listener) in listeners.into_iter().enumerate() {
            let ground = Ground {
                service: service.clone(),
                tls: self.tls.clone(),
                config: Arc::clone(&config),
                counters: Arc::new(Counters::default()),
                lender: Arc::clone(&lender),
                date: self.config.date,
            };
            counters.push(Arc::clone(&ground.counters));
            let (commands, receiver) = mpsc::unbounded_channel();
            let connections_max = self.config.connections_max;
            let thread = thread::Builder::new()
                .name(format!("trunkline-{number}"))
                .spawn(move || worker::run(listener, ground, connections_max, receiver))
                .map_err(|error| Error::config("no thread can be started").with_source(error))?;
            workers.push(WorkerHandle {
                commands: Some(commands),
                thread: Some(thread),
            });
        }
        Ok(Running {
            local_addr,
            workers,
            counters,
        })
    }
}

/// A server that serves. Dropping it stops it at once, as [`shutdown`](Self::shutdown) does.
#[derive(Debug)]
pub struct Running {
    local_addr: SocketAddr,
    workers: Vec<WorkerHandle>,
    counters: Vec<Arc<Counters>>,
}

/// What a drain had to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Exchanges that had not finished at the deadline.
    pub cut: u64,
}

#[derive(Debug)]
struct WorkerHandle {
    commands: Option<mpsc::UnboundedSender<Command>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    /// Where it listens, with the port that was chosen.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }
    /// What it has counted so far.
    pub fn metrics(&self) -> Metrics {
        metrics::sum(&self.counters)
    }
    /// Stops accepting, tells every peer (GOAWAY twice, `connection: close`), lets open exchanges
    /// finish until `deadline`, then cuts what is left.
    pub async fn drain(mut self, deadline: Duration) -> Drained {
        let mut answers = Vec::with_capacity(self.workers.len());
        for worker in &self.workers {
            if let Some(commands) = &worker.commands {
                let (cut, answer) = oneshot::channel();
                // A worker that is gone has nothing to cut.
                if commands.send(Command::Drain { deadline, cut }).is_ok() {
                    answers.push(answer);
                }
            }
        }
        let mut cut = 0;
        for answer in answers {
            cut += answer.await.unwrap_or(0);
        }
        self.stop();
        Drained { cut }
    }
    /// Stops at once: every connection is closed as it is.
    pub fn shutdown(mut self) {
        self.stop();
    }
    /// Blocks this thread until the server stops, which only a failure makes it do.
    pub fn join(mut self) {
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                // A worker that panicked said so itself.
                let _ = thread.join();
            }
        }
    }
    fn stop(&mut self) {
        for worker in &mut self.workers {
            worker.commands = None;
        }
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}
