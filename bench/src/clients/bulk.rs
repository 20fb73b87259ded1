//! Measures clients in bulk: 1 GiB down and up, in one body and in 64 at once, against our server.

use super::Timed;
use crate::machine;
use crate::page::figures::{Figures, Metric};
use crate::page::report::{spread, table};
use crate::scenario::{BULK_ANSWERS, Placement};
use crate::server::publish;
use crate::subject::{build, locked_version};
use std::path::Path;
use trunkline_interop::{Certificate, Cores, Process, Workplace, free_port};

/// The argument of `bench-bulk`, and the client's name in tables without its version.
const CLIENTS: [(&str, &str); 6] = [
    ("trunkline-h1", "trunkline"),
    ("reqwest-h1", "reqwest"),
    ("trunkline-h2", "trunkline"),
    ("reqwest-h2", "reqwest"),
    ("trunkline-h3", "trunkline"),
    ("quinn-h3", "quinn"),
];
const DIRECTIONS: [(&str, &str); 2] = [("get", "down"), ("put", "up")];

/// Flags of `bulk-client`.
#[derive(clap::Args)]
pub(crate) struct BulkClientOptions {
    /// Rounds of each client.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// MiB of a round, a multiple of 64.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u64).range(64..=65536))]
    mib: u64,
    /// Write the page into `docs/measured` too.
    #[arg(long)]
    docs: bool,
}

/// One round of one client.
struct BulkRound {
    client_s_per_gib: f64,
    server_s_per_gib: f64,
    mib_per_second: f64,
}

/// Measures, prints the table and writes it to `bench/out/`.
pub(crate) fn run(options: &BulkClientOptions) -> Result<(), String> {
    let cores = machine::cores();
    let program = build()?.join("bench-bulk");
    let workplace = Workplace::new()?;
    let certificate = Certificate::write(workplace.path())?;
    let port = free_port()?;
    let server_core = cores.first().map_or(Cores::Any, |&core| Cores::One(core));
    let mut command = server_core.command(&program);
    command.args(["serve", &format!("127.0.0.1:{port}")]);
    command.arg(&certificate.chain).arg(&certificate.key);
    let log = workplace.path().join("bulk.log");
    let server = Process::start(&mut command, &[port], log)?;
    let client_core = Placement::TwoCores.load_cores(&cores);
    let mut figures = Figures::default();
    let bytes = (options.mib << 20) / BULK_ANSWERS * BULK_ANSWERS;
    for (way, direction) in DIRECTIONS {
        for count in [1, BULK_ANSWERS] {
            eprintln!("{direction}, {count} at once: {} rounds", options.rounds);
            let mut received = CLIENTS.map(|_| Vec::new());
            for _ in 0..options.rounds {
                for ((kind, _), received) in CLIENTS.into_iter().zip(&mut received) {
                    let url = format!("https://127.0.0.1:{port}");
                    let each = bytes / count;
                    let arguments = [way, kind, &url, &each.to_string(), &count.to_string()];
                    let family = server.family();
                    received.push(round(&program, &client_core, &arguments, bytes, &family)?);
                }
            }
            for ((kind, name), received) in CLIENTS.into_iter().zip(&received) {
                let scenario = scenario(kind, direction, count);
                let mut add = |metric, value: fn(&BulkRound) -> f64| {
                    figures.add(&scenario, &named(name), metric, received.iter().map(value));
                };
                add(Metric::ClientCpuPerGib, |round| round.client_s_per_gib);
                add(Metric::ServerCpuPerGib, |round| round.server_s_per_gib);
                add(Metric::BulkRate, |round| round.mib_per_second);
            }
        }
    }
    let page = page(&figures, options.mib);
    println!("{page}");
    let files = [
        ("bench-bulk-client.csv", figures.csv()),
        ("bench-bulk-client.md", page),
    ];
    publish(&files, options.docs)
}

fn round(
    program: &Path,
    cores: &Cores,
    arguments: &[&str],
    bytes: u64,
    server: &[u32],
) -> Result<BulkRound, String> {
    let timed = Timed::run(cores.command(program).args(arguments), bytes, server)?;
    let gib = bytes as f64 / f64::from(1 << 30);
    Ok(BulkRound {
        client_s_per_gib: timed.client_us as f64 / 1e6 / gib,
        server_s_per_gib: timed.server_ns as f64 / 1e9 / gib,
        mib_per_second: gib * 1024.0 / timed.seconds,
    })
}

fn named(name: &str) -> String {
    match name {
        "reqwest" => format!("reqwest {}", locked_version("reqwest")),
        "quinn" => format!(
            "quinn {} + h3 {}",
            locked_version("quinn"),
            locked_version("h3")
        ),
        own => own.to_owned(),
    }
}

fn scenario(kind: &str, direction: &str, count: u64) -> String {
    let version = kind.rsplit('-').next().unwrap_or(kind);
    match count {
        1 => format!("{version} {direction}"),
        many => format!("{version} {direction} {many}"),
    }
}

fn page(figures: &Figures, mib: u64) -> String {
    let mut text = format!(
        "# Clients in bulk, measured beside each other\n\n\
         {mib} MiB per round over TLS, down (a response's body) or up (a request's), in one body or in {BULK_ANSWERS} at \
         once: over HTTP/2 and HTTP/3 on one connection, over HTTP/1.1 on as many. Pieces of 16 KiB, discarded as they \
         come. Our server on one processor, the client in a process of its own on another; clients by turns. CPU is user \
         and kernel time of all threads, with a client's start and handshakes. Median (smallest to largest); differences \
         below 20 % mean nothing.\n\n",
    );
    text.push_str(&machine::describe_as_list());
    text.push('\n');
    let mut rows = Vec::new();
    for (_, direction) in DIRECTIONS {
        for count in [1, BULK_ANSWERS] {
            for (kind, name) in CLIENTS {
                let (scenario, name) = (scenario(kind, direction, count), named(name));
                let get = |metric| figures.get(&scenario, &name, metric);
                rows.push(vec![
                    scenario.clone(),
                    name.clone(),
                    spread(get(Metric::ClientCpuPerGib), 2),
                    spread(get(Metric::ServerCpuPerGib), 2),
                    spread(get(Metric::BulkRate), 0),
                ]);
            }
        }
    }
    let head = [
        "bulk",
        "client",
        "its CPU s/GiB",
        "our server's s/GiB",
        "MiB/s",
    ];
    table(&mut text, "CPU seconds per GiB", &head, &rows);
    text
}

#[cfg(test)]
#[path = "bulk_test.rs"]
mod bulk_test;
