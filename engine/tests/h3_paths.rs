//! Connections that outlive their path, and clients that learn at once of another server at the address.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3::Origin;
use crate::support::origin::run;
use crate::support::udp_relay::UdpRelay;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use trunkline::client::{Client, HealthTimes};
use trunkline::{Body, Limits};

const LARGE_BYTES: usize = 8 << 20;

/// Bytes that a misplaced piece would show in.
fn patterned(len: usize) -> Bytes {
    (0..len).map(|at| (at % 251) as u8).collect()
}

/// `/large` is larger than what fits on the way.
fn large_and_small(workers: usize) -> Origin {
    Origin::with_workers(
        workers,
        Limits::default(),
        |request: Request<Body>| async move {
            match request.uri().path() {
                "/large" => Response::new(Body::full(patterned(LARGE_BYTES))),
                _ => Response::new(Body::full("small")),
            }
        },
    )
}

/// Begins a download, has `cut` happen in the middle, and compares the whole.
async fn download_over(client: &Client, relay: &UdpRelay, cut: impl FnOnce()) {
    let response = client.get(relay.url("/large")).send().await.unwrap();
    let mut body = response.into_body();
    let mut received = Vec::new();
    while received.len() < LARGE_BYTES / 8 {
        let frame = body.frame().await.unwrap().unwrap();
        received.extend_from_slice(frame.data_ref().unwrap());
    }
    cut();
    let rest = body.collect().await.unwrap().to_bytes();
    received.extend_from_slice(&rest);
    assert!(received == patterned(LARGE_BYTES));
}

#[test]
fn a_download_goes_on_after_the_network_changed() {
    run(async {
        let origin = large_and_small(1);
        let relay = UdpRelay::to(origin.running.local_addr()).await;
        let client = origin.client().build().unwrap();
        download_over(&client, &relay, || {
            relay.cut_known_clients();
            client.network_changed();
        })
        .await;
        assert_eq!(relay.clients(), 2, "the client has moved once");
        assert_eq!(origin.running.metrics().quic_connections, 1);
    });
}

#[test]
fn a_download_goes_on_after_its_path_died_without_a_word() {
    run(async {
        let origin = large_and_small(1);
        let relay = UdpRelay::to(origin.running.local_addr()).await;
        let watchful = HealthTimes::default()
            .with_quiet(Duration::from_millis(200))
            .with_suspect(Duration::from_millis(100))
            .with_dead(Duration::from_secs(600));
        let client = origin.client().health(watchful).build().unwrap();
        download_over(&client, &relay, || relay.cut_known_clients()).await;
        // A replacement may have been opened beside it, where the machine let the path wait too long.
        assert!(relay.clients() >= 2, "the client has moved");
    });
}

#[test]
fn a_client_that_moves_reaches_its_worker_through_whichever_gets_its_packets() {
    run(async {
        let origin = large_and_small(2);
        let client = origin.client().connections(1).build().unwrap();
        // Every address is one worker's or the other's, by its hash: soon it is the other's.
        for _ in 0..64 {
            let response = client.get(origin.url("/")).send().await.unwrap();
            let body = response.into_body().collect().await.unwrap();
            assert_eq!(body.to_bytes(), "small");
            if origin.running.metrics().quic_packets_forwarded > 0 {
                break;
            }
            client.network_changed();
        }
        let metrics = origin.running.metrics();
        assert!(metrics.quic_packets_forwarded > 0);
        assert_eq!(metrics.quic_connections, 1);
    });
}

#[test]
fn a_server_that_starts_again_with_its_secret_ends_the_old_connections_at_once() {
    run(async {
        let started = Arc::new(Notify::new());
        let begun = Arc::clone(&started);
        let stuck = move |request: Request<Body>| {
            let begun = Arc::clone(&begun);
            async move {
                if request.uri().path() == "/stuck" {
                    begun.notify_one();
                    pending::<()>().await;
                }
                Response::new(Body::empty())
            }
        };
        let before = Origin::with_secret([7; 32], stuck.clone());
        let after = Origin::with_secret([7; 32], stuck);
        let relay = UdpRelay::to(before.running.local_addr()).await;
        let patient = HealthTimes::default().with_dead(Duration::from_secs(600));
        let client = before
            .client()
            .health(patient)
            .connections(1)
            .build()
            .unwrap();
        // The handshake is over on both sides when an answer has come.
        client.get(relay.url("/")).send().await.unwrap();
        let first = tokio::spawn(client.get(relay.url("/stuck")).send());
        started.notified().await;
        relay.turn_to(after.running.local_addr());
        // Its first packet to the new server is answered by a reset.
        let _second = tokio::spawn(client.get(relay.url("/")).send());
        let error = first.await.unwrap().unwrap_err();
        assert_eq!(
            error.kind(),
            trunkline::ErrorKind::TransportClosed,
            "{error:?}"
        );
    });
}
