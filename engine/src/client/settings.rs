//! The settings of a client, fixed when it is made.

pub(super) mod origin;
pub(super) mod policy;
pub(super) mod url;

use super::connect::lookup::OriginAddresses;
use super::connect::route::Route;
use super::listener::connection::ConnectionListener;
use crate::config::ClientConfig;
use crate::connection_info::traffic::Traffic;
use crate::driver::event_loop::Spawner;
use crate::driver::machine::qlog::Qlog;
use crate::driver::quic::config::QuicSettings;
use crate::error::Error;
use crate::metrics::client::counters::ClientCounts;
use crate::tls::ClientTls;
use crate::tls::early_data::EarlyMemory;
use policy::Policies;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use trunkline_core::pool::{Alternatives, HealthTimes, Protocols};

/// The frozen settings of a client.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) protocols: Protocols,
    pub(super) timeouts: ClientTimeouts,
    pub(super) config: ClientConfig,
    pub(super) tls: ClientTls,
    pub(super) route: Route,
    pub(super) health: HealthTimes,
    /// Responses say on which connection they came.
    pub(super) connection_info: bool,
    /// The listener of connection events.
    pub(super) listener: Option<Arc<dyn ConnectionListener>>,
    /// How an HTTP/1.1 peer's `keep-alive` timeout is applied.
    pub(super) keep_alive: KeepAlive,
    pub(super) quic: QuicSettings,
    /// Where packets and frames are written about, if anywhere.
    pub(super) qlog: Option<Qlog>,
    /// Runs the tasks, in place of the runtime of the request that opened a connection.
    pub(super) spawner: Option<Arc<dyn Spawner>>,
    /// `https` origins are taken to serve HTTP/3 before they have said so.
    pub(super) assumes_http3: bool,
    /// Requests may go out with the handshake of a resumed session, under what is remembered here.
    pub(super) early_data: Option<EarlyMemory>,
    /// Where origins have said that they serve HTTP/3.
    pub(super) alternatives: Mutex<Alternatives>,
    pub(super) policies: Policies,
    pub(super) counts: ClientCounts,
    /// Bytes of all connections over byte streams.
    pub(super) traffic: Traffic,
    /// The error of the environment, where a client was made that cannot report it: every request's.
    pub(super) unusable: Option<Error>,
}

impl Settings {
    /// The default settings, with this configuration of the machines.
    pub(super) fn new(config: ClientConfig) -> Self {
        Self {
            protocols: Protocols::H2AndH1,
            timeouts: ClientTimeouts::default(),
            config,
            tls: ClientTls::new(),
            route: Route::default(),
            health: HealthTimes::default(),
            connection_info: false,
            listener: None,
            keep_alive: KeepAlive::default(),
            quic: QuicSettings::default(),
            qlog: None,
            spawner: None,
            assumes_http3: false,
            early_data: None,
            alternatives: Mutex::new(Alternatives::new()),
            policies: Policies::new(),
            counts: ClientCounts::default(),
            traffic: Traffic::default(),
            unusable: None,
        }
    }
    /// Knowledge of HTTP/3 at origins.
    pub(super) fn alternatives(&self) -> MutexGuard<'_, Alternatives> {
        // No code panics while it holds the lock.
        self.alternatives
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
    /// Whether the HTTPS records of `https` origins say something that is not known without them.
    pub(super) fn asks_for_record(&self, protocols: Protocols) -> bool {
        (cfg!(feature = "http3") && protocols == Protocols::All) || self.tls.encrypts_hello()
    }
    /// The keys for a ClientHello to an origin there.
    pub(super) fn hello_keys<'a>(&self, place: Option<&'a OriginAddresses>) -> Option<&'a [u8]> {
        let record = place?.record().filter(|_| self.tls.encrypts_hello())?;
        record.ech.as_deref()
    }
}

trunkline_core::options! {
    /// How long each phase of a request may take, from 1 ms to a year; `None` turns a timeout off.
    pub struct ClientTimeouts {
        /// Name, TCP and TLS handshake of one attempt. Default 10 s.
        pub connect: Option<Duration> = Some(Duration::from_secs(10)), with_connect;
        /// The wait in the origin's line, however it moves. Default: none.
        pub queue: Option<Duration> = None, with_queue;
        /// The wait in the origin's line while no request of the origin starts: a line that moves is waited in for as
        /// long as it takes. A request or a client with a time of its own for the whole wait has none. Default 300 s.
        pub queue_stall: Option<Duration> = Some(Duration::from_secs(300)), with_queue_stall;
        /// From the last progress of the request until the response's head. It does not run while the
        /// source of the request's body has no bytes. Default 300 s.
        pub headers: Option<Duration> = Some(Duration::from_secs(300)), with_headers;
        /// Between two pieces of the response's body; stands still while the reader has bytes to
        /// read. Default 300 s.
        pub body: Option<Duration> = Some(Duration::from_secs(300)), with_body;
        /// How long the body of a request with `expect: 100-continue` waits for the peer's 100. Then it
        /// is sent all the same, because not every peer sends one (RFC 9110 section 10.1.1). `None`: it
        /// does not wait. Default 1 s.
        pub expect: Option<Duration> = Some(Duration::from_secs(1)), with_expect;
        /// All of it, the response's body included. Default: none.
        pub total: Option<Duration> = None, with_total;
    }
}

/// How an HTTP/1.1 peer's `keep-alive: timeout` is applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepAlive {
    /// No connection idles longer for it.
    pub(super) max: Duration,
    /// So much before the peer's time is over the connection is closed.
    pub(super) margin: Duration,
}

impl Default for KeepAlive {
    fn default() -> Self {
        Self {
            max: Duration::from_secs(600),
            margin: Duration::from_secs(2),
        }
    }
}
