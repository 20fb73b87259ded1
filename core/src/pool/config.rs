//! The pool's settings and their bounds.

use super::dispatch::queue::PriorityClass;
use std::time::Duration;

/// Connections to one origin while nothing says that they multiplex.
pub const CONNECTIONS_MAX: u32 = 100;
/// Connections to one origin that multiplexes.
pub const CONNECTIONS_MULTIPLEXED_MAX: u32 = 16;
/// Sockets of one client, attempts included: below the usual limit of 1024 file descriptors.
pub const SOCKETS_MAX: u32 = 900;
/// Requests that wait at one origin.
pub const WAITING_MAX: u32 = 100_000;
/// Origins remembered; the idle ones beyond it are forgotten.
pub const ORIGINS_MAX: usize = 4096;

/// How long connections are kept warm after [`Pool::warm_up`](super::Pool::warm_up) or the last
/// request: beyond the pauses of a working user, short of a night.
pub const WARM_TIME: Duration = Duration::from_secs(600);

/// The user's settings of the pool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PoolConfig {
    /// Connections and attempts per origin. Default: [`CONNECTIONS_MAX`], or
    /// [`CONNECTIONS_MULTIPLEXED_MAX`] where they multiplex.
    pub connections_max: Option<u32>,
    /// HTTP/1.1's exchanges in flight on one connection, default 1. No other setting moves it.
    pub pipelining: u32,
    /// Connections and attempts of all origins together. Default: [`SOCKETS_MAX`].
    pub sockets_max: u32,
    /// Requests of one origin that wait for a connection; one more is refused. Default: [`WAITING_MAX`].
    pub waiting_max: u32,
    /// A connection without an exchange is closed after this, or up to a tenth of it earlier, so
    /// that connections opened together do not close together. Default 60 s.
    pub idle_timeout: Option<Duration>,
    /// Connections of an origin that stay open though they idle. Default 0.
    pub warm_min: u32,
    /// How long the connections that [`Pool::warm_up`](super::Pool::warm_up) asked for stay open
    /// and are opened again when they end, after that call or the origin's last request. Default:
    /// [`WARM_TIME`].
    pub warm_time: Duration,
    /// A connection this old gets nothing new, up to a tenth earlier. A name that points
    /// elsewhere meanwhile is followed then. Default: none.
    pub age_max: Option<Duration>,
    /// Requests after which a connection gets no new ones. Default: none.
    pub requests_max: Option<u64>,
    /// Exchanges of an origin kept free for each class, by [`PriorityClass`]: less urgent classes
    /// do not take them, so that long polls cannot hold every slot. Default 0.
    pub reserve: [u32; PriorityClass::ALL.len()],
    /// An attempt at an origin of unknown version that is older than this, or than three round
    /// trips if that is longer, gets a second one beside it. Default 300 ms; `None`: never.
    pub probe_patience: Option<Duration>,
    /// A peer that allows no exchange at all for so long after it is connected has failed.
    /// Default 300 s.
    pub no_exchange_timeout: Option<Duration>,
    /// Requests that died with a used connection before any byte of the response are sent again
    /// if their method is idempotent. Default: false.
    pub retry_lost: bool,
    /// Spreads the ends of idle and old connections. 0, the default: no spread.
    pub seed: u64,
}

crate::setters! {
    PoolConfig {
        with_connections_max connections_max: Option<u32>,
        with_pipelining pipelining: u32,
        with_sockets_max sockets_max: u32,
        with_waiting_max waiting_max: u32,
        with_idle_timeout idle_timeout: Option<Duration>,
        with_warm_min warm_min: u32,
        with_warm_time warm_time: Duration,
        with_age_max age_max: Option<Duration>,
        with_requests_max requests_max: Option<u64>,
        with_reserve reserve: [u32; PriorityClass::ALL.len()],
        with_probe_patience probe_patience: Option<Duration>,
        with_no_exchange_timeout no_exchange_timeout: Option<Duration>,
        with_retry_lost retry_lost: bool,
        with_seed seed: u64,
    }
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            connections_max: None,
            pipelining: 1,
            sockets_max: SOCKETS_MAX,
            waiting_max: WAITING_MAX,
            idle_timeout: Some(Duration::from_secs(60)),
            warm_min: 0,
            warm_time: WARM_TIME,
            age_max: None,
            requests_max: None,
            reserve: [0; PriorityClass::ALL.len()],
            probe_patience: Some(Duration::from_millis(300)),
            no_exchange_timeout: Some(Duration::from_secs(300)),
            retry_lost: false,
            seed: 0,
        }
    }
}

impl PoolConfig {
    /// Slots that a request of `class` must leave free.
    pub(super) fn reserved_from(&self, class: PriorityClass) -> u32 {
        let more_urgent = &self.reserve[..class as usize];
        more_urgent.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }
}
