//! The server: any tower service on HTTP/1.1 and HTTP/2, cleartext and TLS, and on HTTP/3, on one
//! port.

mod accept;
mod access;
mod attendant;
mod attended;
mod attended_entry;
mod attended_serve;
mod attended_tunnel;
mod connection;
mod date;
mod early;
mod exchange;
mod handshake_failure;
mod heads;
mod interim;
mod last_answer;
mod listening;
mod metrics;
mod number;
mod quic;
mod quic_connection;
mod request;
mod respond;
mod said;
mod scratch;
mod secure;
mod serve;
mod service;
mod serving;
mod view;
mod worker;

pub use access::Access;
pub use attendant::{Answer, Attendant, Ended, Given, Line, Pause, Place};
pub use early::EarlyData;
pub use handshake_failure::HandshakeFailure;
pub use interim::InterimSender;
pub use listening::{Attending, Listening};
pub use metrics::Metrics;
pub use said::{Heard, Said};
pub use service::HttpService;

use crate::config::{Congestion, ServerConfig};
use crate::driver::quic::config::QuicSettings;
use crate::driver::quic::secret::Secret;
use crate::error::Error;
use crate::net::listen::{listeners, udp_sockets};
use crate::tls::Tls;
use accept::{Cleartext, Shown};
use access::AccessLog;
use exchange::Tower;
use metrics::Counters;
use respond::Extra;
use std::fmt;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
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
    http3: bool,
    shares_port: bool,
    access_log: Option<AccessLog>,
    quic_secret: Result<Option<Secret>, Error>,
    quic: QuicSettings,
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
            http3: false,
            shares_port: false,
            access_log: None,
            quic_secret: Ok(None),
            quic: QuicSettings::default(),
            config: ServerConfig::default(),
        }
    }
    /// Serves under TLS.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }
    /// Whether HTTP/3 is served too, over UDP on the same port; HTTP/1.1 and HTTP/2 then say so
    /// (`alt-svc`, RFC 7838), unless the handler says something else. Needs [`tls`](Self::tls).
    /// Default: false.
    #[must_use]
    pub fn http3(mut self, http3: bool) -> Self {
        self.http3 = http3;
        self
    }
    /// What the keys of HTTP/3's stateless resets, tokens and connection ids are derived from: at
    /// least 32 bytes that nobody else knows. A server that starts again with the same secret and
    /// as many workers tells the clients of the one before it at once that their connections are
    /// gone (RFC 9000 section 10.3); otherwise they wait until they give up. Default: a random
    /// secret for each start.
    #[must_use]
    pub fn quic_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.quic_secret = Secret::new(secret.as_ref()).map(Some);
        self
    }
    /// Who decides how much HTTP/3 sends at once. Default: [`Congestion::Cubic`].
    #[must_use]
    pub fn quic_congestion(mut self, congestion: Congestion) -> Self {
        self.quic.congestion = congestion;
        self
    }
    /// Whether HTTP/3 takes requests that come with the handshake of a resumed session (0-RTT,
    /// RFC 8446 section 2.3), a round trip earlier. Whoever recorded such a request may send it
    /// again, within the bounds of what this server remembers of sessions: a session is resumed
    /// once. So GET, HEAD and OPTIONS alone reach their handlers, with [`EarlyData`] among their
    /// extensions (an attendant is told by [`Place::is_early`]); everything else is answered with
    /// 425 (RFC 8470 section 5.2), upon which clients send it again after the handshake. Default:
    /// false.
    #[must_use]
    pub fn early_data(mut self, early_data: bool) -> Self {
        self.quic.early_data = early_data;
        self
    }
    /// Writes what becomes of HTTP/3's packets to this file (qlog), which is emptied first. Each
    /// packet costs some microseconds more: for debugging.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    #[cfg(feature = "qlog")]
    pub fn qlog(mut self, path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        self.quic.qlog = Some(crate::driver::quic::qlog::Qlog::create(path.as_ref())?);
        Ok(self)
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
    /// Whether other processes and other servers of this one may listen on the same port, each with
    /// a share of the connections (SO_REUSEPORT; on Unix). HTTP/3 then finds only the connections
    /// that the kernel gives to each. Default: false, and a port that is in use is an error.
    #[must_use]
    pub fn shares_port(mut self, shares_port: bool) -> Self {
        self.shares_port = shares_port;
        self
    }
    /// Calls `log` when an exchange is over, answered or not, on the thread that served it: it
    /// must not block. Not with [`Listening::attend`], which refuses it. Default: nobody is told.
    #[must_use]
    pub fn access_log(mut self, log: impl Fn(&Access<'_>) + Send + Sync + 'static) -> Self {
        self.access_log = Some(AccessLog::new(log));
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
    pub fn serve<S: HttpService>(self, service: S) -> Result<Running, Error> {
        self.listen()?.serve(Tower(service))
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
        let udp = match self.http3 {
            true => udp_sockets(local_addr(&listeners)?, self.workers, self.shares_port)?,
            false => Vec::new(),
        };
        self.ready(listeners, udp)?.serve(Tower(service))
    }
    /// Opens the sockets and accepts nobody yet: for [`Listening::attend`].
    ///
    /// # Errors
    /// When the address cannot be listened on or a setting is out of its range.
    pub fn listen(mut self) -> Result<Listening, Error> {
        let address = std::mem::replace(&mut self.address, Err(Error::config("address taken")))?;
        let (count, shares) = (self.workers, self.shares_port);
        let mut tries = PORT_TRIES_MAX;
        loop {
            let listeners = listeners(address, count, self.config.backlog, shares)?;
            let udp = match self.http3 {
                true => udp_sockets(local_addr(&listeners)?, count, shares),
                false => Ok(Vec::new()),
            };
            tries -= 1;
            match udp {
                Ok(udp) => return self.ready(listeners, udp),
                // A port that is free for TCP need not be for UDP; nobody asked for this one.
                Err(_) if address.port() == 0 && tries > 0 => {}
                Err(error) => return Err(error),
            }
        }
    }
    /// What the workers need, with the sockets open.
    fn ready(self, listeners: Vec<TcpListener>, udp: Vec<UdpSocket>) -> Result<Listening, Error> {
        let (http1_config, config) = self.config.freeze_both()?;
        let local_addr = local_addr(&listeners)?;
        let seats = match (&self.tls, self.http3) {
            (_, false) => Vec::new(),
            (Some(tls), true) if tls.chooser().is_some() => {
                return Err(Error::config(
                    "http3 is on with a Tls that chooses; over QUIC nobody can wait for a choice: \
                     leave http3 out, or give the certificates of names to Tls::set_pem_for",
                ));
            }
            (Some(tls), true) => {
                let secret = match self.quic_secret? {
                    Some(given) => given,
                    None => Secret::random()?,
                };
                quic::seats(udp, tls, &config, &secret, &self.quic)?
            }
            (None, true) => {
                return Err(Error::config(
                    "http3 is on without a certificate; HTTP/3 is always under TLS",
                ));
            }
        };
        let port = local_addr.port();
        let alt_svc = format!("h3=\":{port}\"; ma={ALT_SVC_SECONDS}");
        let judge = self.tls.as_ref().and_then(Tls::judge).cloned();
        Ok(Listening {
            listeners,
            seats,
            tls: self.tls,
            connections_max: self.config.connections_max,
            shown: Shown {
                info: self.config.connection_info,
                sni_is_binding: self.config.sni_is_binding,
                log: self.access_log,
                local_addr,
                judge,
            },
            cleartext: Cleartext {
                http1: self.config.http1,
                http2: self.config.http2,
            },
            extra: Arc::new(Extra {
                date: self.config.date,
                interim: self.config.interim_responses,
                datagrams: self.config.datagrams,
                alt_svc: self.http3.then(|| Arc::from(alt_svc)),
            }),
            lender: Arc::new(Lender::new(config.windows.memory_budget)),
            config,
            http1_config,
        })
    }
}

/// Where the first listener is bound.
fn local_addr(listeners: &[TcpListener]) -> Result<SocketAddr, Error> {
    listeners
        .first()
        .ok_or_else(no_worker)?
        .local_addr()
        .map_err(|error| Error::config("the socket has no address").with_source(error))
}

fn no_worker() -> Error {
    Error::config("workers is 0; it must be at least 1")
}

/// How long a client may remember that HTTP/3 is served: a day, the default of RFC 7838 section
/// 3.1.
const ALT_SVC_SECONDS: u32 = 86_400;
/// Ports tried for port 0 until one is free for TCP and UDP.
const PORT_TRIES_MAX: u32 = 16;

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
