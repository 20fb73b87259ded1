//! Renders the outcome as a table for people and as JSON for programs.

use super::tally::Tally;
use super::{Plan, Protocol};
use crate::failure::Failure;
use hdrhistogram::Histogram;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// The latencies shown, in per cent of the answers.
pub(super) const PERCENTILES: [(&str, f64); 6] = [
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
    pub(super) fn per_second(&self) -> f64 {
        self.tally.answered as f64 / self.wall.as_secs_f64().max(f64::MIN_POSITIVE)
    }
    pub(super) fn cpu_us_per_request(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.tally.answered.max(1) as f64
    }
}

/// The table.
pub(crate) fn table(plan: &Plan, outcome: &Outcome) -> String {
    let tally = &outcome.tally;
    let seconds = outcome.wall.as_secs_f64();
    let amount = match plan.duration {
        Some(duration) => format!("{} s", duration.as_secs_f64()),
        None => format!("{} requests", plan.requests),
    };
    let rate = plan.rate.map(|rate| format!(", open loop at {rate}/s"));
    let mut lines = vec![
        plan.target.uri.to_string(),
        format!(
            "  {amount}, {} connections x {} at once, {}{}",
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
        format!(
            "  connecting    {:>12.3} ms, the slowest {:.3}",
            mean_ms(&tally.connects),
            max_ms(&tally.connects)
        ),
        format!("  first byte    {:>12.3} ms", mean_ms(&tally.first_bytes)),
        "  latency, ms".to_owned(),
        format!("    {:<11} {:>12.3}", "mean", mean_ms(&tally.latencies)),
        format!(
            "    {:<11} {:>12.3}",
            "deviation",
            tally.latencies.stdev() / 1000.0
        ),
        format!(
            "    {:<11} {:>12.3}",
            "min",
            tally.latencies.min() as f64 / 1000.0
        ),
    ]);
    for (name, percent) in PERCENTILES {
        let latency = tally.latency_ms(percent);
        lines.push(format!("    {name:<11} {latency:>12.3}"));
    }
    lines.extend(distribution(&tally.latencies));
    lines.join("\n")
}

/// Rows of the distribution, and characters of its longest bar.
const ROWS: u64 = 10;
const BAR: u64 = 40;

/// The answers by latency, in rows of equal width up to the 99th percentile, and one of the rest.
fn distribution(latencies: &Histogram<u64>) -> Vec<String> {
    if latencies.is_empty() {
        return Vec::new();
    }
    let low = latencies.min();
    let span = latencies.value_at_percentile(99.0).saturating_sub(low);
    let width = span.div_ceil(ROWS).max(1);
    let mut counts: Vec<(String, u64)> = (1..=ROWS)
        .map(|row| format!("{:.3}", (low + row * width) as f64 / 1000.0))
        .chain(["above".to_owned()])
        .map(|name| (name, 0))
        .collect();
    // The histogram tells times apart to three digits: what it takes for one time is in one row.
    for time in latencies.iter_recorded() {
        let above = time.value_iterated_to().saturating_sub(low);
        let row = (above.saturating_sub(1) / width).min(ROWS);
        counts[row as usize].1 += time.count_at_value();
    }
    let most = counts
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(1)
        .max(1);
    let row = |(name, count): &(String, u64)| {
        let bar = "#".repeat((count * BAR).div_ceil(most) as usize);
        format!("    {name:>11} {count:>12} {bar}")
            .trim_end()
            .to_owned()
    };
    let title = "  answers by latency up to, ms".to_owned();
    [title].into_iter().chain(counts.iter().map(row)).collect()
}

fn mean_ms(times: &Histogram<u64>) -> f64 {
    times.mean() / 1000.0
}

fn max_ms(times: &Histogram<u64>) -> f64 {
    times.max() as f64 / 1000.0
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
        "requests": plan.duration.is_none().then_some(plan.requests),
        "connections": plan.connections,
        "streams": plan.streams,
        "rate": plan.rate,
        "answered": tally.answered,
        "statuses": {
            "1xx": tally.by_class[1], "2xx": tally.by_class[2], "3xx": tally.by_class[3],
            "4xx": tally.by_class[4], "5xx": tally.by_class[5],
            "other": tally.by_class[0] + tally.by_class[6..].iter().sum::<u64>(),
        },
        "failed": tally.failed,
        "wall_s": outcome.wall.as_secs_f64(),
        "requests_per_s": outcome.per_second(),
        "body_bytes": tally.body_bytes,
        "cpu_us_per_request": outcome.cpu_us_per_request(),
        "latency_ms": latencies,
        "latency_mean_ms": mean_ms(&tally.latencies),
        "latency_deviation_ms": tally.latencies.stdev() / 1000.0,
        "latency_min_ms": tally.latencies.min() as f64 / 1000.0,
        "first_byte_mean_ms": mean_ms(&tally.first_bytes),
        "connect_mean_ms": mean_ms(&tally.connects),
        "connect_max_ms": max_ms(&tally.connects),
        "duration_s": plan.duration.map(|duration| duration.as_secs_f64()),
        "curve": super::page::curve(tally),
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

#[cfg(test)]
#[path = "report_test.rs"]
mod report_test;
