//! The server: any tower service on HTTP/1.1, HTTP/2 and HTTP/3 on one port, in cleartext and under
//! TLS; the first two on a Unix socket too.

mod bind;
mod callbacks;
mod connection;
mod exchange;
mod memory_budget;
mod observe;
mod registry;
mod response;
mod tower;
mod worker;

#[cfg(unix)]
pub use crate::connection_info::unix::UnixPeer;
pub use crate::driver::machine::inspection::InspectLimits;
pub use crate::error::timelines::{KeptTimeline, TIMELINE_BYTES_MAX, TIMELINES_MAX};
pub use crate::metrics::exposition::OPENMETRICS_TYPE;
pub use crate::metrics::histogram::Histogram;
pub use bind::config_handle::ConfigHandle;
pub use bind::detached::{Detached, Streams};
#[cfg(unix)]
pub use bind::hand_over::Sockets;
#[cfg(unix)]
pub use bind::hand_over::upgrade::{PreviousServer, SuccessorListener};
pub use bind::inspector::Inspector;
pub use bind::listening::{BoundServer, ServerHandle};
pub use bind::port::Port;
pub use bind::running::{Drained, Running};
pub use bind::second::SecondWorker;
pub use bind::start::{ServeBuilder, serve};
pub use bind::target::{IntoListener, ListenTarget};
#[cfg(unix)]
pub use bind::unix::UnixSocket;
pub use callbacks::{Answer, Callbacks, ConnectionHandle, Ended, ResponseBody, StreamHandle};
pub use exchange::control::{ControlCommand, PeerEvent};
pub use exchange::forwarding::Forwarding;
pub use exchange::serve::Pause;
pub use memory_budget::MemoryBudget;
pub use observe::access::Access;
pub use observe::counters::MetricsReader;
pub use observe::handshake_failure::HandshakeFailure;
pub use observe::handshake_log::FailedHandshake;
pub use observe::inspect::{ConnectionStage, ServerConnection, ServerSnapshot};
pub use observe::metrics::{InUse, Metrics, VersionMetrics};
pub use tower::extensions::EarlyData;
pub use tower::interim::InterimSender;
pub use tower::on_runtime::{OnRuntime, RuntimeBody, RuntimeCall, on_runtime};
pub use tower::per_connection::{Handlers, IntoHandlers, OfConnections, OfRequests, PerConnection};
pub use tower::service::{HttpService, MakeTaskService, Peer, TaskService};
pub use tower::service_fn::{ServiceFn, service_fn};
pub use trunkline_core::proxy::ForwardedClient;

use crate::config::ServerConfig;
#[cfg(feature = "qlog")]
use crate::driver::machine::qlog::Qlog;
use crate::error::Error;
use crate::net::address_list::TrustedPeers;
use crate::net::listener::Listener;
use crate::tls::Tls;
use connection::accept::{Cleartext, WorkerContext};
use exchange::info_policy::InfoPolicy;
use exchange::targets::Targets;
use observe::access::AccessLog;
use observe::handshake_log::HandshakeLog;
use observe::timeline::TimelineKeeper;
use registry::Allowed;
use response::AnswerOptions;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;
use trunkline_core::limits::Config;
use trunkline_core::min_rate::Scarcity;
use worker::quic::{Quic, QuicSetup};

/// A server to be: where it listens, and settings.
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
#[must_use]
pub struct Server<P = Port> {
    target: P,
    tls: Option<Tls>,
    workers: usize,
    /// The part that is set by functions of its own; [`ready`](Server::ready) adds the other.
    info_policy: InfoPolicy,
    memory: Option<MemoryBudget>,
    config: ServerConfig,
}

/// Settings of every server, wherever it listens.
impl<P> Server<P> {
    /// Cleartext, default settings.
    fn at(target: P) -> Self {
        Self {
            target,
            tls: None,
            workers: processors(),
            info_policy: InfoPolicy::default(),
            memory: None,
            config: ServerConfig::default(),
        }
    }
    /// Serves under TLS.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }
    /// How many threads serve: on a port each with its own listener, else they share one. Default 0:
    /// one per processor.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = match workers {
            0 => processors(),
            some => some,
        };
        self
    }
    /// Calls `log` when an exchange is over, answered or not, on the thread that served it: it must
    /// not block. Not with [`BoundServer::serve_callbacks`], which refuses it. Default: no log.
    pub fn access_log(mut self, log: impl Fn(&Access<'_>) + Send + Sync + 'static) -> Self {
        self.info_policy.log = Some(AccessLog::new(log));
        self
    }
    /// Calls `log` when the TLS or QUIC handshake of a client fails, on the thread that served it: it
    /// must not block. No access log has a line for such a client, because it has sent no request. An
    /// server with callbacks has [`Callbacks::handshake_failed`] over TCP beside it. Default: none.
    pub fn handshake_log(
        mut self,
        log: impl Fn(&FailedHandshake<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.info_policy.handshake_log = Some(HandshakeLog::new(log));
        self
    }
    /// Gives an event of `tracing` for each finished exchange and failed handshake, with the target
    /// `trunkline::server` and OpenTelemetry's names of fields: level INFO, and WARN for an exchange that was
    /// broken off. Takes the place of [`access_log`](Self::access_log) and
    /// [`handshake_log`](Self::handshake_log).
    #[cfg(feature = "tracing")]
    pub fn traced(self) -> Self {
        self.access_log(observe::trace::access)
            .handshake_log(observe::trace::failed_handshake)
    }
    /// Connections over TCP from these peers, load balancers and proxies, begin with a header of the PROXY protocol,
    /// version 1 or 2: its addresses are those of the connection for handlers, logs and the bounds per address. A connection of
    /// theirs without one is closed, and passed to [`handshake_log`](Self::handshake_log); it has
    /// [`Timeouts::handshake`](crate::Timeouts::handshake) for it. Connections from all other addresses have none, and one
    /// that they send all the same is no HTTP. On a Unix socket every connection begins with one. Not for HTTP/3.
    /// Default: none.
    pub fn proxy_protocol(mut self, from: TrustedPeers) -> Self {
        self.info_policy.proxies = Some(from);
        self
    }
    /// Requests on connections from these peers, proxies, state their client in fields: it is a [`ForwardedClient`] among their
    /// extensions, and in [`Access::forwarded`](crate::server::Access::forwarded). From all others the fields say nothing. The bounds per address
    /// count the connection's. Not with callbacks. Default: none.
    pub fn forwarding(mut self, forwarding: Forwarding) -> Self {
        self.info_policy.forwarding = Some(forwarding);
        self
    }
    /// Keeps the target of each request while its handler runs, so that [`Inspector::inspect`] lists it; an access log keeps
    /// it too. Not with callbacks. Default: false.
    pub fn keep_targets(mut self, keep: bool) -> Self {
        self.info_policy.keeps_targets = keep;
        self
    }
    /// Keeps the timelines of requests that fail, or take `slow` or longer, the last [`TIMELINES_MAX`]: their target, when they
    /// were answered, every wait with its reason, and how they ended. [`Inspector::timelines`] lists them, and so does the admin page. It
    /// costs an allocation or two for each request. Default: none is kept.
    pub fn keep_timelines(mut self, slow: Duration) -> Self {
        self.info_policy.timelines = Some(TimelineKeeper::new(slow, true));
        self
    }
    /// As [`keep_timelines`](Self::keep_timelines), from the moment that [`Inspector::keep_timelines`] asks for them: until then a request costs
    /// a look at a flag.
    pub fn offer_timelines(mut self, slow: Duration) -> Self {
        self.info_policy.timelines = Some(TimelineKeeper::new(slow, false));
        self
    }
    /// Writes what becomes of HTTP/3's packets, and the frames of HTTP/2 and HTTP/3, to this file, which is emptied
    /// first (qlog; qvis opens it as `.sqlog`). Servers of a process may share one. Connections have a group each. Values of `authorization`, `cookie` and
    /// the like are left out; those of other fields are not. A new file is its owner's alone (Unix). The file ends at 256 MiB. Each packet and frame costs
    /// some microseconds more: for debugging.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    #[cfg(feature = "qlog")]
    pub fn qlog(mut self, path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        self.info_policy.qlog = Some(Qlog::of_server(path.as_ref())?);
        Ok(self)
    }
    /// Shares the memory of its connections with other servers of the process, in place of a budget of its own by
    /// [`ServerConfig::windows`](crate::ServerConfig::windows).
    pub fn memory_budget(mut self, budget: &MemoryBudget) -> Self {
        self.memory = Some(budget.clone());
        self
    }
    /// Takes other settings than the default.
    pub fn config(mut self, config: ServerConfig) -> Self {
        self.config = config;
        self
    }
    /// The listening address, and the rest.
    fn parted(self) -> (P, Server<()>) {
        let rest = Server {
            target: (),
            tls: self.tls,
            workers: self.workers,
            info_policy: self.info_policy,
            memory: self.memory,
            config: self.config,
        };
        (self.target, rest)
    }
}

impl Server<()> {
    /// The address of HTTP/3 and the settings of its workers, where it is served.
    fn quic_setups(
        &self,
        quic: Option<Quic>,
        config: &Config,
    ) -> Result<(Option<SocketAddr>, Vec<QuicSetup>), Error> {
        match (quic, &self.tls) {
            (None, _) => Ok((None, Vec::new())),
            (Some(_), Some(tls)) if tls.chooser().is_some() => Err(Error::config(
                "http3 is on with a Tls that chooses; over QUIC nobody can wait for a choice: \
                     leave http3 out, or give the certificates of names to Tls::set_pem_for",
            )),
            (Some(quic), Some(tls)) => {
                let address = quic.address;
                let setups = quic.setups(tls, config, self.info_policy.qlog.as_ref())?;
                Ok((Some(address), setups))
            }
            (Some(_), None) => Err(Error::config(
                "http3 is on without a certificate; HTTP/3 is always under TLS",
            )),
        }
    }
    /// Freezes the settings of the workers, with one of `listeners` for each. `quic`: HTTP/3 is
    /// served too.
    fn ready<A>(
        self,
        local_addr: A,
        listeners: Vec<Listener>,
        quic: Option<Quic>,
    ) -> Result<BoundServer<A>, Error> {
        let (http1_config, config) = self.config.freeze_both()?;
        let (quic_addr, setups) = self.quic_setups(quic, &config)?;
        let alt_svc = quic_addr.map(alt_svc);
        let memory = self
            .memory
            .unwrap_or_else(|| MemoryBudget::new(&self.config));
        let counters = listeners.iter().map(|_| Arc::default()).collect();
        let commands = listeners.iter().map(|_| mpsc::unbounded_channel());
        let commands = commands.collect();
        let tls = self.tls.as_ref();
        Ok(BoundServer {
            local_addr,
            listeners,
            setups,
            counters,
            commands,
            allowed: Allowed {
                connections: self.config.connections_max,
                per_address: self.config.connections_per_address_max,
            },
            shedding: self.config.shedding.clone(),
            context: WorkerContext {
                service: (),
                counters: Arc::default(),
                scarcity: Scarcity::default(),
                info_policy: InfoPolicy {
                    info: self.config.connection_info,
                    accepts: self.config.accept_events,
                    targets: Targets::new(&self.config, tls),
                    quic_addr,
                    tls_reports_addresses: tls.is_some_and(Tls::reports_addresses),
                    judge: tls.and_then(Tls::judge).cloned(),
                    ..self.info_policy
                },
                tls: self.tls,
                cleartext: Cleartext {
                    http1: self.config.http1,
                    http2: self.config.http2,
                },
                extra: Arc::new(AnswerOptions {
                    date: self.config.date,
                    interim: self.config.interim_responses,
                    datagrams: self.config.datagrams,
                    alt_svc,
                }),
                budget_share: memory.windows,
                send_budget_share: memory.sending,
                config,
                http1_config,
            },
            second: None,
        })
    }
}

/// The value of the field `alt-svc`.
fn alt_svc(quic: SocketAddr) -> Arc<str> {
    Arc::from(format!("h3=\":{}\"; ma={ALT_SVC_SECONDS}", quic.port()))
}

/// Processors that this process may use; 1 where the system does not say.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn no_worker() -> Error {
    Error::config("workers is 0; it must be at least 1")
}

/// How long a client may remember that HTTP/3 is served: a day, the default of RFC 7838 section
/// 3.1.
const ALT_SVC_SECONDS: u32 = 86_400;
