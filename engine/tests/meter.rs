//! Counts of a server and a client as OpenTelemetry's SDK collects them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer::service;
use http::{Request, Response};
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use std::time::{Duration, Instant};
use trunkline::client::Protocols;
use trunkline::{Body, Client, Server};

/// The sum of the counter's points for HTTP/1.1.
fn counted(exporter: &InMemoryMetricExporter, name: &str) -> Option<u64> {
    let finished = exporter.get_finished_metrics().unwrap();
    let scopes = finished.iter().flat_map(|it| it.scope_metrics());
    let metric = scopes.flat_map(|scope| scope.metrics());
    let metric = { metric }.find(|metric| metric.name() == name)?;
    let AggregatedMetrics::U64(MetricData::Sum(sum)) = metric.data() else {
        panic!("{metric:?}");
    };
    let points = sum.data_points().filter(|point| {
        let mut attributes = point.attributes();
        attributes
            .any(|it| it.key.as_str() == "network.protocol.version" && it.value.as_str() == "1.1")
    });
    Some(points.map(|point| point.value()).sum())
}

#[test]
fn a_meter_has_the_counts_of_a_server_and_of_a_client_until_it_is_gone() {
    const SERVER: &str = "trunkline.server.requests";
    const CLIENT: &str = "http.client.request.duration.count";
    let exporter = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(exporter.clone()).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    let meter = provider.meter("test");
    let collected = |name: &str| {
        exporter.reset();
        provider.force_flush().unwrap();
        counted(&exporter, name)
    };

    let answer = async |_: Request<Body>| Response::new(Body::full("hello"));
    let running = Server::bind("127.0.0.1:0")
        .workers(1)
        .serve(service(answer))
        .unwrap();
    running.metrics_reader().export_to(&meter);
    let client = Client::builder()
        .protocols(Protocols::H1Only)
        .build()
        .unwrap();
    client.export_metrics_to(&meter);
    let url = format!("http://{}/", running.local_addr());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for _ in 0..3 {
            let response = client.get(&url).send().await.unwrap();
            response.into_body().bytes().await.unwrap();
        }
    });
    // The end of an exchange is counted behind its last byte.
    let end = Instant::now() + Duration::from_secs(60);
    for name in [SERVER, CLIENT] {
        while collected(name) != Some(3) {
            assert!(Instant::now() < end, "{name}: {:?}", collected(name));
        }
    }
    drop(client);
    drop(runtime);
    while collected(CLIENT).is_some() {
        assert!(Instant::now() < end, "{:?}", collected(CLIENT));
    }
    assert_eq!(collected(SERVER), Some(3));
}
