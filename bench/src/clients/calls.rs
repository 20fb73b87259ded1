//! Measures small calls of Rust programs: GET over HTTP/2 and TLS by our client beside reqwest, unary calls
//! of tonic on ours beside tonic on hyper, and an axum application on ours beside hyper, client and server apart.

use super::Timed;
use crate::machine;
use crate::page::figures::{Figures, Metric};
use crate::page::report::{spread, table};
use crate::scenario::Placement;
use crate::server::publish;
use crate::subject::{build, locked_version};
use std::path::Path;
use trunkline_interop::{Certificate, Cores, Process, Workplace, free_port};

/// Requests at once, of a round; each is a scenario.
const AT_ONCE: [u64; 2] = [1, 64];
/// The quotient of the requests of a round with 64 at once and of one with one at a time, where each takes ten times as long.
const FEWER_ALONE: u64 = 4;
/// A client and the server that it asks.
struct Pair {
    /// The first two arguments of `bench-calls` for the client.
    client: [&'static str; 2],
    /// The server's name among [`SERVERS`].
    server: &'static str,
    /// The compared part: the client, or the server where the client is always ours.
    subject: &'static str,
    calls: &'static str,
}

const fn pair(
    client: [&'static str; 2],
    server: &'static str,
    subject: &'static str,
    calls: &'static str,
) -> Pair {
    Pair {
        client,
        server,
        subject,
        calls,
    }
}

const PAIRS: [Pair; 21] = [
    pair(["get", "trunkline"], "files", "trunkline", "GET of 1 KiB"),
    pair(["get", "reqwest"], "files", "reqwest", "GET of 1 KiB"),
    pair(
        ["call", "trunkline"],
        "trunkline",
        "tonic on trunkline",
        "unary call",
    ),
    pair(
        ["call", "tonic"],
        "trunkline",
        "tonic on hyper",
        "unary call",
    ),
    pair(
        ["call", "tonic"],
        "tonic",
        "tonic on hyper",
        "unary call, server on hyper",
    ),
    pair(["hello", "h1"], "axum", OURS, "axum hello, h1"),
    pair(
        ["hello", "h1"],
        "axum-on-runtime",
        ON_RUNTIME,
        "axum hello, h1",
    ),
    pair(["hello", "h1"], "axum-on-hyper", ON_HYPER, "axum hello, h1"),
    pair(["json", "h1"], "axum", OURS, "axum JSON, h1"),
    pair(
        ["json", "h1"],
        "axum-on-runtime",
        ON_RUNTIME,
        "axum JSON, h1",
    ),
    pair(["json", "h1"], "axum-on-hyper", ON_HYPER, "axum JSON, h1"),
    pair(["hello", "h2"], "axum TLS", OURS, "axum hello, h2 TLS"),
    pair(
        ["hello", "h2"],
        "axum-on-runtime TLS",
        ON_RUNTIME,
        "axum hello, h2 TLS",
    ),
    pair(
        ["hello", "h2"],
        "axum-on-hyper TLS",
        ON_HYPER,
        "axum hello, h2 TLS",
    ),
    pair(["json", "h2"], "axum TLS", OURS, "axum JSON, h2 TLS"),
    pair(
        ["json", "h2"],
        "axum-on-runtime TLS",
        ON_RUNTIME,
        "axum JSON, h2 TLS",
    ),
    pair(
        ["json", "h2"],
        "axum-on-hyper TLS",
        ON_HYPER,
        "axum JSON, h2 TLS",
    ),
    pair(["hello", "h3"], "axum TLS", OURS, "axum hello, h3"),
    pair(
        ["hello", "h3"],
        "axum-on-runtime TLS",
        ON_RUNTIME,
        "axum hello, h3",
    ),
    pair(["json", "h3"], "axum TLS", OURS, "axum JSON, h3"),
    pair(
        ["json", "h3"],
        "axum-on-runtime TLS",
        ON_RUNTIME,
        "axum JSON, h3",
    ),
];
/// An axum application on a worker of ours.
const OURS: &str = "axum on trunkline's worker";
/// One whose connections and handlers are on its own runtime (`trunkline::serve`).
const ON_RUNTIME: &str = "axum by trunkline::serve";
/// `axum::serve`, and under TLS hyper's connections.
const ON_HYPER: &str = "axum on hyper";

/// The servers: the second argument of `bench-calls serve`, and whether it has a certificate.
const SERVERS: [(&str, &str, bool); 9] = [
    ("files", "files", true),
    ("trunkline", "trunkline", false),
    ("tonic", "tonic", false),
    ("axum", "axum", false),
    ("axum TLS", "axum", true),
    ("axum-on-runtime", "axum-on-runtime", false),
    ("axum-on-runtime TLS", "axum-on-runtime", true),
    ("axum-on-hyper", "axum-on-hyper", false),
    ("axum-on-hyper TLS", "axum-on-hyper", true),
];

/// Flags of `calls`.
#[derive(clap::Args)]
pub(crate) struct CallsOptions {
    /// Rounds of each client [default: 5].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Requests of a round with 64 at once; one at a time a quarter of them [default: 40,000].
    #[arg(long, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    requests: Option<u64>,
    /// Three rounds of 8,000: half a minute in place of three.
    #[arg(long)]
    quick: bool,
    /// Write the page into `docs/measured` too.
    #[arg(long)]
    docs: bool,
}

impl CallsOptions {
    fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 3 } else { 5 })
    }
    fn requests(&self, at_once: u64) -> u64 {
        let many = if self.quick { 8_000 } else { 40_000 };
        let requests = self.requests.unwrap_or(many);
        match at_once {
            1 => requests / FEWER_ALONE,
            _ => requests,
        }
    }
}

/// CPU per request, in microseconds.
struct CallsRound {
    client_us: f64,
    server_us: f64,
    per_second: f64,
}

/// The servers, each on a port of its own.
struct Servers {
    /// Name, scheme, port and process.
    running: Vec<(&'static str, &'static str, u16, Process)>,
}

impl Servers {
    fn start(program: &Path, workplace: &Workplace, core: &Cores) -> Result<Self, String> {
        let certificate = Certificate::write(workplace.path())?;
        let mut running = Vec::new();
        for (name, kind, tls) in SERVERS {
            let port = free_port()?;
            let mut command = core.command(program);
            command.args(["serve", kind, &format!("127.0.0.1:{port}")]);
            if tls {
                command.arg(&certificate.chain).arg(&certificate.key);
            }
            let log = workplace.path().join(format!("{name}.log"));
            let process = Process::start(&mut command, &[port], log)?;
            let scheme = if tls { "https" } else { "http" };
            running.push((name, scheme, port, process));
        }
        Ok(Self { running })
    }
    /// The URL of a server and its processes.
    fn find(&self, server: &str) -> Result<(String, Vec<u32>), String> {
        let found = self.running.iter().find(|(name, ..)| *name == server);
        let (_, scheme, port, process) =
            found.ok_or_else(|| format!("no server is named {server}"))?;
        Ok((format!("{scheme}://127.0.0.1:{port}"), process.family()))
    }
}

/// Measures, prints the table and writes it to `bench/out/`.
pub(crate) fn run(options: &CallsOptions) -> Result<(), String> {
    let cores = machine::cores();
    let program = build()?.join("bench-calls");
    let workplace = Workplace::new()?;
    let server_core = cores.first().map_or(Cores::Any, |&core| Cores::One(core));
    let servers = Servers::start(&program, &workplace, &server_core)?;
    let client_core = Placement::TwoCores.load_cores(&cores);
    let mut figures = Figures::default();
    for at_once in AT_ONCE {
        let (rounds, requests) = (options.rounds(), options.requests(at_once));
        eprintln!("{at_once} at once: {rounds} rounds of {requests} requests");
        let mut received = PAIRS.map(|_| Vec::new());
        for _ in 0..rounds {
            for (pair, received) in PAIRS.iter().zip(&mut received) {
                let (url, family) = servers.find(pair.server)?;
                let (count, many) = (requests.to_string(), at_once.to_string());
                let [way, kind] = pair.client;
                let arguments = [way, kind, &url, &count, &many];
                received.push(round(
                    &program,
                    &client_core,
                    &arguments,
                    requests,
                    &family,
                )?);
            }
        }
        for (pair, received) in PAIRS.iter().zip(&received) {
            let (scenario, name) = (scenario(pair.calls, at_once), named(pair.subject));
            let mut add = |metric, value: fn(&CallsRound) -> f64| {
                figures.add(&scenario, &name, metric, received.iter().map(value));
            };
            add(Metric::ClientCpu, |round| round.client_us);
            add(Metric::ServerCpu, |round| round.server_us);
            add(Metric::Rate, |round| round.per_second);
        }
    }
    let page = page(&figures, AT_ONCE.map(|at_once| options.requests(at_once)));
    println!("{page}");
    let files = [("bench-calls.csv", figures.csv()), ("bench-calls.md", page)];
    publish(&files, options.docs)
}

fn round(
    program: &Path,
    cores: &Cores,
    arguments: &[&str],
    requests: u64,
    server: &[u32],
) -> Result<CallsRound, String> {
    let timed = Timed::run(cores.command(program).args(arguments), requests, server)?;
    let requests = requests as f64;
    Ok(CallsRound {
        client_us: timed.client_us as f64 / requests,
        server_us: timed.server_ns as f64 / 1e3 / requests,
        per_second: requests / timed.seconds,
    })
}

fn named(name: &str) -> String {
    match name {
        "reqwest" => format!("reqwest {}", locked_version("reqwest")),
        "tonic on hyper" | ON_HYPER => format!("{name} {}", locked_version("hyper")),
        own => own.to_owned(),
    }
}

fn scenario(calls: &str, at_once: u64) -> String {
    format!("{calls}, {at_once} at once")
}

fn page(figures: &Figures, [alone, many]: [u64; 2]) -> String {
    let mut text = format!(
        "# Small calls of Rust programs, measured beside each other\n\n\
         {alone} requests per round one at a time, {many} with 64 at once. GET: answers of 1 KiB over HTTP/2 and TLS by our \
         server. Unary calls: messages of 100 bytes each way without protobuf, over cleartext HTTP/2, by tonic {} on our \
         client or on hyper's, to tonic's service on our server or on hyper's. axum: an application of two routes, a \
         text and a JSON body read and answered, asked by our client. Server and client have a processor and \
         one thread each that works; all by turns. CPU is user and kernel time, with a client's start. Median (smallest to \
         largest); differences below 20 % mean nothing.\n\n",
        locked_version("tonic"),
    );
    text.push_str(&machine::describe_as_list());
    text.push('\n');
    let mut rows = Vec::new();
    for at_once in AT_ONCE {
        for pair in &PAIRS {
            let (scenario, name) = (scenario(pair.calls, at_once), named(pair.subject));
            let get = |metric| figures.get(&scenario, &name, metric);
            rows.push(vec![
                scenario.clone(),
                name.clone(),
                spread(get(Metric::ClientCpu), 2),
                spread(get(Metric::ServerCpu), 2),
                spread(get(Metric::Rate), 0),
            ]);
        }
    }
    let head = [
        "calls",
        "compared",
        "client's CPU us",
        "server's CPU us",
        "per second",
    ];
    table(&mut text, "CPU per request", &head, &rows);
    text
}

#[cfg(test)]
#[path = "calls_test.rs"]
mod calls_test;
