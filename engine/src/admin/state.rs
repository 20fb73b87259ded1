//! The state of a server or a client as JSON: the page, `trunkline top` and programs read the same.

use super::{LISTED_CONNECTIONS_MAX, LISTED_STREAMS_MAX};
use crate::driver::machine::inspection::InspectLimits;
use crate::error::timelines::KeptTimeline;
use crate::metrics::histogram::Histogram;
use crate::server::{Inspector, Metrics};
use serde_json::{Map, Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use trunkline_core::http::Version;
use trunkline_core::inspect::{ConnectionSnapshot, StreamSnapshot, StreamWait};

/// Characters of a timeline's first line in the state, which is made once a second.
const HEADLINE_CHARACTERS_MAX: usize = 200;

/// The server or the client that the page shows.
pub(super) enum PageSubject {
    Server(Inspector),
    #[cfg(feature = "client")]
    Client(crate::Client),
}

impl PageSubject {
    pub(super) fn openmetrics(&self) -> String {
        match self {
            Self::Server(inspector) => inspector.metrics().to_openmetrics(),
            #[cfg(feature = "client")]
            Self::Client(client) => client.metrics().to_openmetrics(),
        }
    }
    /// Whether new requests are welcome.
    pub(super) async fn is_ready(&self) -> bool {
        match self {
            Self::Server(inspector) => {
                let none = InspectLimits::default().with_connections_max(0);
                !inspector.inspect(none).await.is_draining
            }
            #[cfg(feature = "client")]
            Self::Client(_) => true,
        }
    }
    /// The timeline with a number; `None`: it is not kept.
    pub(super) fn timeline(&self, id: u64) -> Option<String> {
        let timelines = match self {
            Self::Server(inspector) => inspector.timelines().unwrap_or_default(),
            #[cfg(feature = "client")]
            Self::Client(client) => client.timelines(),
        };
        let kept = timelines.into_iter().find(|timeline| timeline.id == id);
        kept.map(|timeline| timeline.text)
    }
    pub(super) async fn state(&self) -> Value {
        let limits = InspectLimits::default()
            .with_connections_max(LISTED_CONNECTIONS_MAX)
            .with_streams_max(LISTED_STREAMS_MAX);
        let mut state = match self {
            Self::Server(inspector) => server(inspector, limits).await,
            #[cfg(feature = "client")]
            Self::Client(client) => client::client(client, limits).await,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        state["time_ms"] = json!(millis(now.unwrap_or_default()));
        state["version"] = json!(env!("CARGO_PKG_VERSION"));
        state["process"] = json!(std::process::id());
        state["waits"] = waits(&state["connections"]);
        state
    }
}

async fn server(inspector: &Inspector, limits: InspectLimits) -> Value {
    let seen = inspector.inspect(limits).await;
    let metrics = inspector.metrics();
    let connections: Vec<Value> = (seen.connections.iter())
        .map(|connection| {
            let peer = connection
                .peer
                .map_or_else(|| "unix".to_owned(), |peer| peer.to_string());
            let mut value = snapshot(connection.snapshot.as_ref());
            value["peer"] = json!(peer);
            value["stage"] = json!(connection.stage.name());
            value["age_ms"] = json!(millis(connection.age));
            value
        })
        .collect();
    let mut state = counts_of_server(&metrics);
    if let Some(kept) = inspector.timelines() {
        state["timelines"] = json!(timelines(kept));
    }
    state["kind"] = json!("server");
    state["connections"] = json!(connections);
    state["unlisted_connections"] = json!(seen.unlisted);
    state["workers"] = json!(seen.workers);
    state["silent_workers"] = json!(seen.silent_workers);
    state["draining"] = json!(seen.is_draining);
    state
}

fn counts_of_server(metrics: &Metrics) -> Value {
    let sum = |count: fn(&crate::server::VersionMetrics) -> u64| -> u64 {
        metrics.versions.iter().map(count).sum()
    };
    let mut responses = Map::new();
    for version in &metrics.versions {
        for (class, count) in version.responses {
            add(&mut responses, class, count);
        }
    }
    let durations = metrics.versions.each_ref().map(|version| &version.duration);
    json!({
        "counts": {
            "requests": sum(|version| version.requests),
            "open": sum(|version| version.requests_open),
            "connections_open": metrics.connections_open,
            "connections": metrics.connections_accepted,
            "refused": metrics.connections_refused,
            "displaced": metrics.connections_displaced,
            "resets": metrics.resets,
            "bytes_in": metrics.stream_bytes_read + metrics.quic_bytes_read,
            "bytes_out": metrics.stream_bytes_written + metrics.quic_bytes_written,
        },
        "responses": responses,
        "durations": durations_of(&durations),
        "lag_ms": metrics.worker_lag_now.as_secs_f64() * 1e3,
        "violations": named(&metrics.violations),
        "closed": named(&metrics.closed_by),
        "resets_by": named(&metrics.resets_by),
        "handshakes_failed": named(&metrics.handshakes_failed_by),
        "budgets": {
            "receive": { "used": metrics.window_budget.bytes, "total": metrics.window_budget.total },
            "send": { "used": metrics.send_budget.bytes, "total": metrics.send_budget.total },
            "process": { "used": metrics.process_memory.bytes, "total": metrics.process_memory.total },
        },
    })
}

#[cfg(feature = "client")]
mod client {
    use super::{add, durations_of, json, millis, named, snapshot, timelines};
    use crate::Client;
    use crate::client::InspectLimits;
    use serde_json::{Map, Value};
    use trunkline_core::pool::Origin;

    pub(super) async fn client(client: &Client, limits: InspectLimits) -> Value {
        let seen = client.inspect(limits).await;
        let metrics = client.metrics();
        let connections: Vec<Value> = (seen.connections.iter())
            .map(|connection| {
                let mut value = snapshot(connection.snapshot.as_ref());
                value["number"] = json!(connection.number);
                value["origin"] = json!(name(&connection.origin));
                value
            })
            .collect();
        let origins = seen.origins.iter().map(|origin| {
            json!({
                "origin": name(&origin.origin),
                "connections": origin.connections,
                "attempts": origin.attempts,
                "suspect": origin.suspect,
                "draining": origin.draining,
                "active": origin.active,
                "waiting": origin.waiting,
                "paused": origin.paused,
                "limit": origin.limit,
                "wait": origin.wait_reason.map(|reason| reason.name()),
            })
        });
        let queue = seen.waits.iter().map(|wait| {
            json!({
                "origin": name(&wait.origin),
                "waited_ms": millis(wait.waited),
                "wait": wait.reason.map(|reason| reason.name()),
                "text": wait.reason.map(|reason| reason.text()),
            })
        });
        let mut responses = Map::new();
        for version in &metrics.versions {
            for (class, count) in crate::metrics::CLASSES.iter().zip(version.responses) {
                add(&mut responses, class, count);
            }
        }
        let durations = metrics.versions.each_ref().map(|version| &version.duration);
        let answered = responses.values().filter_map(Value::as_u64).sum::<u64>();
        json!({
            "kind": "client",
            "timelines": timelines(client.timelines()),
            "counts": {
                "requests": metrics.totals.submitted,
                "open": metrics.pool.active,
                "connections_open": metrics.versions.iter().map(|it| it.connections_open).sum::<u64>(),
                "connections": metrics.totals.connections,
                "attempts": metrics.totals.attempts,
                "answered": answered,
                "failed": metrics.failures.iter().map(|(_, count)| count).sum::<u64>(),
                "repeated": metrics.totals.retries_unprocessed + metrics.totals.retries_lost,
                "bytes_in": metrics.stream_bytes_read,
                "bytes_out": metrics.stream_bytes_written,
            },
            "responses": responses,
            "durations": durations_of(&durations),
            "failures": named(&metrics.failures),
            "connect_failures": named(&metrics.connect_failures),
            "budgets": {
                "receive": { "used": metrics.window_bytes, "total": metrics.window_bytes_max },
            },
            "connections": connections,
            "unlisted_connections": seen.unlisted,
            "origins": origins.collect::<Vec<_>>(),
            "queue": queue.collect::<Vec<_>>(),
            "unlisted_queue": seen.unlisted_waits,
        })
    }

    fn name(origin: &Origin) -> String {
        let host = match origin.host.contains(':') {
            true => format!("[{}]", origin.host),
            false => origin.host.to_string(),
        };
        format!("{}://{host}:{}", origin.scheme.as_str(), origin.port)
    }
}

/// The latest first.
fn timelines(kept: Vec<KeptTimeline>) -> Vec<Value> {
    let timelines = kept.into_iter().rev().map(|timeline| {
        let first = timeline.text.lines().next().unwrap_or_default();
        let headline: String = first.chars().take(HEADLINE_CHARACTERS_MAX).collect();
        json!({
            "id": timeline.id,
            "age_ms": millis(timeline.failed_at.elapsed().unwrap_or_default()),
            "headline": headline,
        })
    });
    timelines.collect()
}

/// A connection; one that did not answer has no version.
fn snapshot(snapshot: Option<&ConnectionSnapshot>) -> Value {
    let Some(connection) = snapshot else {
        return json!({ "version": null, "streams": [], "unlisted": 0 });
    };
    let version = match connection.version {
        Version::Http10 | Version::Http11 => "1.1",
        Version::Http2 => "2",
        Version::Http3 => "3",
    };
    json!({
        "version": version,
        "exchanges": connection.exchanges,
        "resets": connection.resets,
        "send_quota": connection.send_quota,
        "wait": connection.wait().map(StreamWait::name),
        "unsent_bytes": connection.unsent_bytes,
        "unread_bytes": connection.unread_bytes,
        "receive_window": connection.receive_window,
        "receive_credit": connection.receive_credit,
        "draining": connection.is_draining,
        "round_trip_us": connection.round_trip.map(|time| time.as_micros() as u64),
        "streams": connection.streams.iter().map(stream).collect::<Vec<_>>(),
        "unlisted": connection.unlisted,
    })
}

fn stream(stream: &StreamSnapshot) -> Value {
    json!({
        "id": stream.id.0,
        "method": stream.method,
        "target": stream.target,
        "state": stream.state(),
        "age_ms": millis(stream.age),
        "wait": stream.wait().map(StreamWait::name),
        "text": stream.wait().map(StreamWait::text),
        "sends": stream.sends.map(StreamWait::name),
        "receives": stream.receives.map(StreamWait::name),
        "received_bytes": stream.received_bytes,
        "unread_bytes": stream.unread_bytes,
        "receive_window": stream.receive_window,
        "receive_credit": stream.receive_credit,
        "sent_bytes": stream.sent_bytes,
        "unsent_bytes": stream.unsent_bytes,
        "send_quota": stream.send_quota,
    })
}

/// How many of the exchanges that are listed wait for each reason. A connection without one, whose last response is not taken,
/// counts as one.
fn waits(connections: &Value) -> Value {
    let mut counts = Map::new();
    for connection in connections.as_array().into_iter().flatten() {
        let streams = connection["streams"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let alone = streams.is_empty().then_some(connection);
        let waiting = streams.iter().chain(alone);
        for wait in waiting.filter_map(|waiting| waiting["wait"].as_str()) {
            add(&mut counts, wait, 1);
        }
    }
    Value::Object(counts)
}

fn add(counts: &mut Map<String, Value>, name: &str, count: u64) {
    let before = counts.get(name).and_then(Value::as_u64).unwrap_or(0);
    counts.insert(name.to_owned(), json!(before + count));
}

fn named(counts: &[(&'static str, u64)]) -> Value {
    let counts = counts
        .iter()
        .map(|(name, count)| ((*name).to_owned(), json!(count)));
    Value::Object(counts.collect())
}

/// Upper bounds in milliseconds with the count up to each, and the count of all.
fn durations_of(histograms: &[&Histogram]) -> Value {
    let mut buckets: Vec<(f64, u64)> = Vec::new();
    for histogram in histograms {
        for (at, (bound, count)) in histogram.cumulative().enumerate() {
            match buckets.get_mut(at) {
                Some(bucket) => bucket.1 += count,
                None => buckets.push((bound.as_secs_f64() * 1e3, count)),
            }
        }
    }
    let count: u64 = histograms.iter().map(|histogram| histogram.count()).sum();
    json!({ "buckets": buckets, "count": count })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
