//! The cold calls of servers: sockets are opened on JavaScript's thread, where what is wrong can be
//! thrown, and served on the engine's.

use crate::client::read;
use crate::desk::{Desk, Kind, Server};
use crate::environment::Shared;
use crate::failure;
use crate::secured::{Secured, TlsAsk};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use trunkline::core::budget::Rate;
use trunkline::server::{Attending, Listening};
use trunkline::{Limits, ServerConfig, Timeouts, Tls, Windows};

/// The servers of one environment, as JavaScript's thread knows them.
#[derive(Default)]
pub(crate) struct Servers {
    next: u32,
    secured: HashMap<u32, Secured>,
}

/// What the engine's thread does for a server.
pub(crate) enum Task {
    Serve(u32, Box<Listening>),
    Configure(u32, Box<ServerConfig>),
    Drain(u32, Duration),
    Stop(u32),
}

/// The others know what else there is.
#[derive(Deserialize)]
struct ServerAsk {
    server: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DrainAsk {
    server: u32,
    deadline_ms: Option<u64>,
}

/// What connections from now on have: a server's question again.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigureAsk {
    server: u32,
    listen: ListenAsk,
}

/// What a server listens with; what is absent keeps the engine's default. Times in ms, 0: never.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ListenAsk {
    host: Option<String>,
    port: u16,
    shares_port: bool,
    backlog: Option<u32>,
    tls: Option<TlsAsk>,
    http1: Option<bool>,
    http2: Option<bool>,
    http3: bool,
    extended_connect: bool,
    frame_events: bool,
    spelled_names: bool,
    connections_max: Option<usize>,
    limits: LimitsAsk,
    timeouts: TimeoutsAsk,
    http1_timeouts: TimeoutsAsk,
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
    header_table_bytes_max: usize, field_count_max: usize, field_section_bytes_max: usize, header_block_bytes_max: usize,
    continuations_max: u32, concurrent_streams_max: u32, running_handlers_max: u32,
    request_streams_max: u32, request_handlers_max: u32, outbox_bytes_max: usize,
    send_buffer_bytes_max: usize, requests_per_connection_max: u64, head_bytes_max: usize,
    target_bytes_max: usize, chunk_extension_bytes_max: usize, interim_responses_max: u32,
    resets: RateAsk, glitches: RateAsk, pings: RateAsk,
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

overrides!(WindowsAsk of Windows {
    stream_initial: u32, stream_max: u32, connection: u32, memory_budget: u64, auto: bool,
});

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct TimeoutsAsk {
    handshake: Option<u64>,
    settings: Option<u64>,
    head: Option<u64>,
    body_idle: Option<u64>,
    write_stall: Option<u64>,
    stream_stall: Option<u64>,
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
            (self.body_idle, &mut to.body_idle),
            (self.write_stall, &mut to.write_stall),
            (self.stream_stall, &mut to.stream_stall),
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

impl Servers {
    /// Carries out one cold call, with what is left for the engine's thread.
    pub(crate) fn ask(
        &mut self,
        verb: &str,
        text: &str,
        shared: &Arc<Shared>,
        leave: impl FnOnce(Task),
    ) -> Result<Value, Value> {
        match verb {
            "listen" => self.listen(&read(text)?, shared, leave),
            "identity" | "context" | "forget" | "chosen" => {
                let ServerAsk { server } = read(text)?;
                let gone = || failure::refusal("config", "the server has no certificates");
                let secured = self.secured.get_mut(&server).ok_or_else(gone)?;
                secured.ask(verb, text, shared)
            }
            "configure" => {
                let ConfigureAsk { server, listen } = read(text)?;
                leave(Task::Configure(server, Box::new(listen.config())));
                Ok(Value::Null)
            }
            "drain" => {
                let ask: DrainAsk = read(text)?;
                let deadline = ask.deadline_ms.map_or(FOR_EVER, Duration::from_millis);
                let deadline = deadline.min(FOR_EVER);
                leave(Task::Drain(ask.server, deadline));
                Ok(Value::Null)
            }
            _ => {
                let ask: ServerAsk = read(text)?;
                self.secured.remove(&ask.server);
                leave(Task::Stop(ask.server));
                Ok(Value::Null)
            }
        }
    }

    fn listen(
        &mut self,
        ask: &ListenAsk,
        shared: &Arc<Shared>,
        leave: impl FnOnce(Task),
    ) -> Result<Value, Value> {
        let server = self.next + 1;
        let secured = ask.tls.as_ref();
        let secured = secured
            .map(|tls| tls.secure(&ask.offered(), server, shared))
            .transpose()
            .map_err(|error| failure::describe(&error))?;
        let tls = secured.as_ref().map(|secured| &secured.tls);
        let listening = match &ask.host {
            Some(host) => ask.open(host, tls),
            // Both families where there are both, as Node.js does.
            None => ask.open("::", tls).or_else(|_| ask.open("0.0.0.0", tls)),
        };
        let listening = listening.map_err(|error| failure::describe(&error))?;
        self.next = server;
        if let Some(secured) = secured {
            self.secured.insert(server, secured);
        }
        let address = listening.local_addr();
        leave(Task::Serve(server, Box::new(listening)));
        let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
        let (ip, port) = (address.ip().to_string(), address.port());
        Ok(json!({ "server": server, "address": ip, "port": port, "family": family }))
    }
}

impl ListenAsk {
    /// By ALPN, best first.
    fn offered(&self) -> Vec<&'static str> {
        let http2 = self.http2.unwrap_or(true).then_some("h2");
        let http1 = self.http1.unwrap_or(true).then_some("http/1.1");
        http2.into_iter().chain(http1).collect()
    }
    fn config(&self) -> ServerConfig {
        let mut config = ServerConfig {
            connection_info: true,
            http1: self.http1.unwrap_or(true),
            http2: self.http2.unwrap_or(true),
            extended_connect: self.extended_connect,
            frame_events: self.frame_events,
            spelled_names: self.spelled_names,
            sni_is_binding: self.tls.as_ref().is_some_and(|tls| tls.sni_is_binding),
            ..ServerConfig::default()
        };
        self.limits.apply(&mut config.limits);
        self.timeouts.apply(&mut config.timeouts);
        let mut http1 = config.timeouts.clone();
        self.http1_timeouts.apply(&mut http1);
        config.http1_timeouts = Some(http1);
        self.windows.apply(&mut config.windows);
        config.backlog = self.backlog.unwrap_or(config.backlog);
        config.connections_max = self.connections_max.unwrap_or(config.connections_max);
        config
    }
    fn open(&self, host: &str, tls: Option<&Tls>) -> Result<Listening, trunkline::Error> {
        let mut server = trunkline::Server::bind((host, self.port))
            .shares_port(self.shares_port)
            .http3(self.http3)
            .config(self.config());
        if let Some(tls) = tls {
            server = server.tls(tls.clone());
        }
        server.listen()
    }
}

/// A year: a deadline that nobody waits for.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The servers of one environment on the engine's thread, inside its `LocalSet`.
pub(crate) struct Serving {
    shared: Arc<Shared>,
    desk: Rc<Desk>,
    attending: HashMap<u32, Attending>,
}

impl Serving {
    pub(crate) fn new(shared: &Arc<Shared>, desk: &Rc<Desk>) -> Self {
        Self {
            shared: Arc::clone(shared),
            desk: Rc::clone(desk),
            attending: HashMap::new(),
        }
    }
    pub(crate) fn carry_out(&mut self, task: Task) {
        match task {
            Task::Serve(number, listening) => self.serve(number, *listening),
            Task::Configure(number, config) => {
                if let Some(attending) = self.attending.get(&number) {
                    // JavaScript has looked at the settings.
                    let _ = attending.configure(&config);
                }
            }
            Task::Drain(number, deadline) => {
                if let Some(attending) = self.attending.get(&number) {
                    attending.drain(deadline);
                }
            }
            Task::Stop(number) => drop(self.attending.remove(&number)),
        }
    }
    fn serve(&mut self, number: u32, listening: Listening) {
        let desk = Rc::clone(&self.desk);
        let shared = Arc::clone(&self.shared);
        let Ok((attending, serving)) = listening.attend(Server { desk, number }) else {
            // It refuses an access log alone, and there is none.
            return shared.complete([Kind::Ended as u32, number, 0, 0, 0, 0, 0, 0], &[], &[]);
        };
        self.attending.insert(number, attending);
        tokio::task::spawn_local(async move {
            // A server whose sockets cannot be used has ended.
            let _ = serving.await;
            shared.complete([Kind::Ended as u32, number, 0, 0, 0, 0, 0, 0], &[], &[]);
        });
    }
}
