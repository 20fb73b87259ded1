//! `trunkline bench URL`: sends a number of requests over a number of connections and reports
//! latency and throughput.

mod compare;
mod load;
mod page;
mod report;
mod request;
mod tally;

use crate::failure::Failure;
use crate::target::Target;
use crate::tls_options::TlsOptions;
use compare::Earlier;
use http::{HeaderName, HeaderValue, Method};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    /// Send for this many seconds instead of a number of requests, or for a time as 500ms, 90s, 5m or 1h; those under way then are waited
    /// for.
    #[arg(short = 'z', long, value_name = "SECONDS", conflicts_with = "requests", value_parser = run_time)]
    duration: Option<Duration>,
    /// Send for this many seconds, or for such a time, first without counting.
    #[arg(long, value_name = "SECONDS", value_parser = run_time)]
    warm_up: Option<Duration>,
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
    /// The method. Default: GET, or POST with a body.
    #[arg(short = 'X', long = "request", value_name = "METHOD")]
    method: Option<String>,
    /// Request body, or @FILE for that in a file; the method becomes POST.
    #[arg(short = 'd', long)]
    data: Option<String>,
    /// A request field, `name: value`; may be repeated.
    #[arg(short = 'H', long = "header")]
    headers: Vec<String>,
    /// Connect through this Unix socket.
    #[arg(long, value_name = "PATH", conflicts_with = "http3")]
    unix_socket: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsOptions,
    /// Show the results beside those of an earlier run, which --json has written to this file; in the page of
    /// --html too.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
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

/// The longest run, in seconds: a day.
const RUN_SECONDS_MAX: u64 = 86_400;

/// A time in seconds, as other tools have it with a unit behind too.
fn run_time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => Some(1),
        "" | "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let milliseconds = unit.and_then(|unit| digits.parse::<u64>().ok()?.checked_mul(unit));
    milliseconds
        .filter(|milliseconds| (1..=RUN_SECONDS_MAX * 1_000).contains(milliseconds))
        .map(Duration::from_millis)
        .ok_or_else(|| {
            format!("it must be 1 ms to {RUN_SECONDS_MAX} seconds, as 90, 500ms, 90s, 5m or 1h")
        })
}

/// The checked options.
pub(crate) struct Plan {
    target: Target,
    /// With a duration as many as there is time for.
    requests: u64,
    duration: Option<Duration>,
    warm_up: Option<Duration>,
    connections: u32,
    streams: u32,
    protocol: Option<Protocol>,
    rate: Option<u64>,
    method: String,
    body: Option<bytes::Bytes>,
    fields: Vec<(HeaderName, HeaderValue)>,
    unix_socket: Option<PathBuf>,
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
    let earlier = options.compare.as_deref().map(Earlier::read).transpose()?;
    let refused = |error: trunkline::Error| Failure::usage(format_args!("{error:#}"));
    let tls = options
        .tls
        .client_tls()
        .map_err(|(_, error)| refused(*error))?;
    let plan = plan(options)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format_args!("cannot start: {error}")))?;
    let outcome = runtime.block_on(load::run(&plan, tls))?;
    // A program that reads the JSON from standard output must find nothing else there.
    if json.as_deref() != Some(Path::new(report::STDOUT)) {
        report::print(&format!("{}\n", report::table(&plan, &outcome)))?;
        if let Some(earlier) = &earlier {
            report::print(&format!("{}\n", earlier.table(&outcome)))?;
        }
    }
    if let Some(path) = json {
        report::write_json(&plan, &outcome, &path)?;
    }
    if let Some(path) = html {
        page::write_html(&plan, &outcome, earlier.as_ref(), &path)?;
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
    if options.duration.is_none() && u64::from(options.connections) > options.requests {
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
    let body = options.data.as_deref().map(body).transpose()?;
    let method = match &options.method {
        Some(name) => Method::from_bytes(name.as_bytes())
            .map_err(|_| Failure::usage(format_args!("-X {name:?} is not a method")))?,
        None if body.is_some() => Method::POST,
        None => Method::GET,
    };
    let duration = options.duration;
    Ok(Plan {
        target,
        requests: duration.map_or(options.requests, |_| u64::MAX),
        duration,
        warm_up: options.warm_up,
        connections: options.connections,
        streams: options.streams,
        protocol: match (options.http1, options.http2, options.http3) {
            (true, _, _) => Some(Protocol::Http1),
            (_, true, _) => Some(Protocol::Http2),
            (_, _, true) => Some(Protocol::Http3),
            _ => None,
        },
        rate: options.rate,
        method: method.to_string(),
        body,
        fields,
        unix_socket: options.unix_socket,
        timeout: Duration::from_secs(options.timeout),
    })
}

fn body(text: &str) -> Result<bytes::Bytes, Failure> {
    match text.strip_prefix('@') {
        None => Ok(bytes::Bytes::from(text.to_owned())),
        Some(path) => std::fs::read(path)
            .map(bytes::Bytes::from)
            .map_err(|error| Failure::usage(format_args!("-d {text} cannot be read: {error}"))),
    }
}
