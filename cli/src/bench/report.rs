//! Renders the outcome as a table for people and as JSON for programs.

use super::tally::Tally;
use super::{Plan, Protocol};
use crate::failure::Failure;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// The latencies shown, in per cent of the answers.
const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 50.0),
    ("p75", 75.0),
    ("p90", 90.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
    ("max", 100.0),
];

/// One run.
pub(crate) struct Outcome {
    pub(crate) wall: Duration,
    /// User and system time of this process.
    pub(crate) cpu: Duration,
    pub(crate) tally: Tally,
}

impl Outcome {
    fn per_second(&self) -> f64 {
        self.tally.answered as f64 / self.wall.as_secs_f64().max(f64::MIN_POSITIVE)
    }
    fn cpu_us_per_request(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.tally.answered.max(1) as f64
    }
}

/// The table.
pub(crate) fn table(plan: &Plan, outcome: &Outcome) -> String {
    let tally = &outcome.tally;
    let seconds = outcome.wall.as_secs_f64();
    let rate = plan.rate.map(|rate| format!(", open loop at {rate}/s"));
    let mut lines = vec![
        plan.target.uri.to_string(),
        format!(
            "  {} requests, {} connections x {} at once, {}{}",
            plan.requests,
            plan.connections,
            plan.streams,
            tally.protocol,
            rate.unwrap_or_default()
        ),
        format!("  answered      {:>12}", tally.answered),
    ];
    for (class, count) in tally.by_class.iter().enumerate() {
        if *count > 0 {
            lines.push(format!("    {class}xx         {count:>12}"));
        }
    }
    lines.push(format!("  failed        {:>12}", tally.failures()));
    for (why, count) in &tally.failed {
        lines.push(format!("    {count} x {why}"));
    }
    let megabytes = tally.body_bytes as f64 / 1e6 / seconds.max(f64::MIN_POSITIVE);
    lines.extend([
        format!("  connections   {:>12}", tally.connections),
        format!("  wall          {seconds:>12.3} s"),
        format!("  requests/s    {:>12.0}", outcome.per_second()),
        format!("  body          {megabytes:>12.1} MB/s"),
        format!(
            "  our CPU       {:>12.2} us per request",
            outcome.cpu_us_per_request()
        ),
        "  latency, ms".to_owned(),
    ]);
    for (name, percent) in PERCENTILES {
        let latency = tally.latency_ms(percent);
        lines.push(format!("    {name:<11} {latency:>12.3}"));
    }
    lines.join("\n")
}

/// The name of a file that means standard output.
pub(crate) const STDOUT: &str = "-";

/// Writes the same as JSON.
pub(crate) fn write_json(plan: &Plan, outcome: &Outcome, path: &Path) -> Result<(), Failure> {
    let tally = &outcome.tally;
    let latencies: serde_json::Map<String, serde_json::Value> = PERCENTILES
        .iter()
        .map(|(name, percent)| ((*name).to_owned(), tally.latency_ms(*percent).into()))
        .collect();
    let json = serde_json::json!({
        "url": plan.target.uri.to_string(),
        "protocol": tally.protocol,
        "asked": match plan.protocol {
            Some(Protocol::Http1) => "http/1.1",
            Some(Protocol::Http2) => "h2",
            Some(Protocol::Http3) => "h3",
            None => "any",
        },
        "requests": plan.requests,
        "connections": plan.connections,
        "streams": plan.streams,
        "rate": plan.rate,
        "answered": tally.answered,
        "statuses": {
            "1xx": tally.by_class[1], "2xx": tally.by_class[2], "3xx": tally.by_class[3],
            "4xx": tally.by_class[4], "5xx": tally.by_class[5],
        },
        "failed": tally.failed,
        "wall_s": outcome.wall.as_secs_f64(),
        "requests_per_s": outcome.per_second(),
        "body_bytes": tally.body_bytes,
        "cpu_us_per_request": outcome.cpu_us_per_request(),
        "latency_ms": latencies,
    });
    let text = format!("{json:#}\n");
    if path == Path::new(STDOUT) {
        return print(&text);
    }
    write(path, &text)
}

/// Writes a file.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::usage(format_args!("cannot write {}: {error}", path.display())))
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::output("standard output", &error))
}

/// User and system time of this process so far. Zero where the system has no `getrusage`.
pub(crate) fn cpu_time() -> Duration {
    let Ok(usage) = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF) else {
        return Duration::ZERO;
    };
    let part = |time: nix::sys::time::TimeVal| {
        Duration::from_secs(time.tv_sec().max(0) as u64)
            + Duration::from_micros(time.tv_usec().max(0) as u64)
    };
    part(usage.user_time()) + part(usage.system_time())
}
