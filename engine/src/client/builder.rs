//! Settings of a client; `build` checks their ranges.

#[cfg(feature = "blocking")]
mod blocking;
#[cfg(feature = "http3")]
mod http3;
mod policies;
mod route;

use super::Client;
use super::attempt;
use super::dispatch::{self, Dispatch};
use super::listener::connection::ConnectionListener;
use super::settings::{ClientTimeouts, KeepAlive, Settings};
use crate::config::{ClientConfig, response_limits, within};
use crate::driver::event_loop::Spawner;
#[cfg(feature = "qlog")]
use crate::driver::machine::qlog::Qlog;
use crate::error::Error;
use crate::tls::ClientTls;
use crate::tls::early_data::EarlyMemory;
use http::header::USER_AGENT;
use std::env;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::limits::{Limits, Timeouts, Windows};
use trunkline_core::pool::{CONNECTIONS_MAX, HealthTimes, PoolConfig, PriorityClass, Protocols};

/// Settings to change before `build` makes a client `C`: a [`Client`], or one of
/// [`blocking`](crate::blocking).
#[derive(Debug)]
#[must_use]
pub struct ClientBuilder<C = Client> {
    pool: PoolConfig,
    settings: Settings,
    /// The kind of client that is built.
    kind: PhantomData<fn() -> C>,
}

impl ClientBuilder {
    /// The default settings, as [`Client::builder`] has them.
    pub fn new() -> Self {
        Self::default()
    }
    /// Makes the client.
    ///
    /// # Errors
    /// Names the setting that cannot be used and what is allowed.
    pub fn build(self) -> Result<Client, Error> {
        self.checked()
    }
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self::of_kind()
    }
}

impl<C> ClientBuilder<C> {
    /// The default settings.
    fn of_kind() -> Self {
        Self {
            pool: PoolConfig::default(),
            settings: Settings::new(ClientConfig {
                limits: response_limits(),
                timeouts: machine_timeouts(),
                windows: Windows::default(),
                datagrams: false,
                sends_keep_alive: false,
                spelled_names: false,
                chunk_blanks: true,
            }),
            kind: PhantomData,
        }
    }
}

impl<C> ClientBuilder<C> {
    /// Writes what becomes of HTTP/3's packets, and the frames of HTTP/2 and HTTP/3, to this file, which is emptied
    /// first (qlog; qvis opens it as `.sqlog`). Connections have a group each. Values of `authorization`, `cookie` and
    /// the like are left out; those of other fields are not. A new file is its owner's alone (Unix). The file ends at 256 MiB. Each packet and frame costs
    /// some microseconds more: for debugging.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    #[cfg(feature = "qlog")]
    pub fn qlog(mut self, path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        self.settings.qlog = Some(Qlog::create(
            path.as_ref(),
            trunkline_core::http::Side::Client,
        )?);
        Ok(self)
    }
    /// Connections per origin, attempts included; at least 1. Default: 100, or 16 where they
    /// multiplex, and more where none of those that wait could start for a second.
    #[doc(alias = "pool_max_idle_per_host")]
    pub fn connections(mut self, max: u32) -> Self {
        self.pool.connections_max = Some(max);
        self
    }
    /// Sockets of the whole client; at least 1. Default 900.
    pub fn sockets(mut self, max: u32) -> Self {
        self.pool.sockets_max = max;
        self
    }
    /// HTTP/1.1's requests in flight on one connection, at least 1. Default 1.
    pub fn pipelining(mut self, requests: u32) -> Self {
        self.pool.pipelining = requests;
        self
    }
    /// Whether requests of HTTP/1.1 say `connection: keep-alive`, for servers and proxies of HTTP/1.0.
    /// Default: false.
    pub fn sends_keep_alive(mut self, reports: bool) -> Self {
        self.settings.config.sends_keep_alive = reports;
        self
    }
    /// Whether the names of fields of HTTP/1.1 responses are kept as they are spelled too
    /// ([`ReceivedFields`](super::ReceivedFields), [`Fields::spellings`](crate::core::http::Fields::spellings)). Default: false.
    pub fn spelled_names(mut self, keeps: bool) -> Self {
        self.settings.config.spelled_names = keeps;
        self
    }
    /// Whether blanks behind the size of a chunk of HTTP/1.1 and in its extensions are passed over, as old servers pad them;
    /// otherwise they end the body with an error. Default true.
    pub fn chunk_blanks(mut self, passed_over: bool) -> Self {
        self.settings.config.chunk_blanks = passed_over;
        self
    }
    /// The ceiling of the requests in flight on one HTTP/2 or HTTP/3 connection, at least 1. A lower limit of
    /// the peer replaces it. Default 100, and 256 for HTTP/3.
    pub fn max_concurrent_streams(mut self, streams: u32) -> Self {
        self.settings.config.limits.concurrent_streams_max = streams;
        self.settings.config.limits.request_streams_max = streams;
        self
    }
    /// The versions to offer. Default: HTTP/2, else HTTP/1.1. [`Protocols::All`] adds HTTP/3 where
    /// an answer had an `alt-svc` field for it, or the origin's HTTPS record says so: QUIC is tried first, TCP 200 ms later, and what
    /// gets through first is used; where QUIC failed it is left alone for a minute, and longer each
    /// time. On `http` URLs
    /// [`Protocols::H2Only`] means HTTP/2 with prior knowledge, everything else HTTP/1.1.
    #[doc(alias = "http1_only")]
    #[doc(alias = "http2_prior_knowledge")]
    #[doc(alias = "http3_prior_knowledge")]
    pub fn protocols(mut self, protocols: Protocols) -> Self {
        self.settings.protocols = protocols;
        self
    }
    /// How long each phase may take.
    pub fn timeouts(mut self, timeouts: ClientTimeouts) -> Self {
        self.settings.timeouts = timeouts;
        self
    }
    /// An idle connection is closed after this, or up to a tenth earlier. Default 60 s.
    #[doc(alias = "pool_idle_timeout")]
    pub fn idle_timeout(mut self, idle: impl Into<Option<Duration>>) -> Self {
        self.pool.idle_timeout = idle.into();
        self
    }
    /// Connections of an origin that stay open though they idle, unless their peer has said when it closes
    /// them (`Keep-Alive`); at most `connections`. They are not refilled when they end. Default 0.
    pub fn warm_connections(mut self, min: u32) -> Self {
        self.pool.warm_min = min;
        self
    }
    /// How long what [`Client::warm_up`](super::Client::warm_up) opened stays open and is refilled
    /// after that call or the origin's last request. Default 10 min; from 1 ms.
    pub fn warm_time(mut self, time: Duration) -> Self {
        self.pool.warm_time = time;
        self
    }
    /// A connection this old gets no more requests, or up to a tenth earlier; from 1 ms. What was in
    /// line when it opened it gets in any case. A name that points elsewhere meanwhile is followed
    /// then. Default: none.
    pub fn connection_age(mut self, max: Option<Duration>) -> Self {
        self.pool.age_max = max;
        self
    }
    /// Requests that a connection carries in its life; at least 1. Default: none.
    pub fn requests_per_connection(mut self, max: Option<u64>) -> Self {
        self.pool.requests_max = max;
        self
    }
    /// Keeps `slots` of an origin's requests in flight free for `class` and the more urgent ones,
    /// so that long polls of a less urgent class cannot hold every slot. 0 to 10,000; default 0.
    pub fn reserve(mut self, class: PriorityClass, slots: u32) -> Self {
        self.pool.reserve[class as usize] = slots;
        self
    }
    /// Sends a request again that died with a connection which had worked before, if no byte of
    /// a response had come, its method is idempotent (RFC 9110 section 9.2.2) and its body is
    /// still there. The peer may get it twice. Default: false.
    pub fn retry_lost(mut self, on: bool) -> Self {
        self.pool.retry_lost = on;
        self
    }
    /// Whether, behind two failed attempts in a row to connect to an origin, the next one waits
    /// 100 ms, then twice as long each time up to 1 s, and requests with it. Default: true.
    pub fn backs_off(mut self, on: bool) -> Self {
        self.pool.backs_off = on;
        self
    }
    /// How long an attempt at an origin of unknown version may take before a second one is made
    /// beside it, three round trips at least; from 1 ms. Default 300 ms; `None`: never.
    pub fn probe_patience(mut self, patience: Option<Duration>) -> Self {
        self.pool.probe_patience = patience;
        self
    }
    /// How long an HTTP/2 or HTTP/3 peer may be silent. Each time from 1 ms, `dead` not below `suspect`.
    pub fn health(mut self, times: HealthTimes) -> Self {
        self.settings.health = times;
        self
    }
    /// Each response carries a [`ConnectionUse`](super::ConnectionUse) among its extensions. It
    /// costs three allocations per response. Default: false.
    pub fn connection_info(mut self, on: bool) -> Self {
        self.settings.connection_info = on;
        self
    }
    /// Calls `listener` for every connection that is opened or closed.
    pub fn connection_listener(mut self, listener: Arc<dyn ConnectionListener>) -> Self {
        self.settings.listener = Some(listener);
        self
    }
    /// How the `keep-alive: timeout` of an HTTP/1.1 peer is applied: its connection is closed
    /// `margin` before that time has passed idle, or at once where nothing is left of it, so that
    /// no request meets a peer that closes; and after `max` at the latest. It takes the place of
    /// [`idle_timeout`](Self::idle_timeout) there, without its spread. Default 600 s and 2 s.
    pub fn keep_alive(mut self, max: Duration, margin: Duration) -> Self {
        self.settings.keep_alive = KeepAlive { max, margin };
        self
    }
    /// Bounds on what a peer may make us hold or do. `pipelining` and `concurrent_streams_max`
    /// stay what the methods of this builder say.
    pub fn limits(mut self, limits: Limits) -> Self {
        let concurrent_streams_max = self.settings.config.limits.concurrent_streams_max;
        self.settings.config.limits = limits.with_concurrent_streams_max(concurrent_streams_max);
        self
    }
    /// Receive windows.
    pub fn windows(mut self, windows: Windows) -> Self {
        self.settings.config.windows = windows;
        self
    }
    /// TLS settings: trusted roots and the client's certificate.
    pub fn tls(mut self, tls: ClientTls) -> Self {
        self.settings.tls = tls;
        self
    }
    /// Runs the client's tasks. Default: the tokio runtime of the request that needs them.
    pub fn spawner(mut self, spawner: Arc<dyn Spawner>) -> Self {
        self.settings.spawner = Some(spawner);
        self
    }
    /// The client of the settings, whose ranges are checked.
    fn checked(mut self) -> Result<Client, Error> {
        let at_least_one = [
            ("connections", self.pool.connections_max.unwrap_or(1)),
            ("sockets", self.pool.sockets_max),
            ("pipelining", self.pool.pipelining),
            (
                "max_concurrent_streams",
                self.settings.config.limits.concurrent_streams_max,
            ),
        ];
        for (name, value) in at_least_one {
            if value == 0 {
                return Err(Error::config(format!("{name} is 0; it must be at least 1")));
            }
        }
        self.check_pool()?;
        self.settings.config.limits.pipelining = self.pool.pipelining;
        self.settings.config.check()?;
        self.settings.policies.check()?;
        self.settings
            .route
            .read_environment(|name| env::var_os(name));
        self.settings.route.check()?;
        Ok(self.assemble(None))
    }

    /// The times that are set: the name of each and the least that it may be.
    fn times(&mut self) -> impl Iterator<Item = (&'static str, &mut Duration, Duration)> {
        let least = Duration::from_millis(1);
        let (pool, timeouts) = (&mut self.pool, &mut self.settings.timeouts);
        let (health, keep_alive) = (&mut self.settings.health, &mut self.settings.keep_alive);
        let least_dead = health.suspect.max(least);
        let times = [
            ("idle_timeout", pool.idle_timeout.as_mut(), least),
            ("connection_age", pool.age_max.as_mut(), least),
            ("warm_time", Some(&mut pool.warm_time), least),
            ("probe_patience", pool.probe_patience.as_mut(), least),
            ("timeouts.connect", timeouts.connect.as_mut(), least),
            ("timeouts.queue", timeouts.queue.as_mut(), least),
            ("timeouts.queue_stall", timeouts.queue_stall.as_mut(), least),
            ("timeouts.headers", timeouts.headers.as_mut(), least),
            ("timeouts.body", timeouts.body.as_mut(), least),
            ("timeouts.expect", timeouts.expect.as_mut(), least),
            ("timeouts.total", timeouts.total.as_mut(), least),
            ("health.quiet", Some(&mut health.quiet), least),
            ("health.unasked", health.unasked.as_mut(), least),
            ("health.rested", Some(&mut health.rested), least),
            ("health.suspect", Some(&mut health.suspect), least),
            ("health.unanswered", health.unanswered.as_mut(), least),
            ("health.dead", Some(&mut health.dead), least_dead),
            ("keep_alive", Some(&mut keep_alive.max), Duration::ZERO),
            ("keep_alive", Some(&mut keep_alive.margin), Duration::ZERO),
        ];
        times
            .into_iter()
            .filter_map(|(name, time, least)| Some((name, time?, least)))
    }

    fn check_pool(&mut self) -> Result<(), Error> {
        for (name, time, least) in self.times() {
            if *time < least {
                return Err(Error::config(format!(
                    "{name} is {time:?}; it must be at least {least:?}"
                )));
            }
        }
        let pool = &self.pool;
        let most = pool.connections_max.unwrap_or(CONNECTIONS_MAX);
        if pool.warm_min > most {
            return Err(Error::config(format!(
                "warm_connections is {}; it must be from 0 to {most}, the bound on connections",
                pool.warm_min
            )));
        }
        if pool.requests_max == Some(0) {
            return Err(Error::config(
                "requests_per_connection is 0; it must be at least 1",
            ));
        }
        for (class, slots) in PriorityClass::ALL.into_iter().zip(pool.reserve) {
            if slots > RESERVE_MAX {
                return Err(Error::config(format!(
                    "reserve for {class:?} is {slots}; it must be from 0 to {RESERVE_MAX}"
                )));
            }
        }
        Ok(())
    }

    /// For settings that are known to be good, except for the environment: an error of it is one of every request.
    pub(super) fn build_checked(mut self) -> Client {
        self.settings
            .route
            .read_environment(|name| env::var_os(name));
        let unusable = self.settings.route.check().err();
        self.assemble(unusable)
    }

    fn assemble(mut self, unusable: Option<Error>) -> Client {
        // Within the range of clocks.
        for (_, time, _) in self.times() {
            *time = within(*time);
        }
        self.pool.no_exchange_timeout = self.settings.timeouts.headers;
        self.settings.route.attempts_limit = self.settings.timeouts.connect;
        if let Some(agent) = self.settings.policies.fields.get(USER_AGENT) {
            self.settings.route.proxies.name_agent(agent.as_bytes());
        }
        // 0 would mean that nothing is spread.
        self.pool.seed = dispatch::random().max(1);
        let mut settings = self.settings;
        settings.listener = listened(settings.listener);
        settings.early_data = settings.quic.early_data.then(EarlyMemory::default);
        settings.unusable = unusable;
        Client {
            dispatch: Arc::new(Dispatch::new(settings, self.pool, attempt::spawn)),
        }
    }
}

/// The listener of connections, under the one that gives events of `tracing`.
#[cfg(feature = "tracing")]
fn listened(listener: Option<Arc<dyn ConnectionListener>>) -> Option<Arc<dyn ConnectionListener>> {
    Some(Arc::new(super::listener::trace::Traced(listener)))
}
#[cfg(not(feature = "tracing"))]
fn listened(listener: Option<Arc<dyn ConnectionListener>>) -> Option<Arc<dyn ConnectionListener>> {
    listener
}

/// More slots than an origin has at its default bounds.
const RESERVE_MAX: u32 = 10_000;

/// The machine's own deadlines on a client. [`ClientTimeouts`] and the pool watch over exchanges
/// and idle connections, so a slow stream (server-sent events) is no violation.
fn machine_timeouts() -> Timeouts {
    Timeouts::default()
        .with_body_idle(None)
        .with_stream_stall(None)
        .with_idle(None)
        .with_age_max(None)
        .with_rate_min(0)
}
