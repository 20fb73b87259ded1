//! Medians, and the table of all figures as CSV.

use std::fmt::Write;

/// Median, smallest and largest of several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// `None` without a value.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
            _ => sorted[middle],
        };
        Some(Self { median, min, max })
    }
}

/// The quantity that a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    ServerCpu,
    ScriptCpu,
    LoadCpu,
    ServerCpuPerGib,
    LoadCpuPerGib,
    ClientCpu,
    ClientCpuPerGib,
    BulkRate,
    Rate,
    Writes,
    Resident,
    IdleMemory,
    Throughput,
    ShareOfBound,
    ShareOfH1,
    Sockets,
    Handshakes,
    Refused,
    Twice,
    Answered,
    Failed,
    LastSettled,
    LatencyMedian,
    Latency99,
    FirstAnswer,
}

impl Metric {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ServerCpu => "server CPU per request",
            Self::ScriptCpu => "JavaScript thread CPU per request",
            Self::LoadCpu => "load generator CPU per request",
            Self::ServerCpuPerGib => "server CPU per GiB",
            Self::LoadCpuPerGib => "load generator CPU per GiB",
            Self::ClientCpu => "client CPU per request",
            Self::ClientCpuPerGib => "client CPU per GiB",
            Self::BulkRate => "bulk",
            Self::Rate => "requests per second",
            Self::Writes => "write calls per response",
            Self::Resident => "resident memory under load",
            Self::IdleMemory => "resident memory per idle connection",
            Self::Throughput => "throughput",
            Self::ShareOfBound => "share of the simulated bound",
            Self::ShareOfH1 => "share of h1",
            Self::Sockets => "sockets",
            Self::Handshakes => "handshakes",
            Self::Refused => "streams refused",
            Self::Twice => "requests delivered twice",
            Self::Answered => "requests answered",
            Self::Failed => "requests failed",
            Self::LastSettled => "time to the last request",
            Self::LatencyMedian => "latency p50",
            Self::Latency99 => "latency p99",
            Self::FirstAnswer => "first answer over a new connection",
        }
    }
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::ServerCpu | Self::ScriptCpu | Self::LoadCpu | Self::ClientCpu => "us",
            Self::BulkRate => "MiB/s",
            Self::Rate => "1/s",
            Self::Throughput => "MB/s",
            Self::ServerCpuPerGib
            | Self::LoadCpuPerGib
            | Self::ClientCpuPerGib
            | Self::LastSettled => "s",
            Self::LatencyMedian | Self::Latency99 | Self::FirstAnswer => "ms",
            Self::Writes
            | Self::ShareOfBound
            | Self::ShareOfH1
            | Self::Sockets
            | Self::Handshakes
            | Self::Refused
            | Self::Twice
            | Self::Answered
            | Self::Failed => "1",
            Self::Resident => "MiB",
            Self::IdleMemory => "KiB",
        }
    }
    /// Digits behind the point.
    pub(crate) fn digits(self) -> usize {
        match self {
            Self::ServerCpu
            | Self::ScriptCpu
            | Self::LoadCpu
            | Self::ServerCpuPerGib
            | Self::ClientCpu
            | Self::LoadCpuPerGib
            | Self::ClientCpuPerGib
            | Self::ShareOfBound
            | Self::ShareOfH1 => 2,
            Self::BulkRate
            | Self::Rate
            | Self::Sockets
            | Self::Handshakes
            | Self::Refused
            | Self::Twice
            | Self::Answered
            | Self::Failed => 0,
            Self::LastSettled => 3,
            Self::Writes => 4,
            Self::Resident | Self::IdleMemory | Self::Throughput => 1,
            Self::LatencyMedian | Self::Latency99 | Self::FirstAnswer => 1,
        }
    }
}

/// One line of the CSV.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) scenario: String,
    pub(crate) subject: String,
    pub(crate) metric: Metric,
    pub(crate) spread: Spread,
}

/// Every figure of a run.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) all: Vec<Figure>,
}

impl Figures {
    /// Adds one, if there is a value.
    pub(crate) fn add(
        &mut self,
        scenario: &str,
        subject: &str,
        metric: Metric,
        values: impl IntoIterator<Item = f64>,
    ) {
        if let Some(spread) = Spread::of(values) {
            self.all.push(Figure {
                scenario: scenario.to_owned(),
                subject: subject.to_owned(),
                metric,
                spread,
            });
        }
    }
    /// The figure, if it was measured.
    pub(crate) fn get(&self, scenario: &str, subject: &str, metric: Metric) -> Option<Spread> {
        self.all
            .iter()
            .find(|figure| {
                figure.scenario == scenario && figure.subject == subject && figure.metric == metric
            })
            .map(|figure| figure.spread)
    }
    /// An array of objects with the names of [`Figures::csv`]'s columns.
    pub(crate) fn json(&self) -> serde_json::Value {
        let object = |figure: &Figure| {
            let Spread { median, min, max } = figure.spread;
            serde_json::json!({
                "scenario": figure.scenario, "subject": figure.subject,
                "metric": figure.metric.name(), "unit": figure.metric.unit(),
                "median": median, "min": min, "max": max,
            })
        };
        self.all.iter().map(object).collect()
    }
    /// With the columns `scenario,subject,metric,unit,median,min,max`.
    pub(crate) fn csv(&self) -> String {
        let mut text = String::from("scenario,subject,metric,unit,median,min,max\n");
        for figure in &self.all {
            let Spread { median, min, max } = figure.spread;
            let digits = figure.metric.digits();
            // Writing to a String does not fail.
            let _ = writeln!(
                text,
                "{},{},{},{},{median:.digits$},{min:.digits$},{max:.digits$}",
                figure.scenario,
                figure.subject,
                figure.metric.name(),
                figure.metric.unit(),
            );
        }
        text
    }
}

#[cfg(test)]
#[path = "figures_test.rs"]
mod figures_test;
