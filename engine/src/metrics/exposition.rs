//! Text of OpenMetrics, version 1.0: `https://prometheus.io/docs/specs/om/open_metrics_spec/`.

use super::VERSIONS;
use super::histogram::Histogram;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// The media type of OpenMetrics text, which `to_openmetrics` of a server's and of a client's metrics
/// gives.
pub const OPENMETRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The label of versions of HTTP, by the name that OpenTelemetry gives it.
pub(crate) const VERSION: &str = "network_protocol_version";

/// The text, family by family.
pub(crate) struct Exposition {
    text: String,
    /// The beginning of names of our own.
    prefix: &'static str,
}

pub(crate) type Label<'a> = (&'a str, &'a str);

impl Exposition {
    /// Without a family yet. `prefix`: what the names of those begin with that OpenTelemetry does not name.
    pub(crate) fn new(prefix: &'static str) -> Self {
        let text = String::with_capacity(32 * 1024);
        Self { text, prefix }
    }
    /// The whole text, with the mark of its end.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
    /// A name of our own.
    fn own(&self, name: &str) -> String {
        format!("{}_{name}", self.prefix)
    }
    /// The version of the library.
    pub(crate) fn build(&mut self, help: &str) {
        let name = self.own("build");
        self.family(&name, "info", help);
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        self.line(&format!("{name}_info"), &version, 1);
    }
    /// The description of a family. Its samples follow.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# TYPE {name} {kind}\n# HELP {name} {help}");
    }
    /// The description of a histogram in seconds.
    pub(crate) fn seconds(&mut self, name: &str, help: &str) {
        let _ = writeln!(
            self.text,
            "# TYPE {name} histogram\n# UNIT {name} seconds\n# HELP {name} {help}"
        );
    }
    /// One sample. Values of labels are names of ours, which need no escapes.
    pub(crate) fn line(&mut self, name: &str, labels: &[Label<'_>], value: impl fmt::Display) {
        self.text.push_str(name);
        for (at, (label, of)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{label}=\"{of}\"");
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }
    pub(crate) fn counter(&mut self, name: &str, help: &str, count: u64) {
        let name = self.own(name);
        self.family(&name, "counter", help);
        self.line(&format!("{name}_total"), &[], count);
    }
    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: u64) {
        let name = self.own(name);
        self.family(&name, "gauge", help);
        self.line(&name, &[], value);
    }
    /// A counter with one label.
    pub(crate) fn labelled(
        &mut self,
        (name, help): (&str, &str),
        label: &str,
        counts: &[(&str, u64)],
    ) {
        let name = self.own(name);
        self.family(&name, "counter", help);
        for (of, count) in counts {
            self.line(&format!("{name}_total"), &[(label, of)], count);
        }
    }
    /// A gauge with one label.
    pub(crate) fn labelled_gauge(
        &mut self,
        (name, help): (&str, &str),
        label: &str,
        values: &[(&str, u64)],
    ) {
        let name = self.own(name);
        self.family(&name, "gauge", help);
        for (of, value) in values {
            self.line(&name, &[(label, of)], value);
        }
    }
    /// A number of each version.
    pub(crate) fn of_versions(
        &mut self,
        (name, kind, help): (&str, &str, &str),
        values: [u64; VERSIONS.len()],
    ) {
        let name = self.own(name);
        self.family(&name, kind, help);
        let sample = match kind {
            "counter" => format!("{name}_total"),
            _ => name,
        };
        for (label, value) in VERSIONS.into_iter().zip(values) {
            self.line(&sample, &[(VERSION, label)], value);
        }
    }
    /// A histogram of each version.
    pub(crate) fn histograms(
        &mut self,
        name: &str,
        help: &str,
        histograms: [&Histogram; VERSIONS.len()],
    ) {
        self.seconds(name, help);
        for (label, histogram) in VERSIONS.into_iter().zip(histograms) {
            self.histogram(name, (VERSION, label), histogram);
        }
    }
    pub(crate) fn histogram(&mut self, name: &str, label: Label<'_>, histogram: &Histogram) {
        self.histogram_of(name, Some(label), histogram);
    }
    pub(crate) fn histogram_of(
        &mut self,
        name: &str,
        label: Option<Label<'_>>,
        histogram: &Histogram,
    ) {
        let labels: Vec<Label<'_>> = label.into_iter().collect();
        let bucket = format!("{name}_bucket");
        for (bound, count) in histogram.cumulative() {
            let bound = seconds(bound);
            let with_bound = [&labels[..], &[("le", bound.as_str())]].concat();
            self.line(&bucket, &with_bound, count);
        }
        let count = histogram.count();
        self.line(&bucket, &[&labels[..], &[("le", "+Inf")]].concat(), count);
        self.line(&format!("{name}_count"), &labels, count);
        let sum = histogram.sum();
        let (whole, nanos) = (sum.as_secs(), sum.subsec_nanos());
        let sum = format!("{whole}.{nanos:09}");
        self.line(&format!("{name}_sum"), &labels, sum);
    }
}

/// In the canonical form of OpenMetrics: `0.005`, `1.0`.
fn seconds(bound: Duration) -> String {
    format!("{:?}", bound.as_secs_f64())
}

#[cfg(test)]
#[path = "exposition_test.rs"]
pub(crate) mod exposition_test;
