//! The metrics of a server as OpenMetrics text, version 1.0. The set of series is fixed: labels have values of
//! enumerations only, never of anything that a client sends.

use super::histogram::Histogram;
use super::metrics::{InUse, Metrics, VERSIONS, VersionMetrics};
use std::fmt::{self, Write as _};
use std::time::Duration;

/// The media type of [`Metrics::to_openmetrics`].
pub const OPENMETRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The label of versions of HTTP, by the name that OpenTelemetry gives it.
const VERSION: &str = "network_protocol_version";

impl Metrics {
    /// The metrics as OpenMetrics text, with `# EOF` at its end; its media type is [`OPENMETRICS_TYPE`]. Durations and
    /// open requests have the names and labels of OpenTelemetry's semantic conventions
    /// (`http_server_request_duration_seconds`, `http_server_active_requests`), all others begin with
    /// `trunkline_server_`. How many series there are does not depend on what clients send: every label has the
    /// values of an enumeration.
    pub fn to_openmetrics(&self) -> String {
        let mut text = Text(String::with_capacity(32 * 1024));
        text.family(
            "trunkline_server_build",
            "info",
            "The version of the server.",
        );
        text.line(
            "trunkline_server_build_info",
            &[("version", env!("CARGO_PKG_VERSION"))],
            1,
        );
        self.connections(&mut text);
        self.exchanges(&mut text);
        self.broken_rules(&mut text);
        self.bytes(&mut text);
        self.quic(&mut text);
        text.0.push_str("# EOF\n");
        text.0
    }
    fn connections(&self, text: &mut Text) {
        text.counter(
            "connections_accepted",
            "Connections accepted.",
            self.connections_accepted,
        );
        text.gauge(
            "connections_open",
            "Connections open now, in handshakes and tunnels too.",
            self.connections_open,
        );
        text.of_versions(
            self,
            ("connections", "counter", "Connections that began HTTP."),
            |version| version.connections,
        );
        text.of_versions(
            self,
            (
                "connections_active",
                "gauge",
                "Connections of HTTP open now.",
            ),
            |version| version.connections_open,
        );
        text.counter(
            "connections_refused",
            "Connections closed at once, because their address had as many as it may.",
            self.connections_refused,
        );
        text.counter(
            "connections_displaced",
            "Connections without a request that were closed to let others in.",
            self.connections_displaced,
        );
        text.labelled(
            ("connections_closed", "Connections of HTTP that ended."),
            "reason",
            &self.closed_by,
        );
        let failed = self.handshakes_failed_by.iter().copied();
        let done = self.tls_handshakes.count() + self.quic_handshakes.count();
        let outcomes: Vec<_> = [("completed", done)].into_iter().chain(failed).collect();
        text.labelled(
            ("tls_handshakes", "TLS handshakes, over TCP and QUIC."),
            "outcome",
            &outcomes,
        );
        let name = "trunkline_server_tls_handshake_duration_seconds";
        text.seconds(name, "Durations of the TLS handshakes completed.");
        text.histogram(name, ("network_transport", "tcp"), &self.tls_handshakes);
        text.histogram(name, ("network_transport", "quic"), &self.quic_handshakes);
    }
    fn exchanges(&self, text: &mut Text) {
        text.of_versions(
            self,
            ("requests", "counter", "Requests that came."),
            |version| version.requests,
        );
        let name = "http_server_active_requests";
        text.family(name, "gauge", "Requests whose exchange is open now.");
        for (label, version) in VERSIONS.into_iter().zip(&self.versions) {
            text.line(name, &[(VERSION, label)], version.requests_open);
        }
        let name = "trunkline_server_responses";
        text.family(
            name,
            "counter",
            "Final responses by the class of their status.",
        );
        for (label, version) in VERSIONS.into_iter().zip(&self.versions) {
            for (class, count) in version.responses {
                let labels = [(VERSION, label), ("status_class", class)];
                text.line(&format!("{name}_total"), &labels, count);
            }
        }
        let name = "http_server_request_duration_seconds";
        text.seconds(name, "From a request's head to the end of its exchange.");
        for (label, version) in VERSIONS.into_iter().zip(&self.versions) {
            text.histogram(name, (VERSION, label), &version.duration);
        }
        let name = "trunkline_server_first_byte_duration_seconds";
        text.seconds(name, "From a request's head to that of its final response.");
        for (label, version) in VERSIONS.into_iter().zip(&self.versions) {
            text.histogram(name, (VERSION, label), &version.first_byte);
        }
        text.counter(
            "misdirected_requests",
            "Requests answered with 421.",
            self.misdirected,
        );
        text.counter(
            "early_requests",
            "Requests of HTTP/3 that came with the handshake and were answered.",
            self.requests_early,
        );
        text.counter(
            "too_early_requests",
            "Requests answered with 425.",
            self.too_early,
        );
    }
    fn broken_rules(&self, text: &mut Text) {
        text.labelled(
            ("resets", "Exchanges that ended before their response did."),
            "by",
            &self.resets_by,
        );
        text.labelled(
            (
                "violations",
                "Broken rules of HTTP, limits and timeouts too.",
            ),
            "rule",
            &self.violations,
        );
        text.labelled(
            ("quic_violations", "Broken rules of QUIC."),
            "rule",
            &self.quic_violations,
        );
    }
    fn bytes(&self, text: &mut Text) {
        let name = "trunkline_server_io_bytes";
        text.family(
            name,
            "counter",
            "Bytes of HTTP over byte streams, and of UDP payloads over QUIC.",
        );
        for (transport, direction, bytes) in [
            ("stream", "receive", self.stream_bytes_read),
            ("stream", "transmit", self.stream_bytes_written),
            ("quic", "receive", self.quic_bytes_read),
            ("quic", "transmit", self.quic_bytes_written),
        ] {
            let labels = [
                ("network_transport", transport),
                ("network_io_direction", direction),
            ];
            text.line(&format!("{name}_total"), &labels, bytes);
        }
        let budgets = [("receive", self.window_budget), ("send", self.send_budget)];
        type Part = fn(InUse) -> u64;
        let parts: [(&str, &str, Part); 2] = [
            (
                "budget_used_bytes",
                "Bytes of the budget in use now.",
                |it| it.bytes,
            ),
            ("budget_bytes", "Bytes that the budget has.", |it| it.total),
        ];
        for (name, help, part) in parts {
            let name = format!("trunkline_server_{name}");
            text.family(&name, "gauge", help);
            for (budget, in_use) in budgets {
                text.line(&name, &[("budget", budget)], part(in_use));
            }
        }
    }
    fn quic(&self, text: &mut Text) {
        let counters = [
            (
                "quic_connections",
                "QUIC connections accepted.",
                self.quic_connections,
            ),
            (
                "quic_retries",
                "QUIC peers that had to prove their address.",
                self.quic_retries,
            ),
            (
                "quic_packets_sent",
                "QUIC packets sent, on connections that ended.",
                self.quic_packets_sent,
            ),
            (
                "quic_packets_lost",
                "QUIC packets lost, on connections that ended.",
                self.quic_packets_lost,
            ),
            (
                "quic_packets_forwarded",
                "QUIC packets passed on to the worker of their connection.",
                self.quic_packets_forwarded,
            ),
            (
                "quic_migrations",
                "Times that a QUIC peer went on from another address, on connections that ended.",
                self.quic_moves,
            ),
            (
                "datagrams_dropped",
                "HTTP datagrams dropped, on connections that ended.",
                self.datagrams_dropped,
            ),
            (
                "quic_answers",
                "QUIC packets of no connection that were answered.",
                self.quic_answers,
            ),
            (
                "quic_answers_withheld",
                "QUIC packets of no connection that were not answered, because too many came.",
                self.quic_answers_withheld,
            ),
        ];
        for (name, help, count) in counters {
            text.counter(name, help, count);
        }
        let name = "trunkline_server_quic_rtt_seconds";
        text.seconds(
            name,
            "Smoothed round-trip times at the ends of QUIC connections.",
        );
        text.histogram_of(name, None, &self.quic_rtt);
    }
}

/// The text, line by line.
struct Text(String);

type Label<'a> = (&'a str, &'a str);

impl Text {
    /// The description of a family. Its samples follow.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "# TYPE {name} {kind}\n# HELP {name} {help}");
    }
    /// The description of a histogram in seconds.
    fn seconds(&mut self, name: &str, help: &str) {
        let _ = writeln!(
            self.0,
            "# TYPE {name} histogram\n# UNIT {name} seconds\n# HELP {name} {help}"
        );
    }
    /// One sample. Values of labels are names of ours, which need no escapes.
    fn line(&mut self, name: &str, labels: &[Label<'_>], value: impl fmt::Display) {
        self.0.push_str(name);
        for (at, (label, of)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{of}\"");
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }
    fn counter(&mut self, name: &str, help: &str, count: u64) {
        let name = format!("trunkline_server_{name}");
        self.family(&name, "counter", help);
        self.line(&format!("{name}_total"), &[], count);
    }
    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        let name = format!("trunkline_server_{name}");
        self.family(&name, "gauge", help);
        self.line(&name, &[], value);
    }
    /// A counter with one label.
    fn labelled(&mut self, (name, help): (&str, &str), label: &str, counts: &[(&str, u64)]) {
        let name = format!("trunkline_server_{name}");
        self.family(&name, "counter", help);
        for (of, count) in counts {
            self.line(&format!("{name}_total"), &[(label, of)], count);
        }
    }
    /// A number of each version.
    fn of_versions(
        &mut self,
        metrics: &Metrics,
        (name, kind, help): (&str, &str, &str),
        value: fn(&VersionMetrics) -> u64,
    ) {
        let name = format!("trunkline_server_{name}");
        self.family(&name, kind, help);
        let sample = match kind {
            "counter" => format!("{name}_total"),
            _ => name,
        };
        for (label, version) in VERSIONS.into_iter().zip(&metrics.versions) {
            self.line(&sample, &[(VERSION, label)], value(version));
        }
    }
    fn histogram(&mut self, name: &str, label: Label<'_>, histogram: &Histogram) {
        self.histogram_of(name, Some(label), histogram);
    }
    fn histogram_of(&mut self, name: &str, label: Option<Label<'_>>, histogram: &Histogram) {
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
#[path = "openmetrics_test.rs"]
mod openmetrics_test;
