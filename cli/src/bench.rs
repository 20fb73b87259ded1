//! `trunkline bench URL`: sends a number of requests over a number of connections and reports
//! latency and throughput.

mod load;
mod page;
mod report;
mod tally;

use crate::failure::Failure;
use crate::target::Target;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Connections at most: each needs a socket and a TLS session.
const CONNECTIONS_MAX: u32 = 10_000;
/// Concurrent requests per connection at most.
const STREAMS_MAX: u32 = 10_000;

/// Flags of `bench`.
#[derive(clap::Args)]
pub(crate) struct BenchOptions {
    /// The URL to request: http:// or https://
    url: String,
    /// Requests in all.
    #[arg(short = 'n', long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    requests: u64,
    /// Connections.
    #[arg(short = 'c', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    connections: u32,
    /// Concurrent requests per connection (on HTTP/1.1: pipelined).
    #[arg(short = 'm', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(STREAMS_MAX)))]
    streams: u32,
    /// Only HTTP/1.1.
    #[arg(long = "http1.1", conflicts_with = "http2")]
    http1: bool,
    /// Only HTTP/2 (on http:// by prior knowledge).
    #[arg(long)]
    http2: bool,
    /// HTTP/3 only.
    #[arg(long, conflicts_with_all = ["http1", "http2"])]
    http3: bool,
    /// Open loop: this many requests per second in all, however slow the answers; latencies count
    /// from when a request was due, not from when it could be sent.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    rate: Option<u64>,
    /// Request body; the method becomes POST.
    #[arg(short = 'd', long)]
    data: Option<String>,
    /// A request field, `name: value`; may be repeated.
    #[arg(short = 'H', long = "header")]
    headers: Vec<String>,
    /// Do not verify the server's certificate.
    #[arg(short = 'k', long)]
    insecure: bool,
    /// Write the results as JSON to this file; without a file, or for `-`, to standard output in
    /// place of the table.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = report::STDOUT)]
    json: Option<PathBuf>,
    /// Write the results as a page for browsers to this file, with a curve of the latencies.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Give up after this many seconds; requests unanswered by then count as failed.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

/// The checked options.
pub(crate) struct Plan {
    target: Target,
    requests: u64,
    connections: u32,
    streams: u32,
    protocol: Option<Protocol>,
    rate: Option<u64>,
    body: Option<bytes::Bytes>,
    fields: Vec<(String, String)>,
    insecure: bool,
    timeout: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http1,
    Http2,
    Http3,
}

/// Runs it and prints the table.
pub(crate) fn run(options: BenchOptions) -> Result<(), Failure> {
    let (json, html) = (options.json.clone(), options.html.clone());
    let plan = plan(options)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format_args!("cannot start: {error}")))?;
    let cpu_before = report::cpu_time();
    let started = Instant::now();
    let tally = runtime.block_on(load::run(&plan))?;
    let outcome = report::Outcome {
        wall: started.elapsed(),
        cpu: report::cpu_time().saturating_sub(cpu_before),
        tally,
    };
    // A program that reads the JSON from standard output must find nothing else there.
    if json.as_deref() != Some(Path::new(report::STDOUT)) {
        report::print(&format!("{}\n", report::table(&plan, &outcome)))?;
    }
    if let Some(path) = json {
        report::write_json(&plan, &outcome, &path)?;
    }
    if let Some(path) = html {
        page::write_html(&plan, &outcome, &path)?;
    }
    if outcome.tally.answered == 0 {
        return Err(Failure::remote(format_args!(
            "no request was answered: {}",
            outcome
                .tally
                .first_failure()
                .unwrap_or("no reason was recorded")
        )));
    }
    Ok(())
}

fn plan(options: BenchOptions) -> Result<Plan, Failure> {
    let target = Target::parse(&options.url)?;
    if u64::from(options.connections) > options.requests {
        return Err(Failure::usage(format_args!(
            "-c {} is more than -n {}: each connection sends at least one request",
            options.connections, options.requests
        )));
    }
    let fields = options
        .headers
        .iter()
        .map(|line| crate::target::field(line))
        .collect::<Result<Vec<_>, Failure>>()?;
    Ok(Plan {
        target,
        requests: options.requests,
        connections: options.connections,
        streams: options.streams,
        protocol: match (options.http1, options.http2, options.http3) {
            (true, _, _) => Some(Protocol::Http1),
            (_, true, _) => Some(Protocol::Http2),
            (_, _, true) => Some(Protocol::Http3),
            _ => None,
        },
        rate: options.rate,
        body: options.data.map(bytes::Bytes::from),
        fields,
        insecure: options.insecure,
        timeout: Duration::from_secs(options.timeout),
    })
}
