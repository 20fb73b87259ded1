//! Settings of a server and of a client: public fields with defaults, and a method `with_..` for each.
//! Building checks them and freezes them into an `Arc` that all connections share.

pub(crate) mod date;

use crate::error::Error;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::budget::Rate;
use trunkline_core::http::field::FIELD_OVERHEAD_BYTES;
use trunkline_core::limits::{Config, Limits, RESPONSE_HEAD_BYTES_MAX, Timeouts, Windows};

/// How a sender over HTTP/3 decides how much may be on the way; over TCP the operating system
/// decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Congestion {
    /// RFC 9438: a loss means that the path is full. Fair to others; slow where packets get lost by
    /// chance.
    #[default]
    Cubic,
    /// Follows the rate at which packets arrive: many times as fast as Cubic where packets get lost
    /// by chance, and not fair to it where queues are short. The library that does it calls it
    /// experimental.
    Bbr,
}

trunkline_core::options! {
    /// When a server answers requests itself, with `retry-after` and without a handler, so that it stays able to serve others. Each is counted in
    /// [`Metrics::requests_shed`](crate::server::Metrics::requests_shed). All of it is off by default: the right values depend on what
    /// handlers cost, and on how many clients one address has.
    pub struct Shedding {
        /// Requests that one address may send to each worker: an IPv4 address, or an IPv6 network of 64 bits. Further ones are
        /// answered with 429 (RFC 6585 section 4). Unix sockets have no address; behind [`Server::proxy_protocol`](crate::Server::proxy_protocol) the
        /// client's counts. At most 16,384 addresses are counted at once. Range: from 1 at once and 1 a second. Default: `None`, no limit.
        pub requests_per_address: Option<Rate> = None, with_requests_per_address;
        /// Bytes that all connections of one address, as above, may move by each worker in both directions: of HTTP over TCP, of packets over QUIC.
        /// While it has moved more, its requests are answered with 429, for at most a minute after its last byte. A response that has begun is sent
        /// to its end, and bytes behind an upgrade count when their connection ends. Range: from 1 at once and 1 a second. Default: `None`, no limit.
        pub bytes_per_address: Option<Rate> = None, with_bytes_per_address;
        /// How late a worker's timers may come, measured every 50 ms: a worker that is further behind answers new requests with 503 until it is not.
        /// Handlers that block the worker's thread make it late, too; callbacks may have a lag of their own
        /// ([`Callbacks::lag`](crate::server::Callbacks::lag)). Default: `None`, no limit.
        pub lag_max: Option<Duration> = None, with_lag_max;
        /// The share of [`Windows::send_budget`] in per cent that may wait for clients which do not read: while more does, new
        /// requests are answered with 503, and what waits can go. Range: 1 to 99. Default: `None`, no limit.
        pub send_budget_percent_max: Option<u8> = None, with_send_budget_percent_max;
        /// Bytes of RAM that the process may have (its resident set, measured every 50 ms): while it has more, new requests are answered with 503,
        /// and what runs can end. Linux alone tells it; elsewhere it is an error of `serve`. Range: from 1 MiB. Default: `None`, no limit.
        pub process_memory_max: Option<u64> = None, with_process_memory_max;
    }
}

impl Shedding {
    fn check(&self) -> Result<(), Error> {
        /// Less than any process has.
        const PROCESS_MEMORY_MIN: u64 = 1 << 20;
        for (name, rate) in [
            ("requests_per_address", self.requests_per_address),
            ("bytes_per_address", self.bytes_per_address),
        ] {
            if let Some(rate) = rate
                && (rate.burst == 0 || rate.per_second == 0)
            {
                return Err(Error::config(format!(
                    "{name} is {} at once and {} per second; both must be at least 1",
                    rate.burst, rate.per_second
                )));
            }
        }
        if let Some(most) = self.process_memory_max {
            if !cfg!(target_os = "linux") {
                return Err(Error::config(
                    "process_memory_max is set; this system does not tell a process its memory, Linux alone does",
                ));
            }
            if most < PROCESS_MEMORY_MIN {
                return Err(Error::config(format!(
                    "process_memory_max is {most} bytes; it must be at least {PROCESS_MEMORY_MIN}, or None"
                )));
            }
        }
        match self.send_budget_percent_max {
            Some(percent) if !(1..=99).contains(&percent) => Err(Error::config(format!(
                "send_budget_percent_max is {percent}; it must be 1 to 99, or None"
            ))),
            _ => Ok(()),
        }
    }
}

trunkline_core::options! {
    /// Settings of a server.
    pub struct ServerConfig {
        /// Bounds on what a peer may make us hold or do.
        pub limits: Limits = Limits::default(), with_limits;
        /// How long each phase may take.
        pub timeouts: Timeouts = Timeouts::default(), with_timeouts;
        /// Timeouts for HTTP/1.1 connections. Default: `None`, those of `timeouts`.
        pub http1_timeouts: Option<Timeouts> = None, with_http1_timeouts;
        /// Fields in one section of HTTP/1.1, in the place of [`Limits::field_count_max`]. [`Limits::head_bytes_max`] alone bounds their
        /// bytes. Range: any. Default: `None`, that of `limits`.
        pub http1_field_count_max: Option<usize> = None, with_http1_field_count_max;
        /// Receive windows.
        pub windows: Windows = Windows::default(), with_windows;
        /// Whether HTTP/1.1 is served in cleartext. Under TLS [`Tls::offer`](crate::Tls::offer) says it.
        /// Default: true.
        pub http1: bool = true, with_http1;
        /// Whether HTTP/2 is served in cleartext, by prior knowledge. Default: true.
        pub http2: bool = true, with_http2;
        /// RFC 8441 extended CONNECT (WebSocket over HTTP/2) is announced. Default: false.
        pub extended_connect: bool = false, with_extended_connect;
        /// HTTP datagrams (RFC 9297) are announced over QUIC, and an extended CONNECT that comes over
        /// HTTP/3 carries [`Datagrams`](crate::Datagrams) among its extensions. It needs
        /// [`extended_connect`](Self::extended_connect): no other request gives datagrams a meaning, and
        /// one that a datagram comes for all the same must be aborted (RFC 9297 section 2), which is why
        /// only servers whose handlers know of them announce them. Default: false.
        pub datagrams: bool = false, with_datagrams;
        /// Whether an [`Callbacks`](crate::server::Callbacks) receives the settings, pings and GOAWAY
        /// of HTTP/2 peers. Default: false.
        pub frame_events: bool = false, with_frame_events;
        /// HTTP/2: identifier and value of settings that the first SETTINGS has beside those of the server, for extensions of the
        /// owner's (RFC 9113 section 5.5), at most [`EXTENSION_SETTINGS_MAX`](crate::core::limits::EXTENSION_SETTINGS_MAX). Default: none.
        pub extension_settings: Vec<(u16, u32)> = Vec::new(), with_extension_settings;
        /// An [`Callbacks`](crate::server::Callbacks) gets cleartext connections whose first bytes have not come for 10 ms, or do not come
        /// ([`Callbacks::accepted`](crate::server::Callbacks::accepted)). Default: false.
        pub accept_events: bool = false, with_accept_events;
        /// The names of fields of HTTP/1.1 requests are kept as they are spelled too
        /// ([`Fields::spellings`](crate::core::http::Fields::spellings)). Default: false.
        pub spelled_names: bool = false, with_spelled_names;
        /// A request of HTTP/1.1 without a host field is refused with 400 (RFC 9112 section 3.2). Where it is not, its
        /// authority is unknown, as that of a request of HTTP/1.0. Default: true.
        pub needs_host: bool = true, with_needs_host;
        /// Handlers answer requests of HTTP/1.1 with another expectation than `100-continue`, which are
        /// refused with 417 otherwise (RFC 9110 section 10.1.1). Default: false.
        pub expectations: bool = false, with_expectations;
        /// An [`Callbacks`](crate::server::Callbacks) answers requests of HTTP/1.1 that break a rule, in
        /// bytes ([`Callbacks::refused`](crate::server::Callbacks::refused)). Default: false, they are
        /// refused with a status.
        pub hands_over_refusals: bool = false, with_hands_over_refusals;
        /// Each request carries a [`ConnectionInfo`](crate::ConnectionInfo) among its extensions:
        /// addresses, and what TLS agreed on. It costs three allocations per request. Default: false.
        pub connection_info: bool = false, with_connection_info;
        /// Each request carries an [`InterimSender`](crate::InterimSender) among its extensions, with
        /// which its handler sends `103 (Early Hints)` and other 1xx. It costs three allocations per
        /// request. Default: false.
        pub interim_responses: bool = false, with_interim_responses;
        /// A request under TLS for another host than the one that the client asked for by SNI is
        /// answered with 421, and no handler sees it (RFC 9110 section 15.5.20). Clients that send
        /// requests for several hosts of one certificate on one connection (RFC 9113 section 9.1.1)
        /// then have to open another. Beside [`Tls::choose`](crate::Tls::choose) a client that asked for
        /// no host may send requests for IP addresses only.
        ///
        /// `None`, the default: true with [`Tls::choose`](crate::Tls::choose) or
        /// [`Tls::client_certificates`](crate::Tls::client_certificates), because what a client had to
        /// show for one host says nothing of another; else false. A verifier of clients inside
        /// [`Tls::from_rustls`](crate::Tls::from_rustls) is not visible: set this to `Some(true)` beside
        /// it.
        pub sni_is_binding: Option<bool> = None, with_sni_is_binding;
        /// Every peer is a gateway that ends TLS for this server and is trusted to say the scheme: a
        /// request is taken as `http` or `https`, as it says, whatever the connection is. Otherwise a
        /// request whose scheme (`:scheme`, or the absolute form of HTTP/1.1) is not that of its
        /// connection is answered with 421, and no handler sees it (RFC 9110 section 7.4). To be set
        /// where Envoy or another gateway passes `:scheme: https` on over cleartext HTTP/2, and for
        /// `http` URLs that come through a forward proxy under TLS. Not to be set where clients can
        /// connect themselves: they would choose what a handler takes for the scheme. Default: false.
        pub scheme_from_gateway: bool = false, with_scheme_from_gateway;
        /// Connections that each worker holds open. When there are as many and another peer connects,
        /// those that have been without an exchange for longest give way: they are closed as their
        /// version lets a server do it, and counted in
        /// [`Metrics::connections_displaced`](crate::server::Metrics::connections_displaced). Where none
        /// idles, further ones wait in the kernel's backlog; over QUIC they are refused. From three
        /// quarters on, bodies without a length must come at a rate too ([`Timeouts::rate_min`]).
        /// Range: from 1. Default 16,384.
        ///
        /// Memory that all of them can make a server hold, beside what handlers hold themselves:
        /// - of answers: [`Windows::send_budget`] for all workers together, and for each connection
        ///   64 KiB ([`SEND_FREE_BYTES`](crate::core::limits::SEND_FREE_BYTES)) and one piece of a body,
        ///   over QUIC 1 MiB more
        ///   ([`QUIC_SEND_WINDOW_BYTES`](crate::core::limits::QUIC_SEND_WINDOW_BYTES)). An answer that a
        ///   handler gives whole is taken whole; the next request of a connection waits while more than
        ///   1 MiB of such answers does.
        /// - of requests: [`Windows::memory_budget`] together, and for each connection
        ///   [`Windows::stream_initial`] per stream that uploads.
        pub connections_max: usize = 16 * 1024, with_connections_max;
        /// Connections among these that one address may have: an IPv4 address, or an IPv6 network of 64
        /// bits. Further ones are closed at once (over QUIC: refused), and counted in
        /// [`Metrics::connections_refused`](crate::server::Metrics::connections_refused). Unix sockets
        /// have no address. Range: from 1. Default `None`: a quarter of `connections_max`, for all addresses but
        /// loopback, and only while three quarters of `connections_max` are taken, so that a gateway or a
        /// network behind one address meets it only where it keeps others out. `Some(usize::MAX)`: as
        /// many as there are.
        pub connections_per_address_max: Option<usize> = None, with_connections_per_address_max;
        /// Requests that are answered without a handler while there are too many. Default: none.
        pub shedding: Shedding = Shedding::default(), with_shedding;
        /// Connections that the kernel queues before they are accepted. Range: any; the system cuts it to its own bound
        /// (`net.core.somaxconn` on Linux). Default 1,024.
        pub backlog: u32 = 1024, with_backlog;
        /// Whether a `date` field is added where the handler gave none, and to answers without one (RFC 9110 section 6.6.1).
        /// Default: true.
        pub date: bool = true, with_date;
    }
}

impl ServerConfig {
    /// The settings of the machines: HTTP/1.1's, and those of all other versions.
    pub(crate) fn freeze_both(&self) -> Result<(Arc<Config>, Arc<Config>), Error> {
        let config = self.freeze()?;
        let mut http1 = Arc::clone(&config);
        if let Some(timeouts) = &self.http1_timeouts {
            Arc::make_mut(&mut http1).timeouts = timeouts_within(timeouts);
        }
        if let Some(fields) = self.http1_field_count_max {
            let limits = &mut Arc::make_mut(&mut http1).limits;
            limits.field_count_max = fields;
            let section = fields.saturating_mul(FIELD_OVERHEAD_BYTES);
            let section = section.saturating_add(limits.head_bytes_max);
            limits.field_section_bytes_max = limits.field_section_bytes_max.max(section);
        }
        Ok((http1, config))
    }
    fn freeze(&self) -> Result<Arc<Config>, Error> {
        check(&self.limits, &self.windows)?;
        if self.connections_max == 0 {
            return Err(Error::config("connections_max is 0; it must be at least 1"));
        }
        if self.connections_per_address_max == Some(0) {
            return Err(Error::config(
                "connections_per_address_max is 0; it must be at least 1, or None",
            ));
        }
        self.shedding.check()?;
        if self.datagrams && !self.extended_connect {
            return Err(Error::config(
                "datagrams is set and extended_connect is not; only an extended CONNECT has datagrams",
            ));
        }
        let config = Config::default()
            .with_limits(self.limits.clone())
            .with_timeouts(timeouts_within(&self.timeouts))
            .with_windows(self.windows.clone())
            .with_extended_connect(self.extended_connect)
            .with_datagrams(self.datagrams)
            .with_frame_events(self.frame_events)
            .with_extension_settings(self.extension_settings.clone())
            .with_spelled_names(self.spelled_names)
            .with_needs_host(self.needs_host)
            .with_expectations(self.expectations)
            .with_hands_over_refusals(self.hands_over_refusals)
            .with_date(self.date.then_some(date::write_date));
        Ok(Arc::new(config))
    }
}

trunkline_core::options! {
    /// Settings of a client.
    pub struct ClientConfig {
        /// Bounds on what a peer may make us hold or do.
        pub limits: Limits = response_limits(), with_limits;
        /// How long each phase may take.
        pub timeouts: Timeouts = Timeouts::default(), with_timeouts;
        /// Receive windows.
        pub windows: Windows = Windows::default(), with_windows;
        /// HTTP datagrams (RFC 9297) are announced over QUIC. Default: false.
        pub datagrams: bool = false, with_datagrams;
        /// A request of HTTP/1.1 whose connection stays open says `connection: keep-alive`, for servers
        /// and proxies of HTTP/1.0. Default: false.
        pub sends_keep_alive: bool = false, with_sends_keep_alive;
        /// The names of fields of HTTP/1.1 responses are kept as they are spelled too
        /// ([`Fields::spellings`](crate::core::http::Fields::spellings)). Default: false.
        pub spelled_names: bool = false, with_spelled_names;
        /// Blanks behind the size of a chunk of HTTP/1.1 and in its extensions are passed over, as old servers pad them.
        /// Default: true; otherwise they end the body with an error.
        pub chunk_blanks: bool = true, with_chunk_blanks;
    }
}

impl ClientConfig {
    /// Refuses what cannot be used.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let fields = self.limits.field_count_max;
        if fields > HEADER_MAP_FIELDS_MAX {
            return Err(Error::config(format!(
                "limits.field_count_max is {fields}; it must be at most {HEADER_MAP_FIELDS_MAX}, as many as a header map takes"
            )));
        }
        check(&self.limits, &self.windows)
    }
    /// The settings of the machines; `pipelining` is the client's own setting.
    pub(crate) fn freeze(&self, pipelining: u32) -> Arc<Config> {
        let mut limits = self.limits.clone();
        limits.pipelining = pipelining;
        let config = Config::default()
            .with_limits(limits)
            .with_timeouts(timeouts_within(&self.timeouts))
            .with_windows(self.windows.clone())
            .with_datagrams(self.datagrams)
            .with_spelled_names(self.spelled_names)
            .with_chunk_blanks(self.chunk_blanks)
            .with_sends_keep_alive(self.sends_keep_alive);
        Arc::new(config)
    }
}

/// The most fields that a header map takes.
pub(crate) const HEADER_MAP_FIELDS_MAX: usize = 24_576;

/// The bounds of a client: those of a server, and longer heads of HTTP/1.1.
pub(crate) fn response_limits() -> Limits {
    Limits::default().with_head_bytes_max(RESPONSE_HEAD_BYTES_MAX)
}

fn check(limits: &Limits, windows: &Windows) -> Result<(), Error> {
    /// RFC 9113 section 6.9.1.
    const WINDOW_MAX: u32 = (1 << 31) - 1;
    for (name, window, least) in [
        ("stream_initial", windows.stream_initial, 0),
        ("stream_max", windows.stream_max, 1),
        ("connection", windows.connection, 1),
    ] {
        if window < least || window > WINDOW_MAX {
            return Err(Error::config(format!(
                "windows.{name} is {window}; it must be from {least} to {WINDOW_MAX}"
            )));
        }
    }
    if let Some(threshold) = windows.threshold
        && threshold >= windows.stream_initial
    {
        let below = windows.stream_initial;
        return Err(Error::config(format!(
            "windows.threshold is {threshold}; it must be below windows.stream_initial, {below}"
        )));
    }
    for (name, value) in [
        ("pipelining", u64::from(limits.pipelining)),
        (
            "requests_per_connection_max",
            limits.requests_per_connection_max,
        ),
    ] {
        if value == 0 {
            return Err(Error::config(format!(
                "limits.{name} is 0; it must be at least 1"
            )));
        }
    }
    Ok(())
}

/// The longest time that a setting has; a longer one is taken as this: programs write "no end" as
/// `Duration::MAX`, by which no clock can be moved.
const TIME_MAX: Duration = Duration::from_secs(366 * 24 * 3600);

/// `time`, or the longest one.
pub(crate) fn within(time: Duration) -> Duration {
    time.min(TIME_MAX)
}

/// Bounds each of the timeouts.
pub(crate) fn timeouts_within(timeouts: &Timeouts) -> Timeouts {
    let mut bounded = timeouts.clone();
    for time in [
        &mut bounded.handshake,
        &mut bounded.settings,
        &mut bounded.head,
        &mut bounded.first_request,
        &mut bounded.body_idle,
        &mut bounded.write_stall,
        &mut bounded.stream_stall,
        &mut bounded.scarce_stall,
        &mut bounded.idle,
        &mut bounded.half_closed,
        &mut bounded.age_max,
    ] {
        *time = time.map(within);
    }
    bounded.rate_grace = within(bounded.rate_grace);
    bounded
}

#[cfg(test)]
#[path = "config_test.rs"]
mod config_test;
