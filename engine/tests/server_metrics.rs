//! The metrics of a server, for every version of HTTP.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::{Peer, service};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::future::pending;
use std::time::{Duration, Instant};
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::server::Metrics;
use trunkline::{Body, Running, Server, Tls};

/// A status as the path says; `/never`: no response.
async fn answer(request: Request<Body>) -> Response<Body> {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    if path == "never" {
        pending::<()>().await;
    }
    // Behind the turn in which the request came.
    if path == "late" {
        tokio::task::yield_now().await;
    }
    let status = path.parse().unwrap_or(StatusCode::OK);
    let mut response = Response::new(Body::full("0123456789"));
    *response.status_mut() = status;
    response
}

/// Reads until `expected` holds.
fn until(running: &Running, expected: impl Fn(&Metrics) -> bool) -> Metrics {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let metrics = running.metrics();
        if expected(&metrics) {
            return metrics;
        }
        assert!(Instant::now() < end, "{metrics:#?}");
        std::thread::yield_now();
    }
}

#[test]
fn each_version_has_its_requests_responses_durations_and_what_is_open() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true).workers(1);
    let running = server.serve(service(answer)).unwrap();
    let url = |path| {
        let port = running.local_addr().port();
        format!("https://localhost:{port}/{path}")
    };
    peer::block_on(async {
        let versions = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];
        for (at, protocols) in versions.into_iter().enumerate() {
            let client = Client::builder()
                .protocols(protocols)
                .resolve("localhost", [running.local_addr()])
                .tls(ClientTls::new().root(root.clone()).only_given_roots())
                .build()
                .unwrap();
            for path in ["", "late", "304", "404", "404", "500"] {
                let response = client.get(url(path)).send().await.unwrap();
                response.into_body().collect().await.unwrap();
            }
            // The exchange of a request is over when its last byte was handed on, of which the client
            // may read before the count.
            let metrics = until(&running, |it| it.versions[at].duration.count() == 6);
            let version = &metrics.versions[at];
            assert!(version.connections > 0 && version.connections_open > 0);
            assert_eq!((version.requests, version.requests_open), (6, 0));
            let classes = version.responses.map(|(_, count)| count);
            assert_eq!(classes, [0, 2, 1, 2, 1]);
            assert_eq!(version.first_byte.count(), 6);
            assert!(version.first_byte.sum() <= version.duration.sum());
            assert!(version.duration.sum() > Duration::ZERO);
            // One that goes on is open until the client gives up; over HTTP/1.1 it cannot say that it does.
            let given_up = u64::from(at > 0);
            if given_up > 0 {
                let never = tokio::spawn(client.get(url("never")).send());
                until(&running, |it| it.versions[at].requests_open == 1);
                never.abort();
                let _ = never.await;
            }
            drop(client);
            let ended = until(&running, |it| {
                let version = &it.versions[at];
                version.requests_open == 0 && version.connections_open == 0
            });
            assert_eq!(ended.versions[at].duration.count(), 6 + given_up);
            assert_eq!(ended.versions[at].first_byte.count(), 6);
        }
    });
    let metrics = until(&running, |it| it.connections_open == 0);
    assert!(metrics.tls_handshakes.count() >= 2);
    assert_eq!(metrics.quic_handshakes.count(), 1);
    assert!(metrics.stream_bytes_read > 0 && metrics.stream_bytes_written > 120);
    assert!(metrics.quic_bytes_read > 1200 && metrics.quic_bytes_written > 1200);
    let resets: u64 = metrics.resets_by.iter().map(|(_, count)| count).sum();
    assert_eq!((metrics.resets, resets), (2, 2));
    assert!(metrics.window_budget.total > 0 && metrics.send_budget.total > 0);
}

#[test]
fn connections_are_counted_by_the_reason_of_their_end() {
    let server = Server::bind("127.0.0.1:0").workers(1);
    let running = server.serve(service(answer)).unwrap();
    let count = |metrics: &Metrics, reason: &str| {
        let found = metrics.closed_by.iter().find(|(name, _)| *name == reason);
        found.unwrap().1
    };
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    peer.receives_to_the_end();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a b\r\n\r\n");
    assert!(peer.receives_to_the_end().starts_with("HTTP/1.1 400 "));
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.receives_until("0123456789");
    drop(peer);
    let all = |it: &Metrics| it.closed_by.iter().map(|(_, count)| count).sum::<u64>() == 3;
    let metrics = until(&running, all);
    assert_eq!(count(&metrics, "violation"), 1);
    assert_eq!(count(&metrics, "idle"), 0);
    let text = metrics.to_openmetrics();
    let line = "trunkline_server_connections_closed_total{reason=\"violation\"} 1\n";
    assert!(text.contains(line), "{text}");
}
