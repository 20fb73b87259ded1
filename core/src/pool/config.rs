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

crate::options! {
    /// The user's settings of the pool.
    pub struct PoolConfig {
        /// Connections and attempts per origin. Range: from 1. Default: `None`, 100, or 16 where they multiplex,
        /// twice as many when none of those that wait could start for a second, and so on up to `sockets_max`.
        pub connections_max: Option<u32> = None, with_connections_max;
        /// HTTP/1.1: exchanges in flight on one connection. No other setting moves it. Range: from 1. Default 1.
        pub pipelining: u32 = 1, with_pipelining;
        /// Connections and attempts of all origins together. Range: from 1. Default 900.
        pub sockets_max: u32 = SOCKETS_MAX, with_sockets_max;
        /// Requests of one origin that wait for a connection; one more is refused. Range: any.
        /// Default 100,000.
        pub waiting_max: u32 = WAITING_MAX, with_waiting_max;
        /// A connection without an exchange is closed after this, or up to a tenth of it earlier, so
        /// that connections opened together do not close together. Default 60 s.
        pub idle_timeout: Option<Duration> = Some(Duration::from_secs(60)), with_idle_timeout;
        /// Connections of an origin that stay open though they idle, unless the peer has said when it closes them. Range: 0
        /// to `connections_max`. Default 0.
        pub warm_min: u32 = 0, with_warm_min;
        /// How long the connections that [`Pool::warm_up`](super::Pool::warm_up) asked for stay open
        /// and are opened again when they end, after that call or the origin's last request. Default
        /// 600 s.
        pub warm_time: Duration = WARM_TIME, with_warm_time;
        /// A connection this old gets nothing new, up to a tenth earlier. A name that points
        /// elsewhere meanwhile is followed then. Default: none.
        pub age_max: Option<Duration> = None, with_age_max;
        /// Requests after which a connection gets no new ones. Range: from 1. Default: none.
        pub requests_max: Option<u64> = None, with_requests_max;
        /// Exchanges of an origin kept free for each class, by [`PriorityClass`]: less urgent classes
        /// do not take them, so that long polls cannot hold every slot. Range: 0 to 10,000
        /// each. Default 0.
        pub reserve: [u32; PriorityClass::ALL.len()] = [0; PriorityClass::ALL.len()], with_reserve;
        /// An attempt at an origin of unknown version that is older than this, or than three round
        /// trips if that is longer, gets a second one beside it. Default 300 ms; `None`: never.
        pub probe_patience: Option<Duration> = Some(Duration::from_millis(300)), with_probe_patience;
        /// A peer that allows no exchange at all for so long after it is connected has failed.
        /// Default 300 s.
        pub no_exchange_timeout: Option<Duration> = Some(Duration::from_secs(300)), with_no_exchange_timeout;
        /// Behind two failed attempts in a row an origin's next one waits 100 ms, then twice as long
        /// each time up to 1 s, and so do the requests that come meanwhile. Otherwise such a
        /// request gets an attempt at once; what waits for a connection that is open pauses still. Default true.
        pub backs_off: bool = true, with_backs_off;
        /// Requests that died with a used connection before any byte of the response are sent again
        /// if their method is idempotent. Default: false.
        pub retry_lost: bool = false, with_retry_lost;
        /// Spreads the ends of idle and old connections. Range: any. Default 0: no spread.
        pub seed: u64 = 0, with_seed;
    }
}

impl PoolConfig {
    /// Slots that a request of `class` must leave free.
    pub(super) fn reserved_from(&self, class: PriorityClass) -> u32 {
        let more_urgent = &self.reserve[..class as usize];
        more_urgent.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }
}
