//! The counts of one worker, and their sum over workers.

use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::time::Duration;

/// Latencies are kept in microseconds to three digits, up to this.
const LATENCY_US_MAX: u64 = 3_600_000_000;

/// Counts and latencies.
pub(crate) struct Tally {
    pub(crate) answered: u64,
    /// By the first digit of the status.
    pub(crate) by_class: [u64; 10],
    pub(crate) failed: BTreeMap<String, u64>,
    pub(crate) body_bytes: u64,
    pub(crate) connections: u64,
    pub(crate) protocol: &'static str,
    pub(crate) latencies: Histogram<u64>,
    /// From when a request was due to the head of its response.
    pub(crate) first_bytes: Histogram<u64>,
    /// Times of connecting, handshakes included.
    pub(crate) connects: Histogram<u64>,
    /// Requests that were started in the warm-up.
    pub(crate) warmed_up: u64,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let histogram = || {
            Histogram::new_with_bounds(1, LATENCY_US_MAX, 3)
                .expect("1 to 3.6e9 at 3 digits is in the range that the library allows")
        };
        Self {
            answered: 0,
            by_class: [0; 10],
            failed: BTreeMap::new(),
            body_bytes: 0,
            connections: 0,
            protocol: "none",
            latencies: histogram(),
            first_bytes: histogram(),
            connects: histogram(),
            warmed_up: 0,
        }
    }

    /// Counts anew after the warm-up; the connections stay. `warmed_up`: the requests that it started.
    pub(crate) fn restart(&mut self, warmed_up: u64) {
        let before = std::mem::replace(self, Self::new());
        self.connections = before.connections;
        self.protocol = before.protocol;
        self.connects = before.connects;
        self.warmed_up = warmed_up;
    }

    /// Counts a connection and the time that it took.
    pub(crate) fn connected(&mut self, after: Duration) {
        self.connects.saturating_record(after.as_micros() as u64);
    }

    /// The head of an answer.
    pub(crate) fn first_byte(&mut self, after: Duration) {
        self.first_bytes.saturating_record(after.as_micros() as u64);
    }

    /// A complete answer, `after` the request was due.
    pub(crate) fn answer(&mut self, status: u16, after: Duration) {
        self.answered += 1;
        self.by_class[usize::from(status / 100).min(9)] += 1;
        self.latencies.saturating_record(after.as_micros() as u64);
    }

    pub(crate) fn fail(&mut self, why: impl Into<String>, count: u64) {
        *self.failed.entry(why.into()).or_default() += count;
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failed.values().sum()
    }

    pub(crate) fn first_failure(&self) -> Option<&str> {
        self.failed.keys().next().map(String::as_str)
    }

    /// A latency at `percent`, in milliseconds.
    pub(crate) fn latency_ms(&self, percent: f64) -> f64 {
        self.latencies.value_at_percentile(percent) as f64 / 1000.0
    }
}

#[cfg(test)]
#[path = "tally_test.rs"]
mod tally_test;
