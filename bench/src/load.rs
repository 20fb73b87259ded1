//! One round of load against a server, and its cost to both. Servers are measured with h2load, and
//! over HTTP/3 with our own `trunkline bench`, because Debian's h2load has no HTTP/3.

pub(crate) mod usage;

use crate::load::usage::cpu_ns;
use crate::scenario::Scenario;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::path::PathBuf;
use trunkline_interop::{Cores, find_program, output_of};

/// The program that makes the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generator {
    H2load,
    /// `trunkline bench`.
    Ours,
}

impl Generator {
    /// With whom servers are measured.
    fn for_servers(scenario: Scenario) -> Self {
        match scenario.is_h3() {
            true => Self::Ours,
            false => Self::H2load,
        }
    }
}

/// Where the load goes.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) scenario: Scenario,
    /// Our own program.
    pub(crate) program: PathBuf,
    pub(crate) port: u16,
    /// The requested path.
    pub(crate) path: &'static str,
    /// Bytes in the body of each answer, of equal ones: a server that sends fewer would seem cheap.
    pub(crate) answer_bytes: u64,
    /// The URLs of the varied load, a line each.
    pub(crate) list: Option<PathBuf>,
    /// The server's processes.
    pub(crate) family: Vec<u32>,
    /// A server that ends connections after this many requests gets its load in parts: h2load
    /// counts requests behind a GOAWAY as failed.
    pub(crate) requests_per_connection_max: Option<u64>,
}

/// One round's figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// Microseconds of the server's CPU per request, or per MiB of bulk.
    pub(crate) server_us: f64,
    /// As above, of the generator.
    pub(crate) load_us: f64,
    /// Requests per second, or MiB of bulk.
    pub(crate) units_per_second: f64,
}

/// Sends `requests` and waits for every answer.
///
/// # Errors
/// When the generator is missing, fails, or not every answer was a whole 2xx.
pub(crate) fn round(target: &Target, requests: u64, cores: &Cores) -> Result<Round, String> {
    round_by(
        Generator::for_servers(target.scenario),
        target,
        requests,
        cores,
    )
}

/// As [`round`], with this generator.
///
/// # Errors
/// As of [`round`].
pub(crate) fn round_by(
    generator: Generator,
    target: &Target,
    requests: u64,
    cores: &Cores,
) -> Result<Round, String> {
    let (connections, _) = target.scenario.shape();
    let part_max = target
        .requests_per_connection_max
        .map_or(requests, |max| max * connections);
    let (cpu_before, load_before) = (cpu_ns(&target.family), children_us()?);
    let (mut seconds, mut sent) = (0.0, 0);
    for part in parts(requests, part_max, connections) {
        seconds += part as f64 / send(generator, target, part, cores)?;
        sent += part;
    }
    let units = target.scenario.units(sent) as f64;
    let each = |total: f64| total / units;
    Ok(Round {
        server_us: each((cpu_ns(&target.family) - cpu_before) as f64 / 1000.0),
        load_us: each((children_us()? - load_before) as f64),
        units_per_second: units / seconds,
    })
}

/// The requests of each run of the generator: `requests` in all, and more where fewer than `connections` are left for the
/// last one, because a generator wants at least one for each connection.
fn parts(requests: u64, part_max: u64, connections: u64) -> Vec<u64> {
    let (mut parts, mut left) = (Vec::new(), requests);
    while left > 0 {
        let part = left.min(part_max).max(connections);
        parts.push(part);
        left = left.saturating_sub(part);
    }
    parts
}

/// Runs the generator once; requests per second.
fn send(
    generator: Generator,
    target: &Target,
    requests: u64,
    cores: &Cores,
) -> Result<f64, String> {
    let scenario = target.scenario;
    let mut command = match generator {
        Generator::Ours => {
            let mut command = cores.command(&target.program);
            let version = match (scenario.is_h1(), scenario.is_h3()) {
                (true, _) => "--http1.1",
                (_, true) => "--http3",
                _ => "--http2",
            };
            command.args(["bench", version, "--insecure", "--json"]);
            command
        }
        Generator::H2load => cores.command(&find_program("h2load", "nghttp2-client")?),
    };
    if generator == Generator::H2load && scenario.is_h1() {
        command.arg("--h1");
    }
    let (connections, streams) = scenario.shape();
    for (flag, value) in [("-c", connections), ("-m", streams), ("-n", requests)] {
        command.args([flag, &value.to_string()]);
    }
    let scheme = if scenario.is_tls() { "https" } else { "http" };
    let Target { port, path, .. } = target;
    match &target.list {
        Some(list) => command.arg("-i").arg(list),
        None => command.arg(format!("{scheme}://127.0.0.1:{port}{path}")),
    };
    let printed = output_of(&mut command)?;
    let bytes = match target.list {
        Some(_) => scenario.varied_body_bytes(requests),
        None => requests * target.answer_bytes,
    };
    match generator {
        Generator::Ours => parse_ours(&printed, requests, bytes),
        Generator::H2load => parse(&printed, requests, bytes),
    }
}

/// Requests per second from the JSON, if all of `requests` were answered with 2xx and had `bytes`
/// of body in all.
fn parse_ours(printed: &str, requests: u64, bytes: u64) -> Result<f64, String> {
    let json: serde_json::Value = serde_json::from_str(printed)
        .map_err(|error| format!("trunkline bench wrote no JSON ({error}): {printed}"))?;
    let answered = json["statuses"]["2xx"].as_u64();
    if answered != Some(requests) {
        let failed = &json["failed"];
        return Err(format!(
            "not all of {requests} requests were answered: {answered:?}, failed {failed}"
        ));
    }
    let received = json["body_bytes"].as_u64();
    if received != Some(bytes) {
        return Err(format!("the answers have {received:?} bytes, not {bytes}"));
    }
    json["requests_per_s"]
        .as_f64()
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| format!("trunkline bench has no rate: {printed}"))
}

/// Requests per second from h2load's words, if all of `requests` were answered with 2xx and had
/// `bytes` of body in all.
fn parse(printed: &str, requests: u64, bytes: u64) -> Result<f64, String> {
    let word_before = |mark: &str| -> Option<&str> {
        let before = printed.split_once(mark)?.0;
        before.rsplit([' ', '\n']).next()
    };
    let answered = word_before(" 2xx").and_then(|word| word.parse::<u64>().ok());
    if answered != Some(requests) {
        let lines: Vec<&str> = printed
            .lines()
            .filter(|line| line.starts_with("requests:") || line.starts_with("status codes:"))
            .collect();
        return Err(format!(
            "not all of {requests} requests were answered: {}",
            lines.join("; ")
        ));
    }
    let received = word_before(") data").map(|word| word.trim_start_matches('('));
    let received = received.and_then(|word| word.parse::<u64>().ok());
    if received != Some(bytes) {
        return Err(format!("the answers have {received:?} bytes, not {bytes}"));
    }
    word_before(" req/s")
        .and_then(|word| word.parse().ok())
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| format!("h2load's answer has no rate: {printed}"))
}

/// Microseconds of CPU of all children that have ended. Between two calls only the generator ends.
pub(crate) fn children_us() -> Result<i64, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_err(|error| format!("the CPU time of children cannot be read: {error}"))?;
    Ok(usage.user_time().num_microseconds() + usage.system_time().num_microseconds())
}

#[cfg(test)]
#[path = "load_test.rs"]
mod load_test;
