//! Every key of the configuration file: what it sets, its form, its unit, its range and its default. The reference in
//! the guide and the messages about wrong values are made of this table.

use super::NamedCertificate;
use super::quic_lb::bytes_of;
use crate::serve::ServeOptions;
use crate::serve::listeners::ListenAddress;
use crate::serve::listeners::ListenTable;
use crate::serve::operate::FILE_BYTES_LEAST;
use crate::serve::operate::access_log::{LogField, LogFormat, LogLevel};
use clap::ValueEnum;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;
use trunkline::core::budget::Rate;

/// The tables that a file has once.
pub(super) const TABLES: &[&str] = &[
    "files", "response", "tls", "http3", "limits", "timeouts", "log", "admin", "drain",
];
/// The table that a file has once for each certificate.
pub(super) const CERTIFICATE: &str = "certificate";
/// The table that a file has once for each address, where there are several.
pub(super) const LISTEN: &str = "listen";

/// A key.
pub(super) struct Key {
    /// With its table in front.
    pub(super) path: &'static str,
    pub(super) kind: ValueKind,
    /// As a file writes it; in parentheses a value that no file can have.
    pub(super) default: &'static str,
    /// The flag of the same option.
    pub(super) flag: Option<&'static str>,
    /// SIGHUP is enough for a new value.
    pub(super) is_live: bool,
    pub(super) meaning: &'static str,
}

/// The form of a value, and the option that it sets.
pub(super) enum ValueKind {
    Flag(fn(&mut ServeOptions, bool)),
    /// The values that are allowed.
    Text(
        &'static str,
        fn(&mut ServeOptions, &str) -> Result<(), String>,
    ),
    Texts(
        &'static str,
        fn(&mut ServeOptions, Vec<&str>) -> Result<(), String>,
    ),
    File(fn(&mut ServeOptions, PathBuf)),
    /// The unit.
    Count(
        RangeInclusive<u64>,
        &'static str,
        fn(&mut ServeOptions, u64),
    ),
    Bytes(RangeInclusive<u64>, fn(&mut ServeOptions, u64)),
    Time(RangeInclusive<Duration>, fn(&mut ServeOptions, Duration)),
    TimeOrOff(
        RangeInclusive<Duration>,
        fn(&mut ServeOptions, Option<Duration>),
    ),
}

impl Key {
    const fn new(
        path: &'static str,
        kind: ValueKind,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            path,
            kind,
            default,
            flag: None,
            is_live: false,
            meaning,
        }
    }
    const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }
    const fn live(mut self) -> Self {
        self.is_live = true;
        self
    }
    /// Its table; empty at the top.
    pub(super) fn table(&self) -> &'static str {
        self.path.split_once('.').map_or("", |(table, _)| table)
    }
    /// Without its table.
    pub(super) fn name(&self) -> &'static str {
        self.path
            .split_once('.')
            .map_or(self.path, |(_, name)| name)
    }
    /// Whether its value is a path.
    pub(super) fn names_a_file(&self) -> bool {
        matches!(self.kind, ValueKind::File(_))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const TIMES: RangeInclusive<Duration> = Duration::from_millis(1)..=MONTH;
const MANY: u64 = u32::MAX as u64 >> 1;
const MIB: u64 = 1024 * 1024;
const ADDRESS: &str = "a text: host:port, for example \"127.0.0.1:8080\", or \"unix:PATH\"";

/// All of them, in the order of the reference.
pub(super) const KEYS: &[Key] = &[
    Key::new("listen", ValueKind::Text(ADDRESS, listen), "\"127.0.0.1:8080\"",
        "Address and port (port 0 takes a free one), or a Unix socket at a path that must not exist yet").flag("--listen").live(),
    Key::new("redirect_from", ValueKind::Text("a text: host:port, for example \"0.0.0.0:80\"", redirect_from), "(none)",
        "Redirect every request at this address and port to the same URL under https on the port of listen, with 308").flag("--redirect-from").live(),
    Key::new("listen.address", ValueKind::Text(ADDRESS, |o, text| {
        let address = text.parse()?;
        listener(o, |it| it.address = Some(address));
        Ok(())
    }), "(needed)", "One of several addresses, each a table [[listen]] in place of the key listen. The first is that of the site, to which others redirect").live(),
    Key::new("listen.tls", ValueKind::Flag(|o, on| listener(o, |it| it.tls = Some(on))), "(true where there is a certificate)",
        "Whether it is under TLS, with HTTP/3").live(),
    Key::new("listen.redirect", ValueKind::Flag(|o, on| listener(o, |it| it.redirect = on)), "false",
        "As redirect_from, to the port of the first address").live(),
    Key::new("root", ValueKind::File(|o, path| o.directory = Some(path)), "(none)",
        "The directory to serve; needed unless test_endpoints is true"),
    Key::new("workers", ValueKind::Count(0..=1024, "threads; 0: one per processor", |o, n| o.workers = n as u16), "1",
        "Threads that serve").flag("--workers"),
    Key::new("proxy_protocol", ValueKind::Texts("addresses and networks, for example [\"10.0.0.0/8\", \"::1\"]", proxies), "[]",
        "Load balancers whose connections begin with a header of the PROXY protocol (version 1 or 2), and no others: its \
         addresses count. On a Unix socket any entry makes every connection begin so").flag("--proxy-protocol"),
    Key::new("forwarded", ValueKind::Texts("addresses and networks, for example [\"10.0.0.0/8\", \"::1\"], without x_forwarded beside it", forwarded), "[]",
        "Proxies that state the client of each request in the field Forwarded (RFC 7239): the access log has its address")
        .flag("--forwarded"),
    Key::new("x_forwarded", ValueKind::Texts("addresses and networks, for example [\"10.0.0.0/8\", \"::1\"], without forwarded beside it", x_forwarded), "[]",
        "As forwarded, in X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host").flag("--x-forwarded"),
    Key::new("scheme_from_gateway", ValueKind::Flag(|o, on| o.scheme_from_gateway = on), "false",
        "Every peer is a gateway that ends TLS: http and https are taken as requests say").flag("--scheme-from-gateway"),
    Key::new("reload_on_change", ValueKind::Flag(|o, on| o.reload_on_change = on), "false",
        "Read this file again when it has changed, and then not for 5 s, as at SIGHUP").live(),
    Key::new("test_endpoints", ValueKind::Flag(|o, on| o.test_endpoints = on), "false",
        "Answer /bytes/N, /delay/MS, /echo and /status/N").flag("--test-endpoints"),
    Key::new("files.listing", ValueKind::Flag(|o, on| o.no_listing = !on), "true",
        "List a directory without index.html; else 404").flag("--no-listing"),
    Key::new("files.dot_files", ValueKind::Flag(|o, on| o.dot_files = on), "false",
        "Serve names that begin with a dot; /.well-known is served in any case").flag("--dot-files"),
    Key::new("files.spa", ValueKind::Flag(|o, on| o.spa = on), "false",
        "Answer a path without a file, whose last part has no dot, with the index.html of root").flag("--spa"),
    Key::new("files.compress", ValueKind::Flag(|o, on| o.compress = on), "false",
        "Compress text for clients that accept br, gzip or zstd").flag("--compress"),
    Key::new("response.headers", ValueKind::Texts("texts \"name: value\"", |o, all| {
        o.headers = owned(all);
        Ok(())
    }), "[]", "Fields of every response, in place of the server's own").flag("-H"),
    Key::new("response.cache_control", ValueKind::Text("a text without control characters", |o, text| {
        o.cache_control = Some(text.to_owned());
        Ok(())
    }), "(none)", "The field cache-control of every response").flag("--cache-control"),
    Key::new("response.cors", ValueKind::Text("an origin, or \"*\" for every one", |o, text| {
        o.cors = Some(text.to_owned());
        Ok(())
    }), "(none)", "The origin whose pages may read responses").flag("--cors"),
    Key::new("response.auth", ValueKind::Text("a text \"user:password\"", |o, text| {
        o.auth = Some(text.to_owned());
        Ok(())
    }), "(none)", "Credentials that every request must have (Basic)").flag("--auth"),
    Key::new("certificate.chain", ValueKind::File(|o, path| certificate(o, |it| it.chain = path)), "(needed)",
        "Certificate chain, PEM, the server's own first").flag("--tls-cert").live(),
    Key::new("certificate.key", ValueKind::File(|o, path| certificate(o, |it| it.key = path)), "(needed)",
        "Its private key, PEM").flag("--tls-key").live(),
    Key::new("certificate.names", ValueKind::Texts("host names, or \"*.rest\" for all with one label more than rest", |o, all| {
        let names = owned(all);
        certificate(o, |it| it.names = names);
        Ok(())
    }), "[]", "The names (SNI) that it is shown for; one certificate may have none, and is for all other clients").live(),
    Key::new("tls.self_signed", ValueKind::Flag(|o, on| o.tls_self_signed = on), "false",
        "Serve under TLS with a fresh certificate for localhost that no other machine trusts").flag("--tls-self-signed"),
    Key::new("tls.tickets", ValueKind::File(|o, path| o.tls_tickets = Some(path)), "(none)",
        "Keys that seal session tickets, one per line as 64 hexadecimal digits; the first seals. A file that every user may \
         read is refused. Read again when it changes").flag("--tls-tickets").live(),
    Key::new("http3.enabled", ValueKind::Flag(|o, on| {
        o.http3 = on;
        o.no_http3 = !on;
    }), "(true under TLS)", "Serve HTTP/3 over UDP on the same port").flag("--http3"),
    Key::new("http3.early_data", ValueKind::Flag(|o, on| o.early_data = on), "false",
        "Accept GET, HEAD and OPTIONS with the handshake of a resumed session (0-RTT), which can be replayed; not with \
         tls.tickets").flag("--early-data"),
    Key::new("http3.quic_secret", ValueKind::File(|o, path| o.quic_secret = Some(path)), "(from the private key)",
        "A secret file of 32 bytes or more: stateless resets derive from it").flag("--quic-secret"),
    Key::new("http3.lb_server_id", ValueKind::Text("a text of hexadecimal digits, two for each of 1 to 13 bytes", |o, text| {
        o.quic_lb.server_id = Some(bytes_of(text).filter(|id| (1..=13).contains(&id.len())).ok_or_else(String::new)?);
        Ok(())
    }), "(none)", "This server's id within its connection ids, by which load balancers find it (QUIC-LB)"),
    Key::new("http3.lb_nonce_bytes", ValueKind::Count(4..=16, "bytes", |o, n| o.quic_lb.nonce_bytes = n as usize), "8",
        "Random bytes behind the server id; both together have 17 at most"),
    Key::new("http3.lb_rotation", ValueKind::Count(0..=6, "", |o, n| o.quic_lb.rotation = n as u8), "0",
        "The number of the load balancer's configuration"),
    Key::new("http3.lb_key", ValueKind::File(|o, path| o.quic_lb.key = Some(path)), "(none)",
        "A key of 32 hexadecimal digits with which server id and nonce are encrypted; without one they can be read. A file \
         that every user may read is refused"),
    Key::new("limits.connections_max", ValueKind::Count(1..=MANY, "connections of each worker", |o, n| {
        o.server.connections_max = n as usize;
    }), "16384", "Open connections; at the limit idle ones give way"),
    Key::new("limits.connections_per_address_max", ValueKind::Count(1..=MANY, "connections of each worker", |o, n| {
        o.server.connections_per_address_max = Some(n as usize);
    }), "(a quarter of all, while they are scarce)", "Of one IPv4 address or IPv6 network of 64 bits"),
    Key::new("limits.requests_per_address", ValueKind::Count(0..=1_000_000, "requests per second to each worker, and ten times as many at once; 0: no limit", |o, n| {
        o.server.shedding.requests_per_address = address_rate(n as u32);
    }), "0", "Of one IPv4 address or IPv6 network of 64 bits; further ones get 429"),
    Key::new("limits.bytes_per_address", ValueKind::Count(0..=400_000_000, "bytes per second from and to each worker, and ten times as many at once; 0: no limit", |o, n| {
        o.server.shedding.bytes_per_address = address_rate(n as u32);
    }), "0", "Of one IPv4 address or IPv6 network of 64 bits; while it has moved more, its requests get 429"),
    Key::new("limits.lag_max", ValueKind::TimeOrOff(TIMES, |o, time| o.server.shedding.lag_max = time), "\"off\"",
        "How far a worker may be behind before new requests get 503"),
    Key::new("limits.send_budget_percent_max", ValueKind::Count(0..=99, "per cent; 0: no limit", |o, n| {
        o.server.shedding.send_budget_percent_max = (n > 0).then_some(n as u8);
    }), "0", "How much of send_budget may wait before new requests get 503"),
    Key::new("limits.process_memory_max", ValueKind::Bytes(0..=MANY * MIB, |o, n| {
        o.server.shedding.process_memory_max = (n > 0).then_some(n);
    }), "0", "RAM that the process may have before new requests get 503; 0: no limit"),
    Key::new("limits.backlog", ValueKind::Count(1..=65_535, "connections", |o, n| o.server.backlog = n as u32), "1024",
        "Length of the kernel's queue of connections not yet accepted"),
    Key::new("limits.memory_budget", ValueKind::Bytes(MIB..=MANY * MIB, |o, n| o.server.windows.memory_budget = n), "67108864",
        "What all receive windows may borrow beyond their first size"),
    Key::new("limits.send_budget", ValueKind::Bytes(MIB..=MANY * MIB, |o, n| o.server.windows.send_budget = n), "67108864",
        "What all connections hold for peers that do not take it"),
    Key::new("limits.requests_per_connection_max", ValueKind::Count(0..=u64::MAX, "requests; 0: no limit", |o, n| {
        o.requests_per_connection = n;
    }), "1073741824", "Requests on one connection before it is drained").flag("--requests-per-connection").live(),
    Key::new("limits.concurrent_streams_max", ValueKind::Count(1..=MANY, "streams", |o, n| {
        o.server.limits.concurrent_streams_max = n as u32;
    }), "100", "HTTP/2: open streams of a connection").live(),
    Key::new("limits.running_handlers_max", ValueKind::Count(1..=MANY, "requests", |o, n| {
        o.server.limits.running_handlers_max = n as u32;
    }), "200", "HTTP/2: requests of a connection in work, reset ones too").live(),
    Key::new("limits.request_streams_max", ValueKind::Count(1..=MANY, "streams", |o, n| {
        o.server.limits.request_streams_max = n as u32;
    }), "256", "HTTP/3: open streams of a connection"),
    Key::new("limits.request_handlers_max", ValueKind::Count(1..=MANY, "requests", |o, n| {
        o.server.limits.request_handlers_max = n as u32;
    }), "512", "HTTP/3: requests of a connection in work"),
    Key::new("limits.field_count_max", ValueKind::Count(8..=65_536, "fields", |o, n| {
        o.server.limits.field_count_max = n as usize;
    }), "512", "Fields of one head").live(),
    Key::new("limits.field_section_bytes_max", ValueKind::Bytes(1024..=16 * MIB, |o, n| {
        o.server.limits.field_section_bytes_max = n as usize;
    }), "65536", "HTTP/2, HTTP/3: decoded fields of one head (RFC 9113 section 10.5.1)").live(),
    Key::new("limits.head_bytes_max", ValueKind::Bytes(1024..=16 * MIB, |o, n| {
        o.server.limits.head_bytes_max = n as usize;
    }), "65536", "HTTP/1.1: a head, start line included").live(),
    Key::new("limits.target_bytes_max", ValueKind::Bytes(256..=16 * MIB, |o, n| {
        o.server.limits.target_bytes_max = n as usize;
    }), "16384", "HTTP/1.1: a request target").live(),
    Key::new("timeouts.handshake", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.handshake = time), "10",
        "TLS handshake, and the header of the PROXY protocol").live(),
    Key::new("timeouts.settings", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.settings = time), "10",
        "HTTP/2: preface and first SETTINGS, and the answer to ours").live(),
    Key::new("timeouts.head", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.head = time), "15",
        "A request's head, from its first byte").live(),
    Key::new("timeouts.first_request", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.first_request = time), "\"off\"",
        "HTTP/1.1: the head of a connection's first request, from the connection's start").live(),
    Key::new("timeouts.body_idle", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.body_idle = time), "300",
        "Between two pieces of a request's body").live(),
    Key::new("timeouts.write_stall", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.write_stall = time), "300",
        "A connection that takes nothing of what waits for it").live(),
    Key::new("timeouts.stream_stall", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.stream_stall = time), "300",
        "HTTP/2, HTTP/3: a stream that takes less than its share").live(),
    Key::new("timeouts.scarce_stall", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.scarce_stall = time), "30",
        "The two above, while the server holds most of its connections, or half of its memory for unread answers").live(),
    Key::new("timeouts.idle", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.idle = time), "75",
        "A connection without a request").live(),
    Key::new("timeouts.half_closed", ValueKind::TimeOrOff(Duration::ZERO..=MONTH, |o, time| {
        o.server.timeouts.half_closed = time;
    }), "30", "HTTP/1.1: a response to a client that has closed its side").live(),
    Key::new("timeouts.age_max", ValueKind::TimeOrOff(TIMES, |o, time| o.server.timeouts.age_max = time), "\"off\"",
        "A connection's age, upon which it is drained").live(),
    Key::new("timeouts.rate_min", ValueKind::Count(0..=MANY, "bytes per second; 0: off", |o, n| {
        o.server.timeouts.rate_min = n as u32;
    }), "1024", "The least rate of a peer that an exchange waits for").live(),
    Key::new("timeouts.rate_grace", ValueKind::Time(TIMES, |o, time| o.server.timeouts.rate_grace = time), "10",
        "The time over which rate_min counts").live(),
    Key::new("log.access", ValueKind::File(|o, path| o.operate.access_log = Some(path)), "(none)",
        "A file to which a line for each request is appended, \"-\" for standard output; opened again at SIGHUP and SIGUSR1")
        .flag("--access-log"),
    Key::new("log.format", ValueKind::Text("\"common\", \"combined\" or \"json\"", |o, text| {
        o.operate.access_log_format = LogFormat::from_str(text, false)?;
        Ok(())
    }), "\"common\"", "The form of its lines").flag("--access-log-format"),
    Key::new("log.level", ValueKind::Text("\"all\", \"errors\" or \"off\"", |o, text| {
        o.operate.access_log_level = LogLevel::from_str(text, false)?;
        Ok(())
    }), "\"all\"", "The requests that have a line: all, those that failed or have a status of 500 or more, or none. The admin page changes it too")
        .flag("--access-log-level").live(),
    Key::new("log.fields", ValueKind::Texts("time, client, client_port, method, host, target, version, status, bytes, duration, referer, user_agent, \
             tls, error and timeline, as texts", fields), "[]",
        "The members of a JSON line in their order; none named: all").flag("--access-log-fields"),
    Key::new("log.bytes_max", ValueKind::Bytes(FILE_BYTES_LEAST..=MANY * MIB, |o, n| o.operate.access_log_bytes_max = Some(n)), "(no limit)",
        "The size of the access log, before which it is renamed to FILE.1, what had that name to FILE.2, and a new one begun")
        .flag("--access-log-bytes-max"),
    Key::new("log.files_kept", ValueKind::Count(1..=1000, "files", |o, n| o.operate.access_log_files_kept = n as u32), "5",
        "Renamed files that are kept, with log.bytes_max").flag("--access-log-files-kept"),
    Key::new("log.qlog", ValueKind::File(|o, path| o.qlog = Some(path)), "(none)",
        "A file for the frames of HTTP/2 and HTTP/3 and what becomes of HTTP/3's packets (qlog), for debugging").flag("--qlog"),
    Key::new("admin.address", ValueKind::Text(ADDRESS, |o, text| {
        o.operate.admin = Some(text.parse()?);
        Ok(())
    }), "(none)", "Serve /metrics, /healthz and /readyz there; needs token_file unless it is loopback or a Unix socket")
        .flag("--admin"),
    Key::new("admin.token_file", ValueKind::File(|o, path| o.operate.admin_token_file = Some(path)), "(none)",
        "A file with the token of readers, which other users may not read").flag("--admin-token-file"),
    Key::new("admin.slow", ValueKind::Time(TIMES, |o, time| o.operate.slow = time), "1",
        "Requests that take longer have timelines on the page, as those that fail have"),
    Key::new("drain.delay", ValueKind::Count(0..=3600, "seconds", |o, n| o.operate.drain_delay = n), "0",
        "Between the signal and the drain: the time in which a load balancer notices").flag("--drain-delay"),
    Key::new("drain.time", ValueKind::Count(0..=3600, "seconds", |o, n| o.operate.drain = n), "30",
        "What open requests get to finish").flag("--drain"),
];

fn listen(options: &mut ServeOptions, text: &str) -> Result<(), String> {
    match text.parse()? {
        ListenAddress::Port(address) => options.listen = address,
        ListenAddress::Unix(path) => options.unix = Some(path),
    }
    Ok(())
}

fn redirect_from(options: &mut ServeOptions, text: &str) -> Result<(), String> {
    match text.parse()? {
        ListenAddress::Port(address) => options.redirect_from = Some(address),
        ListenAddress::Unix(_) => return Err("a port redirects".to_owned()),
    }
    Ok(())
}

/// A burst of ten seconds, as a page with many parts and its retries have it.
fn address_rate(per_second: u32) -> Option<Rate> {
    let burst = per_second.saturating_mul(10);
    (per_second > 0).then_some(Rate { burst, per_second })
}

fn proxies(options: &mut ServeOptions, all: Vec<&str>) -> Result<(), String> {
    options.proxy_protocol = owned(all);
    Ok(())
}

fn forwarded(options: &mut ServeOptions, all: Vec<&str>) -> Result<(), String> {
    options.forwarded = owned(all);
    one_kind(options)
}

fn x_forwarded(options: &mut ServeOptions, all: Vec<&str>) -> Result<(), String> {
    options.x_forwarded = owned(all);
    one_kind(options)
}

/// Fields of the kind that a proxy does not know would be the client's own.
fn one_kind(options: &ServeOptions) -> Result<(), String> {
    match options.forwarded.is_empty() || options.x_forwarded.is_empty() {
        true => Ok(()),
        false => Err("forwarded and x_forwarded exclude each other".to_owned()),
    }
}

fn fields(options: &mut ServeOptions, all: Vec<&str>) -> Result<(), String> {
    let all = all.into_iter().map(|name| LogField::from_str(name, false));
    options.operate.access_log_fields = all.collect::<Result<_, _>>()?;
    Ok(())
}

/// Changes the address whose table is being read.
fn listener(options: &mut ServeOptions, change: impl FnOnce(&mut ListenTable)) {
    if let Some(last) = options.listeners.last_mut() {
        change(last);
    }
}

/// Changes the certificate whose table is being read.
fn certificate(options: &mut ServeOptions, change: impl FnOnce(&mut NamedCertificate)) {
    if let Some(last) = options.certificates.last_mut() {
        change(last);
    }
}

fn owned(all: Vec<&str>) -> Vec<String> {
    all.into_iter().map(str::to_owned).collect()
}
