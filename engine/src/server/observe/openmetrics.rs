//! The metrics of a server as OpenMetrics text, version 1.0. The set of series is fixed: labels have values of
//! enumerations only, never of anything that a client sends.

use super::metrics::{InUse, Metrics, VersionMetrics};
use crate::metrics::VERSIONS;
use crate::metrics::exposition::{Exposition, VERSION};

impl Metrics {
    /// The metrics as OpenMetrics text, with `# EOF` at its end; its media type is [`OPENMETRICS_TYPE`](crate::server::OPENMETRICS_TYPE). Durations and
    /// open requests have the names and labels of OpenTelemetry's semantic conventions
    /// (`http_server_request_duration_seconds`, `http_server_active_requests`), all others begin with
    /// `trunkline_server_`. How many series there are does not depend on what clients send: every label has the
    /// values of an enumeration.
    pub fn to_openmetrics(&self) -> String {
        let mut text = Exposition::new("trunkline_server");
        text.build("The version of the server.");
        self.connections(&mut text);
        self.exchanges(&mut text);
        self.broken_rules(&mut text);
        self.bytes(&mut text);
        self.quic(&mut text);
        text.finish()
    }
    /// A number of each version.
    fn of_versions(
        &self,
        text: &mut Exposition,
        family: (&str, &str, &str),
        value: fn(&VersionMetrics) -> u64,
    ) {
        text.of_versions(family, self.versions.each_ref().map(value));
    }
    fn connections(&self, text: &mut Exposition) {
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
        self.of_versions(
            text,
            ("connections", "counter", "Connections that began HTTP."),
            |version| version.connections,
        );
        self.of_versions(
            text,
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
    fn exchanges(&self, text: &mut Exposition) {
        self.of_versions(
            text,
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
        text.histograms(
            "http_server_request_duration_seconds",
            "From a request's head to the end of its exchange.",
            self.versions.each_ref().map(|version| &version.duration),
        );
        text.histograms(
            "trunkline_server_first_byte_duration_seconds",
            "From a request's head to that of its final response.",
            self.versions.each_ref().map(|version| &version.first_byte),
        );
        text.counter(
            "misdirected_requests",
            "Requests answered with 421.",
            self.misdirected,
        );
        text.labelled(
            (
                "requests_shed",
                "Requests answered with 429 or 503 for the sake of others.",
            ),
            "reason",
            &self.requests_shed,
        );
        let name = "trunkline_server_worker_lag_seconds";
        text.seconds(name, "How late turns of workers were, by what ran before.");
        text.histogram_of(name, None, &self.worker_lag);
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
    fn broken_rules(&self, text: &mut Exposition) {
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
    fn bytes(&self, text: &mut Exposition) {
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
        if self.process_memory.bytes > 0 {
            let name = "process_resident_memory_bytes";
            text.family(name, "gauge", "Bytes of RAM that the process has.");
            text.line(name, &[], self.process_memory.bytes);
        }
        if self.process_memory.total > 0 {
            text.gauge(
                "process_memory_max_bytes",
                "Bytes of RAM from which on requests are answered with 503.",
                self.process_memory.total,
            );
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
    fn quic(&self, text: &mut Exposition) {
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

#[cfg(test)]
#[path = "openmetrics_test.rs"]
mod openmetrics_test;
