//! The listen options of a server as JavaScript sends them.

pub(crate) mod bound;
pub(crate) mod forwarded;
#[cfg(unix)]
pub(crate) mod hand_over;
#[cfg(not(unix))]
pub(crate) mod without_hand_over;

#[cfg(not(unix))]
pub(crate) use without_hand_over as hand_over;

use self::bound::BoundSockets;
#[cfg(unix)]
use self::bound::inherited::{self, InheritedSocket};
use super::secured::TlsAsk;
use crate::failure;
use hand_over::{Succession, Successors};
use serde::Deserialize;
use serde_json::Value;
#[cfg(unix)]
use std::path::absolute;
use std::time::Duration;
use trunkline::core::budget::Rate;
#[cfg(unix)]
use trunkline::server::{Sockets, UnixSocket};
use trunkline::{
    Limits, QuicLb, Server, ServerConfig, Shedding, Timeouts, Tls, TrustedPeers, Windows,
};

/// Requests that take longer have timelines, as those that fail have, once a page shows them.
const SLOW: Duration = Duration::from_secs(1);

/// A server's listen options; an absent one keeps the engine's default. Times in ms, 0: never.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct ListenAsk {
    host: Option<String>,
    port: u16,
    /// A Unix socket, in place of a port.
    path: Option<String>,
    /// Where processes that serve one after the other meet.
    hand_over: Option<String>,
    /// A socket that is open, in place of both.
    fd: Option<i32>,
    /// A UDP socket that is open, for HTTP/3 beside it.
    udp_fd: Option<i32>,
    /// Nowhere: streams and accepted sockets are given to it.
    detached: bool,
    /// On the UDP port alone, for HTTP/3: accepted sockets are given to it.
    udp_only: bool,
    /// Its owner closes it.
    fd_is_borrowed: bool,
    shares_port: bool,
    ipv6_only: bool,
    backlog: Option<u32>,
    pub(crate) tls: Option<TlsAsk>,
    http1: Option<bool>,
    http2: Option<bool>,
    pub(crate) http3: bool,
    /// Connections that begin under load are left to a second worker, on an engine's thread.
    pub(crate) leaves: bool,
    extended_connect: bool,
    frame_events: bool,
    /// Identifier and value of settings of extensions.
    extension_settings: Vec<(u16, u32)>,
    accept_events: bool,
    spelled_names: bool,
    scheme_from_gateway: bool,
    proxy_protocol: Vec<String>,
    quic_lb: Option<QuicLbAsk>,
    /// Requests of HTTP/1.1 without a host field are served.
    takes_hostless: bool,
    expectations: bool,
    hands_over_refusals: bool,
    connections_max: Option<usize>,
    shedding: SheddingAsk,
    limits: LimitsAsk,
    timeouts: TimeoutsAsk,
    http1_timeouts: TimeoutsAsk,
    http1_field_count_max: Option<usize>,
    windows: WindowsAsk,
}

/// Structs of options that override a setting of the same name where they are there.
macro_rules! overrides {
    ($name:ident of $target:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        struct $name { $($field: Option<$kind>),* }

        impl $name {
            fn apply(&self, to: &mut $target) {
                $(if let Some(value) = self.$field { to.$field = value.into(); })*
            }
        }
    };
}

overrides!(LimitsAsk of Limits {
    header_table_bytes_max: usize, encoder_table_bytes_max: usize, field_count_max: usize, field_section_bytes_max: usize, header_block_bytes_max: usize,
    continuations_max: u32, concurrent_streams_max: u32, running_handlers_max: u32,
    request_streams_max: u32, request_handlers_max: u32, outbox_bytes_max: usize,
    send_buffer_bytes_max: usize, requests_per_connection_max: u64, head_bytes_max: usize,
    target_bytes_max: usize, chunk_extension_bytes_max: usize, interim_responses_max: u32,
    resets: RateAsk, glitches: RateAsk, pings: RateAsk,
    stream_errors_max: u32, refused_streams_max: u32, queued_bytes_max: u64, settings_per_frame_max: u32,
});
/// How often something may happen.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RateAsk {
    burst: u32,
    per_second: u32,
}

impl From<RateAsk> for Rate {
    fn from(RateAsk { burst, per_second }: RateAsk) -> Self {
        Self { burst, per_second }
    }
}

/// Requests that are answered without JavaScript.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct SheddingAsk {
    requests_per_address: Option<RateAsk>,
    bytes_per_address: Option<RateAsk>,
    lag_max: Option<u64>,
    send_budget_percent_max: Option<u8>,
    process_memory_max: Option<u64>,
}

impl SheddingAsk {
    fn settings(&self) -> Shedding {
        let lag = self.lag_max.filter(|&ms| ms > 0);
        let percent = self.send_budget_percent_max;
        Shedding::default()
            .with_requests_per_address(self.requests_per_address.map(Rate::from))
            .with_bytes_per_address(self.bytes_per_address.map(Rate::from))
            .with_process_memory_max(self.process_memory_max.filter(|&bytes| bytes > 0))
            .with_lag_max(lag.map(Duration::from_millis))
            .with_send_budget_percent_max(percent.filter(|&percent| percent > 0))
    }
}

/// The connection ids of HTTP/3 for load balancers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct QuicLbAsk {
    server_id: Vec<u8>,
    nonce_bytes: Option<usize>,
    rotation: Option<u8>,
    key: Option<[u8; 16]>,
}

impl QuicLbAsk {
    fn settings(&self) -> QuicLb {
        let mut settings = QuicLb::new(&self.server_id);
        if let Some(bytes) = self.nonce_bytes {
            settings = settings.nonce_bytes(bytes);
        }
        if let Some(rotation) = self.rotation {
            settings = settings.rotation(rotation);
        }
        match self.key {
            Some(key) => settings.key(key),
            None => settings,
        }
    }
}

overrides!(WindowsAsk of Windows {
    stream_initial: u32, stream_max: u32, connection: u32, memory_budget: u64, send_budget: u64, auto: bool,
});

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct TimeoutsAsk {
    handshake: Option<u64>,
    settings: Option<u64>,
    head: Option<u64>,
    first_request: Option<u64>,
    body_idle: Option<u64>,
    write_stall: Option<u64>,
    stream_stall: Option<u64>,
    scarce_stall: Option<u64>,
    idle: Option<u64>,
    half_closed: Option<u64>,
    age_max: Option<u64>,
    rate_min: Option<u32>,
    rate_grace: Option<u64>,
}

impl TimeoutsAsk {
    fn apply(&self, to: &mut Timeouts) {
        let time = |ms: u64| (ms > 0).then(|| Duration::from_millis(ms));
        for (from, to) in [
            (self.handshake, &mut to.handshake),
            (self.settings, &mut to.settings),
            (self.head, &mut to.head),
            (self.first_request, &mut to.first_request),
            (self.body_idle, &mut to.body_idle),
            (self.write_stall, &mut to.write_stall),
            (self.stream_stall, &mut to.stream_stall),
            (self.scarce_stall, &mut to.scarce_stall),
            (self.idle, &mut to.idle),
            (self.half_closed, &mut to.half_closed),
            (self.age_max, &mut to.age_max),
        ] {
            if let Some(ms) = from {
                *to = time(ms);
            }
        }
        if let Some(rate) = self.rate_min {
            to.rate_min = rate;
        }
        if let Some(ms) = self.rate_grace {
            to.rate_grace = Duration::from_millis(ms);
        }
    }
}

impl ListenAsk {
    /// By ALPN, best first.
    pub(crate) fn offered(&self) -> Vec<&'static str> {
        let http2 = self.http2.unwrap_or(true).then_some("h2");
        let http1 = self.http1.unwrap_or(true).then_some("http/1.1");
        http2.into_iter().chain(http1).collect()
    }
    pub(crate) fn config(&self) -> ServerConfig {
        let mut config = ServerConfig::default()
            .with_connection_info(true)
            .with_http1(self.http1.unwrap_or(true))
            .with_http2(self.http2.unwrap_or(true))
            .with_extended_connect(self.extended_connect)
            .with_frame_events(self.frame_events)
            .with_extension_settings(self.extension_settings.clone())
            .with_accept_events(self.accept_events)
            .with_spelled_names(self.spelled_names)
            .with_sni_is_binding(self.tls.as_ref().map(TlsAsk::sni_is_binding))
            .with_scheme_from_gateway(self.scheme_from_gateway)
            .with_needs_host(!self.takes_hostless)
            .with_expectations(self.expectations)
            .with_hands_over_refusals(self.hands_over_refusals);
        self.limits.apply(&mut config.limits);
        self.timeouts.apply(&mut config.timeouts);
        let mut http1 = config.timeouts.clone();
        self.http1_timeouts.apply(&mut http1);
        config.http1_timeouts = Some(http1);
        config.http1_field_count_max = self.http1_field_count_max;
        self.windows.apply(&mut config.windows);
        config.shedding = self.shedding.settings();
        config.backlog = self.backlog.unwrap_or(config.backlog);
        config.connections_max = self.connections_max.unwrap_or(config.connections_max);
        config
    }
    /// The process before, whose place this server takes. One that listens nowhere has none.
    pub(crate) fn succession(&self) -> Result<Succession, Value> {
        match &self.hand_over {
            Some(path) if !self.detached => Succession::at(path),
            _ => Ok(Succession::default()),
        }
    }
    /// Where the next process will find it.
    pub(crate) fn successors(&self) -> Result<Option<Successors>, Value> {
        let path = self.hand_over.as_deref().filter(|_| !self.detached);
        path.map(hand_over::listen).transpose()
    }
    /// Opens the sockets, or serves on those of `succession`.
    pub(crate) fn open(
        &self,
        tls: Option<&Tls>,
        #[cfg_attr(
            not(unix),
            allow(unused_variables, reason = "no process hands sockets over there")
        )]
        succession: &mut Succession,
    ) -> Result<BoundSockets, Value> {
        if self.detached {
            return self.open_detached(tls);
        }
        #[cfg(unix)]
        if let Some(sockets) = succession.take_sockets() {
            self.check_place(&sockets)?;
            return match sockets.are_unix() {
                true => self.open_unix(Server::on_unix_sockets(sockets), tls),
                false => self.open_port(Server::on_sockets(sockets), tls),
            };
        }
        match (self.fd, &self.path) {
            (Some(fd), _) => self.open_inherited(fd, tls),
            (None, Some(path)) => self.open_path(path, tls),
            (None, None) => {
                let open = |host: &str| self.open_port(Server::bind((host, self.port)), tls);
                match &self.host {
                    Some(host) => open(host),
                    // Both families where there are both, as Node.js does.
                    None => open("::").or_else(|_| open("0.0.0.0")),
                }
            }
        }
    }
    fn open_detached(&self, tls: Option<&Tls>) -> Result<BoundSockets, Value> {
        let listening = self.with(Server::detached(), tls)?.listen();
        let listening = listening.map_err(|error| failure::describe(&error))?;
        Ok(BoundSockets::Detached(Box::new(listening)))
    }
    fn open_port(&self, server: Server, tls: Option<&Tls>) -> Result<BoundSockets, Value> {
        let server = server.shares_port(self.shares_port).http3(self.http3);
        let mut server = server.tcp(!self.udp_only).only_ipv6(self.ipv6_only);
        if let Some(quic_lb) = &self.quic_lb {
            server = server.quic_lb(quic_lb.settings());
        }
        let listening = self.with(server, tls)?.listen();
        let listening = listening.map_err(|error| failure::describe(&error))?;
        Ok(BoundSockets::Port(Box::new(listening)))
    }
    /// Applies the options of every kind of server.
    fn with<P>(&self, server: Server<P>, tls: Option<&Tls>) -> Result<Server<P>, Value> {
        let mut server = server.config(self.config()).offer_timelines(SLOW);
        if let Some(tls) = tls {
            server = server.tls(tls.clone());
        }
        if !self.proxy_protocol.is_empty() {
            let proxies = TrustedPeers::parse(&self.proxy_protocol)
                .map_err(|error| failure::refusal("config", &format!("proxyProtocol: {error}")))?;
            server = server.proxy_protocol(proxies);
        }
        Ok(server)
    }
}

#[cfg(unix)]
impl ListenAsk {
    /// Refuses sockets of another place than the one that was asked for.
    fn check_place(&self, sockets: &Sockets) -> Result<(), Value> {
        let differs = |asked: String, has: String| {
            let text =
                format!("{asked}, and the server whose place this one is to take listens on {has}");
            Err(failure::refusal("config", &text))
        };
        let unix = sockets.unix_address();
        let path = unix.as_ref().and_then(|address| address.as_pathname());
        let has = || {
            path.map_or("a Unix socket".to_owned(), |path| {
                path.display().to_string()
            })
        };
        match (&self.path, sockets.local_addr()) {
            (Some(asked), Some(address)) => {
                differs(format!("path is {asked}"), address.to_string())
            }
            (Some(asked), None) => match path {
                Some(path) if absolute(path).ok() != absolute(asked).ok() => {
                    differs(format!("path is {asked}"), has())
                }
                _ => Ok(()),
            },
            (None, None) => differs(format!("port is {}", self.port), has()),
            (None, Some(address)) if self.port != 0 && self.port != address.port() => {
                differs(format!("port is {}", self.port), address.to_string())
            }
            (None, Some(_)) => Ok(()),
        }
    }
    fn open_path(&self, path: &str, tls: Option<&Tls>) -> Result<BoundSockets, Value> {
        self.open_unix(Server::bind_unix(path), tls)
    }
    fn open_inherited(&self, fd: i32, tls: Option<&Tls>) -> Result<BoundSockets, Value> {
        if self.udp_fd.is_some() && !self.http3 {
            let text = "udpFd is given and http3 is off: the socket would not be read; turn http3 on, or leave the socket out";
            return Err(failure::refusal("config", text));
        }
        match InheritedSocket::listen(fd, self.fd_is_borrowed, self.config().backlog) {
            Ok(InheritedSocket::Tcp(listener)) => match self.udp_fd {
                None => self.open_port(Server::on(listener), tls),
                Some(udp_fd) => {
                    let address = listener.local_addr();
                    let port = address.map_err(|error| inherited::refused(fd, &error))?;
                    let udp = inherited::udp(udp_fd, port.port())?;
                    let sockets = Sockets::of_port(vec![listener], vec![udp]);
                    self.open_port(Server::on_sockets(sockets), tls)
                }
            },
            Ok(InheritedSocket::Unix(listener)) => self.open_unix(Server::on_unix(listener), tls),
            Err(error) => Err(inherited::refused(fd, &error)),
        }
    }
    fn open_unix(
        &self,
        server: Server<UnixSocket>,
        tls: Option<&Tls>,
    ) -> Result<BoundSockets, Value> {
        if self.http3 {
            let text = "http3 is on and the server has no port; a Unix socket has no UDP";
            return Err(failure::refusal("config", text));
        }
        let listening = self.with(server, tls)?.listen();
        let listening = listening.map_err(|error| failure::describe(&error))?;
        Ok(BoundSockets::Unix(Box::new(listening)))
    }
}

#[cfg(not(unix))]
impl ListenAsk {
    fn open_path(&self, path: &str, _: Option<&Tls>) -> Result<BoundSockets, Value> {
        let text = format!("path is {path}; this system has no Unix sockets: give a port");
        Err(failure::refusal("config", &text))
    }
    fn open_inherited(&self, fd: i32, _: Option<&Tls>) -> Result<BoundSockets, Value> {
        let text = match fd {
            ..0 => "a listening socket of node:net, such as a cluster's worker has, cannot be taken over on this system: give a port of \
                    this process's own"
                .to_owned(),
            _ => format!("fd is {fd}; this system has no descriptors: give a port"),
        };
        Err(failure::refusal("config", &text))
    }
}

#[cfg(test)]
#[path = "listen_test.rs"]
mod listen_test;
