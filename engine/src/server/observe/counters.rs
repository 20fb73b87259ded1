//! The counters of a server: one place for each event, which every report reads. Each worker counts without
//! sharing, unless its connections are tasks of a runtime with several threads; reading sums the workers.

use super::handshake_failure;
use super::metrics::{InUse, Metrics, VersionMetrics};
use super::resident;
use crate::connection_info::traffic::Traffic;
use crate::driver::quic::rules;
use crate::error::timelines::Timelines;
use crate::metrics::histogram::{Bucket, Counting, Histogram, Writers, bump};
use crate::metrics::{CLASSES, VERSIONS, class_of, place_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use trunkline_core::credit::BudgetShare;
use trunkline_core::error::{Closed, TransportEnd, Violation};
use trunkline_core::http::{Reset, ResetBy, Version};

/// The counters of one worker.
#[derive(Debug, Default)]
pub(in crate::server) struct Counters {
    /// The worker's connections run on several threads.
    is_shared: AtomicBool,
    pub(in crate::server) connections_accepted: AtomicU64,
    pub(in crate::server) connections_closed: AtomicU64,
    pub(in crate::server) connections_refused: AtomicU64,
    pub(in crate::server) connections_displaced: AtomicU64,
    pub(super) handshakes_failed: AtomicU64,
    /// Indexed as [`handshake_failure::NAMES`].
    handshakes_failed_by: [AtomicU64; handshake_failure::NAMES.len()],
    pub(in crate::server) misdirected: AtomicU64,
    /// Indexed as [`SHED_BY`].
    requests_shed: [AtomicU64; SHED_BY.len()],
    pub(in crate::server) requests_h1: AtomicU64,
    pub(in crate::server) requests_h2: AtomicU64,
    pub(in crate::server) requests_h3: AtomicU64,
    pub(in crate::server) requests_early: AtomicU64,
    pub(in crate::server) too_early: AtomicU64,
    pub(in crate::server) quic_connections: AtomicU64,
    pub(in crate::server) quic_retries: AtomicU64,
    quic_packets_lost: AtomicU64,
    pub(in crate::server) quic_packets_forwarded: AtomicU64,
    pub(in crate::server) quic_moves: AtomicU64,
    pub(in crate::server) datagrams_dropped: AtomicU64,
    pub(in crate::server) quic_answers: AtomicU64,
    pub(in crate::server) quic_answers_withheld: AtomicU64,
    /// Indexed as [`rules::NAMES`].
    quic_violations: [AtomicU64; rules::NAMES.len()],
    pub(in crate::server) resets: AtomicU64,
    /// Indexed as [`RESET_BY`].
    resets_by: [AtomicU64; RESET_BY.len()],
    /// Indexed as [`CLOSED_BY`].
    closed_by: [AtomicU64; CLOSED_BY.len()],
    violations: Violations,
    /// Indexed as [`VERSIONS`].
    versions: [VersionCounters; VERSIONS.len()],
    turns_late: Counting,
    /// How late the turn was that was measured last, nanoseconds.
    last_turn_late: AtomicU64,
    tls_handshakes: Counting,
    quic_handshakes: Counting,
    quic_rtt: Counting,
    quic_packets_sent: AtomicU64,
    /// Bytes of all connections over byte streams.
    streams: Traffic,
    quic_bytes_read: AtomicU64,
    quic_bytes_written: AtomicU64,
}

/// The counters of one version of HTTP.
#[derive(Debug, Default)]
struct VersionCounters {
    connections: AtomicU64,
    connections_closed: AtomicU64,
    exchanges_open: AtomicU64,
    /// Indexed as [`CLASSES`].
    responses: [AtomicU64; CLASSES.len()],
    first_byte: Counting,
    duration: Counting,
}

/// Why a request was refused for the sake of others.
pub(in crate::server) const SHED_BY: [&str; 5] = ["address", "lag", "memory", "bytes", "process"];
/// Indexed as [`Violation::ALL`].
#[derive(Debug)]
struct Violations([AtomicU64; Violation::ALL.len()]);

impl Default for Violations {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::default()))
    }
}

/// The sides that end an exchange early.
const RESET_BY: [&str; 3] = ["server", "client", "connection"];
/// The reasons for which a connection of HTTP ends.
const CLOSED_BY: [&str; 7] = [
    "violation",
    "peer",
    "eof",
    "ragged_eof",
    "transport",
    "idle",
    "drained",
];

impl Counters {
    /// Several threads count from now on.
    pub(in crate::server) fn share(&self) {
        self.is_shared.store(true, Ordering::Relaxed);
    }
    fn writers(&self) -> Writers {
        match self.is_shared.load(Ordering::Relaxed) {
            true => Writers::Many,
            false => Writers::One,
        }
    }
    /// A handshake failed for this of [`handshake_failure::NAMES`].
    pub(super) fn handshake_failed_by(&self, kind: usize) {
        add(&self.handshakes_failed_by[kind], 1);
    }
    /// A request was refused for this of [`SHED_BY`].
    pub(in crate::server) fn shed(&self, reason: usize) {
        add(&self.requests_shed[reason], 1);
    }
    /// QUIC ended a connection, or did not let it begin, for this of [`rules::NAMES`].
    pub(in crate::server) fn quic_closed(&self, rule: usize) {
        add(&self.quic_violations[rule], 1);
    }
    /// A connection ended.
    pub(in crate::server) fn closed(&self, closed: Closed) {
        let reason = match closed {
            Closed::ByUs(violation) => {
                self.broken(violation);
                0
            }
            Closed::ByPeer(_) => 1,
            Closed::Transport(TransportEnd::InOrder) => 2,
            Closed::Transport(TransportEnd::Ragged) => 3,
            Closed::Transport(TransportEnd::Failed) => 4,
            Closed::Idle => 5,
            Closed::Drained => 6,
        };
        add(&self.closed_by[reason], 1);
    }
    /// An exchange ended early. One of HTTP/1.1 ends with its connection, which counts the rule.
    pub(in crate::server) fn reset(&self, version: Version, reset: Reset) {
        add(&self.resets, 1);
        let by = match reset.by {
            ResetBy::Us(_) => 0,
            ResetBy::Peer(_) => 1,
            // A server rejects early data before an exchange begins.
            ResetBy::Connection(_) | ResetBy::EarlyDataRejected => 2,
        };
        add(&self.resets_by[by], 1);
        if let (ResetBy::Us(violation), Version::Http2 | Version::Http3) = (reset.by, version) {
            self.broken(violation);
        }
    }
    /// A peer broke this rule, and its connection or its exchange ended.
    pub(in crate::server) fn broken(&self, violation: Violation) {
        if let Some(at) = Violation::ALL.iter().position(|rule| *rule == violation) {
            add(&self.violations.0[at], 1);
        }
    }
    /// A connection speaks this version from now on.
    pub(in crate::server) fn speaks(&self, version: Version) {
        bump(
            &self.versions[place_of(version)].connections,
            1,
            self.writers(),
        );
    }
    /// Counts a connection that has ended or has left HTTP.
    pub(in crate::server) fn speaks_no_more(&self, version: Version) {
        bump(
            &self.versions[place_of(version)].connections_closed,
            1,
            self.writers(),
        );
    }
    /// The number of a connection's open exchanges was `before`, and is `now`.
    pub(in crate::server) fn exchanges_open(&self, version: Version, before: u32, now: u32) {
        // Wrapping: one that became smaller adds a number that the sum takes back.
        let change = u64::from(now).wrapping_sub(u64::from(before));
        bump(
            &self.versions[place_of(version)].exchanges_open,
            change,
            self.writers(),
        );
    }
    /// The head of a final response was sent.
    pub(in crate::server) fn answered(&self, version: Version, status: u16) {
        let responses = &self.versions[place_of(version)].responses;
        bump(&responses[class_of(status)], 1, self.writers());
    }
    /// As many exchanges had their final head sent and as many ended, this long after their request's head.
    pub(in crate::server) fn took(
        &self,
        version: Version,
        time: Duration,
        (heads, ends): (u32, u32),
    ) {
        let bucket = Bucket::of(time);
        let (counters, writers) = (&self.versions[place_of(version)], self.writers());
        if heads > 0 {
            counters.first_byte.count(bucket, heads, writers);
        }
        if ends > 0 {
            counters.duration.count(bucket, ends, writers);
        }
    }
    /// A turn of the worker was measured, and came this late.
    pub(in crate::server) fn turn_was_late(&self, late: Duration) {
        self.turns_late.count(Bucket::of(late), 1, self.writers());
        let nanos = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        self.last_turn_late.store(nanos, Ordering::Relaxed);
    }
    /// A TLS handshake over a byte stream was completed.
    pub(in crate::server) fn tls_handshake_done(&self, time: Duration) {
        self.tls_handshakes
            .count(Bucket::of(time), 1, self.writers());
    }
    /// A QUIC handshake was completed.
    pub(in crate::server) fn quic_handshake_done(&self, time: Duration) {
        self.quic_handshakes
            .count(Bucket::of(time), 1, self.writers());
    }
    /// A QUIC connection has ended.
    pub(in crate::server) fn quic_ended(&self, sent: u64, lost: u64, rtt: Option<Duration>) {
        add(&self.quic_packets_sent, sent);
        add(&self.quic_packets_lost, lost);
        if let Some(rtt) = rtt {
            self.quic_rtt.count(Bucket::of(rtt), 1, self.writers());
        }
    }
    /// Bytes of UDP payloads.
    pub(in crate::server) fn quic_bytes(&self, read: u64, written: u64) {
        bump(&self.quic_bytes_read, read, self.writers());
        bump(&self.quic_bytes_written, written, self.writers());
    }
    /// Where the bytes of a connection over a byte stream are counted; `own`: also in counts of its own.
    pub(in crate::server) fn stream_traffic(&self, own: bool) -> Traffic {
        match own {
            true => self.streams.child(),
            false => self.streams.clone(),
        }
    }
}

/// The counts that are not zero, with their names.
fn named(
    names: impl Iterator<Item = &'static str>,
    count: impl Fn(usize) -> u64,
) -> Vec<(&'static str, u64)> {
    let counted = names.enumerate().map(|(at, name)| (name, count(at)));
    counted.filter(|(_, count)| *count > 0).collect()
}

/// The counts of all names.
fn every(names: &[&'static str], count: impl Fn(usize) -> u64) -> Vec<(&'static str, u64)> {
    let counted = names
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, count(at)));
    counted.collect()
}

/// Counts. Relaxed: counters order nothing.
pub(in crate::server) fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

/// Reads the metrics of a server on any thread, and after its end too. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct MetricsReader {
    pub(in crate::server) workers: Vec<Arc<Counters>>,
    /// The window budget of each server.
    pub(in crate::server) windows: Vec<Arc<BudgetShare>>,
    pub(in crate::server) sending: Vec<Arc<BudgetShare>>,
    pub(in crate::server) timelines: Vec<Arc<Timelines>>,
    /// The bound on the process's memory.
    pub(in crate::server) process_memory_max: Option<u64>,
}

impl MetricsReader {
    /// Reads those of another server too, as one sum.
    pub(in crate::server) fn add(&mut self, other: &Self) {
        self.workers.extend_from_slice(&other.workers);
        // A budget that both have counts once.
        let shares = [
            (&mut self.windows, &other.windows),
            (&mut self.sending, &other.sending),
        ];
        for (own, others) in shares {
            for share in others {
                if !own.iter().any(|it| Arc::ptr_eq(it, share)) {
                    own.push(Arc::clone(share));
                }
            }
        }
        self.timelines.extend_from_slice(&other.timelines);
    }
    /// Makes an instrument of `meter` for each metric of [`Metrics::to_openmetrics`], read whenever the meter's provider collects and
    /// costing nothing between. Names and attributes are those of OpenTelemetry's semantic conventions where they have one
    /// (`http.server.active_requests`, `network.protocol.version`), others begin with `trunkline.server.`. A histogram is three
    /// counters, because OpenTelemetry has none that is observed: `http.server.request.duration.bucket` with the bound as `le`,
    /// `.count` and `.sum`. The instruments live as long as the provider; call it once for a server.
    #[cfg(feature = "opentelemetry")]
    pub fn export_to(&self, meter: &opentelemetry::metrics::Meter) {
        let reader = self.clone();
        crate::metrics::instruments::register(meter, move || Some(reader.read().to_openmetrics()));
    }
    /// The counts so far, of all workers.
    pub fn read(&self) -> Metrics {
        let workers = &self.workers;
        let sum = |counter: &dyn Fn(&Counters) -> u64| -> u64 {
            workers.iter().map(|it| counter(it)).sum()
        };
        let total = |counter: fn(&Counters) -> &AtomicU64| sum(&|it| read(counter(it)));
        let accepted = total(|worker| &worker.connections_accepted);
        let rules = Violation::ALL.iter().map(|rule| rule.name());
        let histogram = |histogram: fn(&Counters) -> &Counting| {
            let mut sum = Histogram::default();
            for worker in workers {
                histogram(worker).add_to(&mut sum);
            }
            sum
        };
        let requests = [
            total(|worker| &worker.requests_h1),
            total(|worker| &worker.requests_h2),
            total(|worker| &worker.requests_h3),
        ];
        Metrics {
            connections_accepted: accepted,
            connections_open: accepted.saturating_sub(total(|worker| &worker.connections_closed)),
            connections_refused: total(|worker| &worker.connections_refused),
            connections_displaced: total(|worker| &worker.connections_displaced),
            handshakes_failed: total(|worker| &worker.handshakes_failed),
            handshakes_failed_by: named(handshake_failure::NAMES.into_iter(), |at| {
                sum(&|it| read(&it.handshakes_failed_by[at]))
            }),
            misdirected: total(|worker| &worker.misdirected),
            requests_shed: every(&SHED_BY, |at| sum(&|it| read(&it.requests_shed[at]))),
            requests_h1: requests[0],
            requests_h2: requests[1],
            requests_h3: requests[2],
            requests_early: total(|worker| &worker.requests_early),
            too_early: total(|worker| &worker.too_early),
            quic_connections: total(|worker| &worker.quic_connections),
            quic_retries: total(|worker| &worker.quic_retries),
            quic_packets_lost: total(|worker| &worker.quic_packets_lost),
            quic_packets_forwarded: total(|worker| &worker.quic_packets_forwarded),
            quic_moves: total(|worker| &worker.quic_moves),
            datagrams_dropped: total(|worker| &worker.datagrams_dropped),
            quic_answers: total(|worker| &worker.quic_answers),
            quic_answers_withheld: total(|worker| &worker.quic_answers_withheld),
            quic_violations: named(rules::NAMES.into_iter(), |at| {
                sum(&|it| read(&it.quic_violations[at]))
            }),
            resets: total(|worker| &worker.resets),
            resets_by: every(&RESET_BY, |at| sum(&|it| read(&it.resets_by[at]))),
            closed_by: every(&CLOSED_BY, |at| sum(&|it| read(&it.closed_by[at]))),
            violations: named(rules, |at| sum(&|it| read(&it.violations.0[at]))),
            versions: std::array::from_fn(|at| self.version(at, requests[at])),
            worker_lag: histogram(|worker| &worker.turns_late),
            worker_lag_now: self.lag_now(),
            tls_handshakes: histogram(|worker| &worker.tls_handshakes),
            quic_handshakes: histogram(|worker| &worker.quic_handshakes),
            quic_rtt: histogram(|worker| &worker.quic_rtt),
            quic_packets_sent: total(|worker| &worker.quic_packets_sent),
            stream_bytes_read: sum(&|it| it.streams.bytes_read()),
            stream_bytes_written: sum(&|it| it.streams.bytes_written()),
            quic_bytes_read: total(|worker| &worker.quic_bytes_read),
            quic_bytes_written: total(|worker| &worker.quic_bytes_written),
            window_budget: in_use(&self.windows),
            send_budget: in_use(&self.sending),
            process_memory: InUse {
                bytes: resident::bytes().unwrap_or(0),
                total: self.process_memory_max.unwrap_or(0),
            },
        }
    }
    /// The latest of the workers at its last measurement.
    fn lag_now(&self) -> Duration {
        let late = self
            .workers
            .iter()
            .map(|worker| read(&worker.last_turn_late));
        Duration::from_nanos(late.max().unwrap_or(0))
    }
    /// The counts of the version at this place of [`VERSIONS`].
    fn version(&self, at: usize, requests: u64) -> VersionMetrics {
        let mut sum = VersionMetrics {
            requests,
            ..VersionMetrics::default()
        };
        sum.responses = CLASSES.map(|class| (class, 0));
        let mut closed = 0;
        for worker in &self.workers {
            let counted = &worker.versions[at];
            sum.connections += read(&counted.connections);
            closed += read(&counted.connections_closed);
            sum.requests_open = sum
                .requests_open
                .wrapping_add(read(&counted.exchanges_open));
            for (response, count) in sum.responses.iter_mut().zip(&counted.responses) {
                response.1 += read(count);
            }
            counted.first_byte.add_to(&mut sum.first_byte);
            counted.duration.add_to(&mut sum.duration);
        }
        sum.connections_open = sum.connections.saturating_sub(closed);
        sum
    }
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn in_use(budgets: &[Arc<BudgetShare>]) -> InUse {
    InUse {
        bytes: budgets.iter().map(|budget| budget.reserved()).sum(),
        total: budgets.iter().map(|budget| budget.total()).sum(),
    }
}
