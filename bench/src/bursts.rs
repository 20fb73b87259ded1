//! Sends 1,000 requests at once on a cold client to servers with scripted faults, and counts at the
//! servers what arrived.

use crate::page::figures::{Figures, Metric};
use crate::paths::windows::{go_program, node_folder};
use crate::server::write_files;
use crate::subject::{build, install};
use page::Report;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use trunkline_interop::{Certificate, Workplace, free_port};

mod page;

/// Requests of a burst.
const REQUESTS: u32 = 1_000;
/// A request that has not settled by then never will.
const SETTLED_MAX: Duration = Duration::from_secs(15);
/// The connect timeout that every client is given, as their sources say.
const CONNECT_MAX: f64 = 2.0;
/// A port without a listener.
const DEAD: &str = "dead host";

/// Scenario, its name at the server, and the most sockets that it takes: C2 to C5 of the promises.
const SCENARIOS: &[(&str, &str, Option<u32>)] = &[
    ("h2, 100 streams", "h2-100", Some(10)),
    ("h2, 10 streams", "h2-10", Some(16)),
    ("h2, lowered to 1", "h2-lowered", Some(16)),
    ("h2, raised", "h2-raised", Some(16)),
    ("h1", "h1", Some(100)),
    (DEAD, "", None),
    ("black-holed host", "black-hole", None),
    ("GOAWAY in the middle", "goaway", Some(16)),
    ("killed in the middle", "killed", Some(16)),
];

/// Name and the arguments in front of the URL.
const CLIENTS: &[(&str, &[&str])] = &[
    ("trunkline", &["burst", "trunkline"]),
    ("reqwest", &["burst", "reqwest"]),
    ("Go", &["burst", "h2"]),
    ("undici 8", &["burst", "undici"]),
];

/// Flags of `bursts`.
#[derive(clap::Args)]
pub(crate) struct BurstsOptions {
    /// Rounds of each client in each scenario; default 3.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Scenarios whose name contains one of these words, by a comma; default: all.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Write the tables into `docs/pool.md`, between their marks, and the plot beside it.
    #[arg(long)]
    docs: bool,
}

struct BurstContext {
    workplace: Workplace,
    certificate: Certificate,
    built: PathBuf,
    go: PathBuf,
    server: PathBuf,
}

/// The outcome of one burst.
#[derive(Debug, Default)]
struct Burst {
    /// Sockets, handshakes, refused, twice: as the server counted.
    counted: Vec<f64>,
    answered: f64,
    failed: f64,
    seconds: f64,
    reason: String,
}

/// Measures, prints the tables and writes them to `bench/out/`.
pub(crate) fn run(options: &BurstsOptions) -> Result<(), String> {
    let workplace = Workplace::new()?;
    let context = BurstContext {
        certificate: Certificate::write(workplace.path())?,
        built: build()?,
        go: go_program(workplace.path(), "go-client")?,
        server: go_program(workplace.path(), "burst-server")?,
        workplace,
    };
    install("node", "node")?;
    let mut figures = Figures::default();
    let mut reasons: BTreeMap<(usize, &'static str), String> = BTreeMap::new();
    for (number, &(scenario, server, _)) in SCENARIOS.iter().enumerate() {
        if !options.only.is_empty() && !options.only.iter().any(|word| scenario.contains(word)) {
            continue;
        }
        let mut received: Vec<Vec<Burst>> = CLIENTS.iter().map(|_| Vec::new()).collect();
        for _ in 0..options.rounds {
            for (client, bursts) in CLIENTS.iter().zip(&mut received) {
                let burst = burst(&context, server, client)?;
                eprintln!("{scenario}, {}: {burst:?}", client.0);
                bursts.push(burst);
            }
        }
        for (&(client, _), bursts) in CLIENTS.iter().zip(&received) {
            note(&mut figures, scenario, client, bursts);
            if let Some(burst) = bursts.iter().find(|burst| !burst.reason.is_empty()) {
                reasons.insert((number, client), burst.reason.clone());
            }
        }
    }
    let report = Report {
        rounds: options.rounds,
        figures,
        reasons,
    };
    println!("{}", report.tables());
    write_files(&[
        ("bursts.csv", report.figures.csv()),
        ("bursts.md", report.page()),
        ("bursts.svg", report.plot()),
    ])?;
    match options.docs {
        true => report.write_docs(),
        false => Ok(()),
    }
}

/// One client against a fresh server.
fn burst(
    context: &BurstContext,
    scenario: &str,
    client: &(&str, &[&str]),
) -> Result<Burst, String> {
    let port = free_port()?;
    let address = format!("127.0.0.1:{port}");
    let mut server = match scenario.is_empty() {
        true => None,
        false => Some(start_server(context, scenario, &address)?),
    };
    let mut burst = send(context, &address, client)?;
    if let Some(server) = &mut server {
        // The end of its input makes it say what it counted.
        drop(server.0.stdin.take());
        let mut printed = String::new();
        server
            .1
            .read_to_string(&mut printed)
            .map_err(|error| error.to_string())?;
        let _ = server.0.wait();
        burst.counted = printed
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
    }
    Ok(burst)
}

/// The server's process, and what it prints.
struct Served(std::process::Child, BufReader<std::process::ChildStdout>);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start_server(context: &BurstContext, scenario: &str, address: &str) -> Result<Served, String> {
    let log = std::fs::File::create(context.workplace.path().join("burst-server.log"));
    let mut child = Command::new(&context.server)
        .args(["-scenario", scenario, "-address", address])
        .arg("-cert")
        .arg(&context.certificate.chain)
        .arg("-key")
        .arg(&context.certificate.key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log.map_err(|error| error.to_string())?)
        .spawn()
        .map_err(|error| format!("the server cannot be started: {error}"))?;
    let out = child.stdout.take().ok_or("the server has no output")?;
    let mut served = Served(child, BufReader::new(out));
    let mut line = String::new();
    served
        .1
        .read_line(&mut line)
        .map_err(|error| error.to_string())?;
    match line.trim() {
        "ready" => Ok(served),
        other => Err(format!("the server says `{other}` and not `ready`")),
    }
}

fn send(context: &BurstContext, address: &str, client: &(&str, &[&str])) -> Result<Burst, String> {
    let (name, arguments) = *client;
    let mut command = match name {
        "Go" => Command::new(&context.go),
        "undici 8" => {
            let mut command = Command::new(node_folder().join("node_modules/.bin/node"));
            command.arg(node_folder().join("client.js"));
            command
        }
        _ => Command::new(context.built.join("bench-path")),
    };
    command.args(arguments).arg(format!("https://{address}"));
    command
        .arg(REQUESTS.to_string())
        .arg(SETTLED_MAX.as_secs().to_string());
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout);
    outcome(&printed).ok_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("{name} says no outcome: {printed}{errors}")
    })
}

/// A line `answered failed seconds reason`.
fn outcome(printed: &str) -> Option<Burst> {
    let mut words = printed.lines().last()?.splitn(4, ' ');
    let mut number = || words.next()?.parse().ok();
    let (answered, failed, seconds) = (number()?, number()?, number()?);
    Some(Burst {
        counted: Vec::new(),
        answered,
        failed,
        seconds,
        reason: words.next().unwrap_or("").trim().to_owned(),
    })
}

fn note(figures: &mut Figures, scenario: &str, client: &str, bursts: &[Burst]) {
    let counters = [
        Metric::Sockets,
        Metric::Handshakes,
        Metric::Refused,
        Metric::Twice,
    ];
    for (index, metric) in counters.into_iter().enumerate() {
        let values = bursts
            .iter()
            .filter_map(|burst| burst.counted.get(index).copied());
        figures.add(scenario, client, metric, values);
    }
    figures.add(
        scenario,
        client,
        Metric::Answered,
        bursts.iter().map(|burst| burst.answered),
    );
    figures.add(
        scenario,
        client,
        Metric::Failed,
        bursts.iter().map(|burst| burst.failed),
    );
    figures.add(
        scenario,
        client,
        Metric::LastSettled,
        bursts.iter().map(|burst| burst.seconds),
    );
}

#[cfg(test)]
#[path = "bursts_test.rs"]
mod bursts_test;
