//! Settings of a client, checked when it is built.

use super::Client;
use super::dispatch::{Dispatch, Settings};
use super::route::Route;
use crate::config::ClientConfig;
use crate::error::Error;
use crate::tls::ClientTls;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::limits::{Limits, Timeouts, Windows};
use trunkline_core::pool::{PoolConfig, Protocols};

/// How long each phase of a request may take; `None` turns a timeout off.
#[derive(Clone, Debug)]
pub struct ClientTimeouts {
    /// Name, TCP and TLS handshake of one attempt. Default 10 s.
    pub connect: Option<Duration>,
    /// The wait in the origin's line. Default 300 s.
    pub queue: Option<Duration>,
    /// From the last progress of the request until the response's head. Default 300 s.
    pub headers: Option<Duration>,
    /// Between two pieces of the response's body; stands still while the reader has bytes to
    /// read. Default 300 s.
    pub body: Option<Duration>,
    /// All of it, the response's body included. Default: none.
    pub total: Option<Duration>,
}

impl Default for ClientTimeouts {
    fn default() -> Self {
        let patience = Some(Duration::from_secs(300));
        Self {
            connect: Some(Duration::from_secs(10)),
            queue: patience,
            headers: patience,
            body: patience,
            total: None,
        }
    }
}

/// Settings to change before [`build`](Self::build).
#[derive(Debug)]
pub struct ClientBuilder {
    pool: PoolConfig,
    protocols: Protocols,
    timeouts: ClientTimeouts,
    config: ClientConfig,
    tls: ClientTls,
    pub(super) route: Route,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            pool: PoolConfig::default(),
            protocols: Protocols::H2AndH1,
            timeouts: ClientTimeouts::default(),
            config: ClientConfig {
                limits: Limits::default(),
                timeouts: machine_timeouts(),
                windows: Windows::default(),
            },
            tls: ClientTls::new(),
            route: Route::default(),
        }
    }
}

impl ClientBuilder {
    /// Connections per origin, attempts included; at least 1. Default: 100, or 16 where they
    /// multiplex.
    #[must_use]
    pub fn connections(mut self, max: u32) -> Self {
        self.pool.connections_max = Some(max);
        self
    }
    /// Sockets of the whole client; at least 1. Default 900.
    #[must_use]
    pub fn sockets(mut self, max: u32) -> Self {
        self.pool.sockets_max = max;
        self
    }
    /// HTTP/1.1's requests in flight on one connection, at least 1. Default 1.
    #[must_use]
    pub fn pipelining(mut self, requests: u32) -> Self {
        self.pool.pipelining = requests;
        self
    }
    /// The ceiling of HTTP/2's requests in flight on one connection, at least 1. A lower limit of
    /// the peer replaces it. Default 100.
    #[must_use]
    pub fn max_concurrent_streams(mut self, streams: u32) -> Self {
        self.config.limits.concurrent_streams_max = streams;
        self
    }
    /// The versions to offer. Default: HTTP/2, else HTTP/1.1. On `http` URLs
    /// [`Protocols::H2Only`] means HTTP/2 with prior knowledge, everything else HTTP/1.1.
    #[must_use]
    pub fn protocols(mut self, protocols: Protocols) -> Self {
        self.protocols = protocols;
        self
    }
    /// How long each phase may take.
    #[must_use]
    pub fn timeouts(mut self, timeouts: ClientTimeouts) -> Self {
        self.timeouts = timeouts;
        self
    }
    /// An idle connection is closed after this. Default 60 s.
    #[must_use]
    pub fn idle_timeout(mut self, idle: Option<Duration>) -> Self {
        self.pool.idle_timeout = idle;
        self
    }
    /// Bounds on what a peer may make us hold or do. `pipelining` and `concurrent_streams_max`
    /// stay what the methods of this builder say.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        let concurrent_streams_max = self.config.limits.concurrent_streams_max;
        self.config.limits = Limits {
            concurrent_streams_max,
            ..limits
        };
        self
    }
    /// Receive windows.
    #[must_use]
    pub fn windows(mut self, windows: Windows) -> Self {
        self.config.windows = windows;
        self
    }
    /// Whom to believe and who we are.
    #[must_use]
    pub fn tls(mut self, tls: ClientTls) -> Self {
        self.tls = tls;
        self
    }
    /// Makes the client.
    ///
    /// # Errors
    /// Names the setting that cannot be used and what is allowed.
    pub fn build(mut self) -> Result<Client, Error> {
        let at_least_one = [
            ("connections", self.pool.connections_max.unwrap_or(1)),
            ("sockets", self.pool.sockets_max),
            ("pipelining", self.pool.pipelining),
            (
                "max_concurrent_streams",
                self.config.limits.concurrent_streams_max,
            ),
        ];
        for (name, value) in at_least_one {
            if value == 0 {
                return Err(Error::config(format!("{name} is 0; it must be at least 1")));
            }
        }
        self.config.limits.pipelining = self.pool.pipelining;
        self.config.freeze()?;
        self.route.check()?;
        Ok(self.assemble())
    }

    /// For settings that are known to be good.
    pub(super) fn build_checked(self) -> Client {
        self.assemble()
    }

    fn assemble(self) -> Client {
        let settings = Settings {
            protocols: self.protocols,
            timeouts: self.timeouts,
            config: self.config,
            tls: self.tls,
            route: self.route,
        };
        Client {
            dispatch: Arc::new(Dispatch::new(settings, self.pool)),
        }
    }
}

/// The machine's own deadlines on a client: [`ClientTimeouts`] and the pool watch over exchanges
/// and idle connections, so a slow stream (server-sent events) is nobody's offence.
fn machine_timeouts() -> Timeouts {
    Timeouts {
        body_idle: None,
        stream_stall: None,
        idle: None,
        age_max: None,
        rate_min: 0,
        ..Timeouts::default()
    }
}
