//! A client's settings from JavaScript: types are checked there, ranges here by the engine.

use super::ClientQuestions;
use super::connections::ConnectionEvents;
use super::dial::ScriptConnector;
use super::lookup::ScriptResolver;
use crate::channel::shared::Shared;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Deserialize;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;
use trunkline::client::{
    Client, ClientBuilder, ClientTimeouts, ClientTls, HealthTimes, Protocols, RedirectPolicy,
};
use trunkline::core::pool::Scheme;
use trunkline::event_loop::{Spawner, Task};
use trunkline::{Limits, Windows};

/// A client's settings; an absent one keeps the engine's default. Times in ms, 0: never.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Settings {
    connections: Option<u32>,
    sockets: Option<u32>,
    pipelining: Option<u32>,
    max_concurrent_streams: Option<u32>,
    /// `h1`, `h2`, `h2-or-h1`, `h3`, `all`.
    protocols: Option<String>,
    connect_timeout: Option<u64>,
    queue_timeout: Option<u64>,
    keep_alive_timeout: Option<u64>,
    connection_age: Option<u64>,
    requests_per_connection: Option<u64>,
    warm_connections: Option<u32>,
    retry_lost: Option<bool>,
    attempt_delay: Option<u64>,
    socket_path: Option<String>,
    local_address: Option<IpAddr>,
    keep_alive_probe: Option<u64>,
    /// Silence after which an idle peer is probed.
    ping_interval: Option<u64>,
    /// Servers whose sessions of TLS are kept.
    resumed_servers: Option<usize>,
    /// `keep-alive: timeout` of a peer: at most so long, and so much less.
    keep_alive_max: u64,
    keep_alive_margin: u64,
    /// For the origins of each scheme.
    http_proxy: Option<String>,
    https_proxy: Option<String>,
    proxy_authorization: Option<String>,
    proxy_headers: Vec<(String, String)>,
    proxy_server_name: Option<String>,
    proxy_always_tunnels: bool,
    proxy_tls: Option<Tls>,
    tls: Tls,
    /// A function of JavaScript's looks names up.
    lookup: bool,
    /// A function of JavaScript's makes connections.
    dials: bool,
    resolve: Vec<(String, Vec<std::net::SocketAddr>)>,
    /// The bound of a head on any version, where the user says it.
    header_bytes: Option<usize>,
    /// The bound of a head of HTTP/1.1.
    head_bytes: Option<usize>,
    stream_window: Option<u32>,
    connection_window: Option<u32>,
    window_threshold: Option<u32>,
    memory_budget: Option<u64>,
}

/// Fields of a response. undici bounds the bytes of a head alone; this many fields fill a section of the default
/// size, in which each counts 32 bytes beside its own (RFC 9113 section 6.5.2).
const FIELDS_MAX: usize = 2048;

/// Trusted roots and the client's certificate, in PEM.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Tls {
    ca: Vec<String>,
    /// The platform's roots are not trusted beside these.
    only_given: bool,
    cert: Option<String>,
    key: Option<String>,
    insecure: bool,
    /// The one version of TLS that is offered, 12 or 13.
    only_version: Option<u8>,
}

/// File descriptors that a client leaves to the rest of its process.
#[cfg(unix)]
const OTHER_DESCRIPTORS: u64 = 124;

/// The sockets of a client that was not told how many: as many as the process may open descriptors, because undici has no
/// bound, and requests that wait on each other need one each over HTTP/1.1. Node.js raises the limit of descriptors to the
/// hardest that it may. `None`: the engine's own, where there is no such limit to read.
fn sockets_max() -> Option<u32> {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let left = limit.map_or(u64::MAX, |limit| limit.saturating_sub(OTHER_DESCRIPTORS));
        Some(u32::try_from(left.max(1)).unwrap_or(u32::MAX))
    }
    #[cfg(not(unix))]
    None
}

fn time(ms: u64) -> Option<Duration> {
    (ms > 0).then(|| Duration::from_millis(ms))
}

impl Settings {
    /// The client of this number, or why there is none.
    pub(crate) fn build(
        self,
        shared: &Arc<Shared>,
        questions: &ClientQuestions,
        client: u32,
    ) -> Result<Client, String> {
        let mut timeouts = ClientTimeouts::default().with_headers(None).with_body(None);
        if let Some(ms) = self.connect_timeout {
            timeouts.connect = time(ms);
        } else if self.dials {
            // How long that function may take is its own affair, as with undici.
            timeouts.connect = None;
        }
        if let Some(ms) = self.queue_timeout {
            (timeouts.queue, timeouts.queue_stall) = (time(ms), None);
        }
        let mut tls = self.tls.build()?;
        if let Some(servers) = self.resumed_servers {
            tls = tls.resumed_servers(servers);
        }
        let health = HealthTimes::default().with_unasked(self.ping_interval.and_then(time));
        let builder = builder_on(shared).timeouts(timeouts).chunk_blanks(false);
        // As undici: a request to a server that is down fails at once, however many failed before it.
        let mut builder = builder.tls(tls).health(health).backs_off(false);
        // As node:http and undici: servers and proxies of HTTP/1.0 close without it. Blanks as llhttp.
        builder = builder.sends_keep_alive(true).spelled_names(true);
        /// Says to the builder what is there.
        macro_rules! send {
            ($($setting:ident => $verb:ident),*) => {
                $(if let Some(value) = self.$setting.clone() { builder = builder.$verb(value); })*
            };
        }
        send!(connections => connections, sockets => sockets, pipelining => pipelining,
             max_concurrent_streams => max_concurrent_streams, retry_lost => retry_lost,
             warm_connections => warm_connections, local_address => local_address);
        #[cfg(unix)]
        send!(socket_path => unix_socket);
        #[cfg(not(unix))]
        if let Some(path) = &self.socket_path {
            return Err(format!(
                "socketPath is {path}, and this system has no Unix sockets: leave it out"
            ));
        }
        if let Some(name) = &self.protocols {
            builder = builder.protocols(protocols(name)?);
        }
        if let Some(ms) = self.keep_alive_timeout {
            builder = builder.idle_timeout(time(ms));
        }
        if let Some(ms) = self.connection_age {
            builder = builder.connection_age(time(ms));
        }
        if let Some(count) = self.requests_per_connection {
            builder = builder.requests_per_connection((count > 0).then_some(count));
        }
        if let Some(ms) = self.attempt_delay {
            builder = builder.attempt_delay(Duration::from_millis(ms));
        }
        if let Some(ms) = self.keep_alive_probe {
            builder = builder.tcp_keepalive(time(ms));
        }
        let (max, margin) = (self.keep_alive_max, self.keep_alive_margin);
        builder = builder.keep_alive(Duration::from_millis(max), Duration::from_millis(margin));
        let shared = Arc::downgrade(shared);
        builder = self.asking(builder, (&shared, questions), client);
        builder = builder.connection_listener(ConnectionEvents::new(shared, client, questions));
        for (host, addresses) in &self.resolve {
            builder = builder.connect_to(host, addresses.clone());
        }
        builder = builder.limits(self.limits()).windows(self.windows());
        self.proxies(builder)?
            .build()
            .map_err(|error| error.to_string())
    }

    /// Has functions of JavaScript's resolve names and make connections, where there are some.
    fn asking(
        &self,
        mut builder: ClientBuilder,
        (shared, questions): (&Weak<Shared>, &ClientQuestions),
        client: u32,
    ) -> ClientBuilder {
        if self.lookup {
            builder = builder.resolver(ScriptResolver {
                shared: Weak::clone(shared),
                lookups: Arc::clone(&questions.lookups),
                client,
            });
        }
        if self.dials {
            let connector = ScriptConnector {
                shared: Weak::clone(shared),
                dials: Arc::clone(&questions.dials),
                client,
            };
            // A second connection beside one that takes long would call the user's function again.
            builder = builder.connector(connector).probe_patience(None);
            let spawner = shared.upgrade().and_then(|shared| shared.runs.spawner());
            if let Some(spawner) = spawner {
                builder = builder.spawner(Arc::new(OneThread(spawner)));
            }
        }
        builder
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(bytes) = self.header_bytes {
            limits.field_section_bytes_max = bytes;
        }
        if let Some(bytes) = self.head_bytes {
            limits.head_bytes_max = bytes;
        }
        limits.field_count_max = FIELDS_MAX;
        limits
    }

    fn windows(&self) -> Windows {
        let mut windows = Windows::default();
        if let Some(bytes) = self.stream_window {
            windows.stream_initial = bytes;
            windows.stream_max = windows.stream_max.max(bytes);
        }
        if let Some(bytes) = self.connection_window {
            windows.connection = bytes;
        }
        if self.window_threshold.is_some() {
            // A window that grows finds its own time.
            windows.auto = false;
            windows.threshold = self.window_threshold;
        }
        if let Some(bytes) = self.memory_budget {
            windows.memory_budget = bytes;
        }
        windows
    }

    fn proxies(self, mut builder: ClientBuilder) -> Result<ClientBuilder, String> {
        if let Some(url) = &self.http_proxy {
            builder = builder.proxy_for(Scheme::Http, url);
        }
        if let Some(url) = &self.https_proxy {
            builder = builder.proxy_for(Scheme::Https, url);
        }
        for (name, value) in &self.proxy_headers {
            builder = builder.proxy_header(name, value);
        }
        if let Some(name) = &self.proxy_server_name {
            builder = builder.proxy_server_name(name);
        }
        if let Some(value) = &self.proxy_authorization {
            builder = builder.proxy_authorization(value);
        }
        if let Some(tls) = self.proxy_tls {
            builder = builder.proxy_tls(tls.build()?);
        }
        Ok(builder.proxy_always_tunnels(self.proxy_always_tunnels))
    }
}

/// Keeps connections over JavaScript's streams on the thread that reads submissions: a mark among the bytes of a stream is
/// answered when that thread has rested.
#[derive(Debug)]
struct OneThread(Arc<dyn Spawner>);

impl Spawner for OneThread {
    fn spawn(&self, task: Task) {
        self.0.spawn(task);
    }
}

/// A client whose tasks run where the engine is. As undici: redirects and codings are its
/// interceptors', the environment's proxies its EnvHttpProxyAgent's.
fn builder_on(shared: &Shared) -> ClientBuilder {
    let builder = Client::builder().environment_proxies(false);
    let mut builder = builder
        .decompression(false)
        .redirect(RedirectPolicy::none());
    if let Some(max) = sockets_max() {
        builder = builder.sockets(max);
    }
    match shared.runs.spawner() {
        Some(spawner) => builder.spawner(spawner),
        None => builder,
    }
}

impl Tls {
    fn build(&self) -> Result<ClientTls, String> {
        let mut tls = ClientTls::new().openssl_rules();
        if self.insecure {
            tls = tls.insecure();
        }
        for pem in &self.ca {
            for root in certificates("ca", pem)? {
                tls = tls.root(root);
            }
        }
        // As in Node.js: roots that are given stand alone, also where there are none.
        if self.only_given {
            tls = tls.only_given_roots();
        }
        match (&self.cert, &self.key) {
            (None, None) => {}
            (Some(cert), Some(key)) => {
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|why| {
                    format!("connect.key is not a private key in PEM without a passphrase: {why}")
                })?;
                tls = tls.identity(certificates("cert", cert)?, key);
            }
            _ => return Err("connect.cert and connect.key must be given together".into()),
        }
        Ok(match self.only_version {
            None => tls,
            Some(12) => tls.only_tls12(),
            Some(_) => tls.only_tls13(),
        })
    }
}

fn certificates(option: &str, pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(format!("connect.{option} has no certificate in PEM")),
        Err(why) => Err(format!("connect.{option} cannot be read as PEM: {why}")),
    }
}

/// The versions by the name that `node/src/client/options.ts` gives them.
pub(crate) fn protocols(name: &str) -> Result<Protocols, String> {
    Ok(match name {
        "h1" => Protocols::H1Only,
        "h2" => Protocols::H2Only,
        "h2-or-h1" => Protocols::H2AndH1,
        "h3" => Protocols::H3Only,
        "all" => Protocols::All,
        other => return Err(format!("no protocols are called {other:?}")),
    })
}
