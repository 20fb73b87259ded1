//! Metrics of a client, as they are read, and as OpenMetrics text. The set of series is fixed: labels have values
//! of enumerations only, never a host, a path or anything else that a program or a peer chooses.

pub(crate) mod counters;

use super::exposition::{Exposition, VERSION};
use super::histogram::Histogram;
use super::{CLASSES, VERSIONS};
use trunkline_core::pool::{OriginStats, Totals, WaitReason};

/// A reading of a client's counts, over its life, and of its pool now: all origins together.
/// [`Client::stats`](crate::Client::stats) has them one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientMetrics {
    /// Counts of the pool.
    pub totals: Totals,
    /// The pool now.
    pub pool: PoolMetrics,
    /// The parts that are counted for each version of HTTP: 1.1 (with 1.0), 2 and 3.
    pub versions: [ClientVersionMetrics; 3],
    /// Requests that failed, before their response or within it, by the kind of their error
    /// ([`ErrorKind::name`](crate::ErrorKind::name)). Without those that are zero. Requests that their user
    /// dropped are not counted.
    pub failures: Vec<(&'static str, u64)>,
    /// Connections that could not be opened, by the kind of the error. Without those that are zero.
    pub connect_failures: Vec<(&'static str, u64)>,
    /// Bytes of HTTP that came over TCP and Unix sockets, without the records of TLS.
    pub stream_bytes_read: u64,
    /// Bytes of HTTP that went over TCP and Unix sockets, without the records of TLS.
    pub stream_bytes_written: u64,
    /// Bytes that receive windows have borrowed now.
    pub window_bytes: u64,
    /// Bytes that they may borrow:
    /// [`Windows::memory_budget`](crate::core::limits::Windows::memory_budget).
    pub window_bytes_max: u64,
}

/// The pool of a client now, all origins together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolMetrics {
    /// Origins that the pool knows.
    pub origins: u64,
    /// Requests in line, by the reason that the first of their origin's line waits for, and those that pause
    /// before they are sent again, as `pause`: in the order of [`WaitReason::ALL`].
    pub waiting: [u64; WaitReason::ALL.len()],
    /// Requests on connections.
    pub active: u64,
    /// Connections that get requests, without the suspect ones.
    pub connections_ready: u64,
    /// Connections whose peer has been silent for too long.
    pub connections_suspect: u64,
    /// Connections that only finish what they have.
    pub connections_draining: u64,
    /// Connections that are being opened.
    pub connections_opening: u64,
}

/// The counts of one version of HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientVersionMetrics {
    /// Connections that were opened.
    pub connections: u64,
    /// Connections that are open now.
    pub connections_open: u64,
    /// Final responses by the first digit of their status, `1xx` (101 alone) to `5xx`. Those that only made the
    /// client send the request once more (417, 421, 425) are not counted.
    pub responses: [u64; CLASSES.len()],
    /// From the submission of a request to its start on a connection; again for each time that it is sent.
    pub queue: Histogram,
    /// From the submission of a request to the head of its final response.
    pub first_byte: Histogram,
    /// From the submission of a request to the last byte of its response, of those that ended in order.
    pub duration: Histogram,
}

impl PoolMetrics {
    pub(crate) fn of(origins: &[OriginStats]) -> Self {
        let mut sum = Self {
            origins: origins.len() as u64,
            ..Self::default()
        };
        for origin in origins {
            if let Some(reason) = origin.wait_reason {
                sum.waiting[reason as usize] += u64::from(origin.waiting);
            }
            sum.waiting[WaitReason::Pause as usize] += u64::from(origin.paused);
            sum.active += u64::from(origin.active);
            let ready = origin.connections.saturating_sub(origin.suspect);
            sum.connections_ready += u64::from(ready);
            sum.connections_suspect += u64::from(origin.suspect);
            sum.connections_draining += u64::from(origin.draining);
            sum.connections_opening += u64::from(origin.attempts);
        }
        sum
    }
}

impl ClientMetrics {
    /// The metrics as OpenMetrics text, with `# EOF` at its end; its media type is
    /// [`OPENMETRICS_TYPE`](crate::client::OPENMETRICS_TYPE). Durations and open requests have the names and labels of
    /// OpenTelemetry's semantic conventions (`http_client_request_duration_seconds`,
    /// `http_client_active_requests`), all others begin with `trunkline_client_`. How many series there are depends
    /// neither on origins nor on what they answer: every label has the values of an enumeration.
    pub fn to_openmetrics(&self) -> String {
        let mut text = Exposition::new("trunkline_client");
        text.build("The version of the client.");
        self.connections(&mut text);
        self.requests(&mut text);
        self.waits(&mut text);
        self.bytes(&mut text);
        text.finish()
    }
    fn connections(&self, text: &mut Exposition) {
        let each = self.versions.each_ref();
        text.of_versions(
            ("connections", "counter", "Connections opened."),
            each.map(|version| version.connections),
        );
        text.of_versions(
            ("connections_active", "gauge", "Connections open now."),
            each.map(|version| version.connections_open),
        );
        let pool = &self.pool;
        text.labelled_gauge(
            (
                "pool_connections",
                "Connections of the pool now, those that are being opened too.",
            ),
            "state",
            &[
                ("opening", pool.connections_opening),
                ("ready", pool.connections_ready),
                ("suspect", pool.connections_suspect),
                ("draining", pool.connections_draining),
            ],
        );
        text.gauge("origins", "Origins that the pool knows.", pool.origins);
        text.counter(
            "connect_attempts",
            "Attempts to open a connection.",
            self.totals.attempts,
        );
        text.labelled(
            ("connect_failures", "Attempts that failed."),
            "error_type",
            &self.connect_failures,
        );
    }
    fn requests(&self, text: &mut Exposition) {
        let totals = &self.totals;
        text.counter(
            "requests_submitted",
            "Requests handed to the pool, again for each time that one is sent once more.",
            totals.submitted,
        );
        text.counter(
            "requests_dispatched",
            "Requests put on a connection.",
            totals.dispatched,
        );
        let name = "http_client_active_requests";
        text.family(name, "gauge", "Requests that are on a connection now.");
        text.line(name, &[], self.pool.active);
        let name = "trunkline_client_responses";
        text.family(
            name,
            "counter",
            "Final responses by the class of their status.",
        );
        for (label, version) in VERSIONS.into_iter().zip(&self.versions) {
            for (class, count) in CLASSES.into_iter().zip(version.responses) {
                let labels = [(VERSION, label), ("status_class", class)];
                text.line(&format!("{name}_total"), &labels, count);
            }
        }
        text.labelled(
            (
                "failures",
                "Requests that failed, by the kind of their error.",
            ),
            "error_type",
            &self.failures,
        );
        text.labelled(
            ("retries", "Requests sent once more."),
            "reason",
            &[
                ("unprocessed", totals.retries_unprocessed),
                ("lost", totals.retries_lost),
            ],
        );
        text.counter(
            "retries_over_budget",
            "Requests not sent once more, because too many of their origin were.",
            totals.retries_over_budget,
        );
        let each = self.versions.each_ref();
        text.histograms(
            "http_client_request_duration_seconds",
            "From a request's submission to the last byte of its response.",
            each.map(|version| &version.duration),
        );
        text.histograms(
            "trunkline_client_first_byte_duration_seconds",
            "From a request's submission to the head of its response.",
            each.map(|version| &version.first_byte),
        );
        text.histograms(
            "trunkline_client_queue_duration_seconds",
            "From a request's submission to its start on a connection.",
            each.map(|version| &version.queue),
        );
    }
    fn waits(&self, text: &mut Exposition) {
        let named = |counts: [u64; WaitReason::ALL.len()]| {
            let reasons = WaitReason::ALL.into_iter().map(WaitReason::name);
            reasons.zip(counts).collect::<Vec<_>>()
        };
        text.labelled(
            (
                "waits",
                "Requests that had to wait, by what they waited for at first.",
            ),
            "reason",
            &named(self.totals.waited_for),
        );
        text.labelled_gauge(
            (
                "waiting_requests",
                "Requests that wait now, by what their queue waits for.",
            ),
            "reason",
            &named(self.pool.waiting),
        );
        text.counter(
            "requests_refused",
            "Requests that failed in their queue.",
            self.totals.failed,
        );
    }
    fn bytes(&self, text: &mut Exposition) {
        text.labelled(
            ("io_bytes", "Bytes of HTTP over byte streams."),
            "network_io_direction",
            &[
                ("receive", self.stream_bytes_read),
                ("transmit", self.stream_bytes_written),
            ],
        );
        text.gauge(
            "budget_used_bytes",
            "Bytes that receive windows have borrowed now.",
            self.window_bytes,
        );
        text.gauge(
            "budget_bytes",
            "Bytes that receive windows may borrow.",
            self.window_bytes_max,
        );
    }
}

#[cfg(test)]
#[path = "client_test.rs"]
mod client_test;
