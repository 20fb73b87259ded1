//! The metrics of a client, for every version of HTTP.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::service;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::time::{Duration, Instant};
use trunkline::client::{Client, ClientMetrics, ClientTls, Protocols};
use trunkline::{Body, ErrorKind, Server, Tls};

/// A status as the path says.
async fn answer(request: Request<Body>) -> Response<Body> {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let status = path.parse().unwrap_or(StatusCode::OK);
    let mut response = Response::new(Body::full("0123456789"));
    *response.status_mut() = status;
    response
}

/// Reads until `expected` holds.
fn until(client: &Client, expected: impl Fn(&ClientMetrics) -> bool) -> ClientMetrics {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let metrics = client.metrics();
        if expected(&metrics) {
            return metrics;
        }
        assert!(Instant::now() < end, "{metrics:#?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_counted_load_gives_the_same_counts_on_every_version_before_and_after_its_connections_end() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true).workers(1);
    let running = server.serve(service(answer)).unwrap();
    let address = running.local_addr();
    let url = |path| format!("https://localhost:{}/{path}", address.port());
    let runtime = peer::runtime();
    let mut clients = Vec::new();
    for (at, protocols) in [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only]
        .into_iter()
        .enumerate()
    {
        let client = Client::builder()
            .protocols(protocols)
            .resolve("localhost", [address])
            .tls(ClientTls::new().root(root.clone()).only_given_roots())
            .build()
            .unwrap();
        runtime.block_on(async {
            for path in ["", "", "304", "404", "404", "500"] {
                let response = client.get(url(path)).send().await.unwrap();
                response.into_body().collect().await.unwrap();
            }
        });
        let metrics = until(&client, |it| it.versions[at].duration.count() == 6);
        let version = &metrics.versions[at];
        assert_eq!(version.responses, [0, 2, 1, 2, 1]);
        // One that HTTP/1.1 opened while the first was taken is a connection too.
        assert_eq!(version.connections, metrics.totals.connections);
        assert_eq!(version.connections_open, version.connections);
        assert_eq!(version.first_byte.count(), 6);
        assert_eq!(version.queue.count(), 6);
        assert!(version.queue.sum() <= version.first_byte.sum());
        assert!(version.first_byte.sum() <= version.duration.sum());
        assert_eq!((metrics.totals.submitted, metrics.pool.origins), (6, 1));
        assert!(metrics.failures.is_empty() && metrics.connect_failures.is_empty());
        let others = metrics
            .versions
            .iter()
            .enumerate()
            .filter(|(it, _)| *it != at);
        for (_, other) in others {
            assert_eq!(*other, Default::default());
        }
        assert_eq!(metrics.stream_bytes_read > 60, at < 2);
        clients.push((at, client, metrics));
    }
    running.shutdown();
    for (at, client, before) in clients {
        let after = until(&client, |it| it.versions[at].connections_open == 0);
        let mut expected = before.versions[at].clone();
        expected.connections_open = 0;
        // One that HTTP/1.1 opened for a request may have been there only behind all of them.
        assert_eq!(after.versions[at].connections, after.totals.connections);
        expected.connections = after.totals.connections;
        assert_eq!(after.versions[at], expected);
    }
}

#[test]
fn requests_that_fail_are_counted_by_the_kind_of_their_error() {
    let client = Client::new();
    let address = peer::block_on(async {
        // It has the port and does not listen.
        let taken = tokio::net::TcpSocket::new_v4().unwrap();
        taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = taken.local_addr().unwrap();
        for _ in 0..2 {
            let error = client.get(format!("http://{address}/")).send().await;
            assert_eq!(error.unwrap_err().kind(), ErrorKind::Connect);
        }
        address
    });
    let metrics = client.metrics();
    assert_eq!(metrics.failures, [("connect", 2)]);
    assert_eq!(
        metrics.connect_failures,
        [("connect", metrics.totals.attempts)]
    );
    let text = metrics.to_openmetrics();
    let line = "trunkline_client_failures_total{error_type=\"connect\"} 2\n";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains(&address.port().to_string()), "{text}");
}
