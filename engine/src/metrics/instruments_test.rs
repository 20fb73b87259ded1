use super::*;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

const TEXT: &str = "\
# TYPE trunkline_server_build info
# HELP trunkline_server_build The version.
trunkline_server_build_info{version=\"1.2.3\"} 1
# TYPE trunkline_server_requests counter
# HELP trunkline_server_requests Requests that came.
trunkline_server_requests_total{network_protocol_version=\"1.1\"} COUNT
trunkline_server_requests_total{network_protocol_version=\"2\"} 5
# TYPE http_server_active_requests gauge
# HELP http_server_active_requests Open now.
http_server_active_requests{network_protocol_version=\"2\"} 4
# TYPE trunkline_server_budget_used_bytes gauge
# HELP trunkline_server_budget_used_bytes In use.
trunkline_server_budget_used_bytes{budget=\"send\"} 9
# TYPE http_server_request_duration_seconds histogram
# UNIT http_server_request_duration_seconds seconds
# HELP http_server_request_duration_seconds Durations.
http_server_request_duration_seconds_bucket{network_protocol_version=\"2\",le=\"0.1\"} 2
http_server_request_duration_seconds_bucket{network_protocol_version=\"2\",le=\"+Inf\"} 3
http_server_request_duration_seconds_count{network_protocol_version=\"2\"} 3
http_server_request_duration_seconds_sum{network_protocol_version=\"2\"} 0.250000000
# EOF
";

/// The exported metrics: kind and unit of each instrument, and the value of each point by its attributes.
fn exported(
    exporter: &InMemoryMetricExporter,
) -> BTreeMap<String, (String, BTreeMap<String, f64>)> {
    let text = |attributes: &mut dyn Iterator<Item = &KeyValue>| {
        let mut all: Vec<_> = attributes
            .map(|it| format!("{}={}", it.key, it.value))
            .collect();
        all.sort();
        all.join(",")
    };
    let mut found = BTreeMap::new();
    for resource in exporter.get_finished_metrics().expect("it is open") {
        for metric in resource.scope_metrics().flat_map(|scope| scope.metrics()) {
            let unit = metric.unit();
            let (kind, points) = match metric.data() {
                AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                    assert!(sum.is_monotonic());
                    let points = sum.data_points();
                    let points = points.map(|it| (text(&mut it.attributes()), it.value() as f64));
                    ("counter", points.collect())
                }
                AggregatedMetrics::F64(MetricData::Sum(sum)) => {
                    let points = sum.data_points();
                    let points = points.map(|it| (text(&mut it.attributes()), it.value()));
                    ("seconds", points.collect())
                }
                AggregatedMetrics::I64(MetricData::Sum(sum)) => {
                    assert!(!sum.is_monotonic());
                    let points = sum.data_points();
                    let points = points.map(|it| (text(&mut it.attributes()), it.value() as f64));
                    ("gauge", points.collect())
                }
                other => panic!("{other:?}"),
            };
            found.insert(metric.name().to_owned(), (format!("{kind} {unit}"), points));
        }
    }
    found
}

fn provider(exporter: &InMemoryMetricExporter) -> SdkMeterProvider {
    let reader = PeriodicReader::builder(exporter.clone()).build();
    SdkMeterProvider::builder().with_reader(reader).build()
}

#[test]
fn each_metric_has_opentelemetrys_name_its_kind_its_unit_and_its_attributes() {
    let exporter = InMemoryMetricExporter::default();
    let provider = provider(&exporter);
    register(&provider.meter("test"), || Some(TEXT.replace("COUNT", "7")));
    provider.force_flush().expect("it exports");
    let found = exported(&exporter);
    let expected = [
        (
            "http.server.active_requests",
            "gauge {request}",
            &[("network.protocol.version=2", 4.0)][..],
        ),
        (
            "http.server.request.duration.bucket",
            "counter 1",
            &[
                ("le=+Inf,network.protocol.version=2", 3.0),
                ("le=0.1,network.protocol.version=2", 2.0),
            ],
        ),
        (
            "http.server.request.duration.count",
            "counter 1",
            &[("network.protocol.version=2", 3.0)],
        ),
        (
            "http.server.request.duration.sum",
            "seconds s",
            &[("network.protocol.version=2", 0.25)],
        ),
        (
            "trunkline.server.budget_used_bytes",
            "gauge By",
            &[("budget=send", 9.0)],
        ),
        (
            "trunkline.server.build",
            "gauge 1",
            &[("version=1.2.3", 1.0)],
        ),
        (
            "trunkline.server.requests",
            "counter 1",
            &[
                ("network.protocol.version=1.1", 7.0),
                ("network.protocol.version=2", 5.0),
            ],
        ),
    ];
    let expected = expected.map(|(name, kind, points)| {
        let points = points.iter().map(|(at, value)| ((*at).to_owned(), *value));
        (name.to_owned(), (kind.to_owned(), points.collect()))
    });
    assert_eq!(found, BTreeMap::from(expected));
}

#[test]
fn the_text_is_read_once_for_each_collection_and_what_is_gone_gives_nothing() {
    let exporter = InMemoryMetricExporter::default();
    let provider = provider(&exporter);
    let reads = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&reads);
    register(&provider.meter("test"), move || {
        let at = count.fetch_add(1, Ordering::Relaxed);
        (at < 3).then(|| TEXT.replace("COUNT", &at.to_string()))
    });
    for collection in 1..=2 {
        exporter.reset();
        provider.force_flush().expect("it exports");
        // One more for the registration.
        assert_eq!(reads.load(Ordering::Relaxed), collection + 1);
        let requests = &exported(&exporter)["trunkline.server.requests"].1;
        assert_eq!(requests["network.protocol.version=1.1"], collection as f64);
    }
    exporter.reset();
    provider.force_flush().expect("it exports");
    assert_eq!(exported(&exporter).len(), 0);
}
