//! Credit for streams: a connection outlives its first hundred, whatever ends them.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3::{Origin, generous};
use crate::support::origin::{begun, run};
use http::{Request, Response};
use http_body_util::BodyExt;
use std::future::pending;
use std::time::Duration;
use trunkline::client::Client;
use trunkline::{Body, Limits};

fn small(limits: Limits) -> Origin {
    Origin::start(limits, |request: Request<Body>| async move {
        if request.uri().path() == "/never" {
            pending::<()>().await;
        }
        Response::new(Body::full("ok"))
    })
}

/// Limits of `max` streams at once, the rest generous.
fn streams(max: u32) -> Limits {
    generous().with_request_streams_max(max)
}

async fn get(client: &Client, url: String) {
    let response = client.get(url).send().await.unwrap();
    assert_eq!(
        response.into_body().collect().await.unwrap().to_bytes(),
        "ok"
    );
}

#[test]
fn requests_one_after_another_outlast_the_initial_limit() {
    run(async {
        let origin = small(streams(100));
        let client = origin.client().build().unwrap();
        for _ in 0..150 {
            get(&client, origin.url("/")).await;
        }
        assert_eq!(origin.running.metrics().quic_connections, 1);
    });
}

#[test]
fn a_client_that_allows_itself_one_stream_at_a_time_never_waits_for_more() {
    for at_once in [1, 2, 3] {
        run(async {
            let origin = small(generous());
            let client = origin.client().max_concurrent_streams(at_once);
            let client = client.connections(1).build().unwrap();
            for _ in 0..300 {
                get(&client, origin.url("/")).await;
            }
            assert_eq!(origin.running.metrics().quic_connections, 1);
        });
    }
}

#[test]
fn as_many_at_once_as_the_limit_and_one_more_all_complete_on_one_connection() {
    for at_once in [16, 17] {
        run(async {
            let origin = small(streams(16));
            let client = origin.client().connections(1).build().unwrap();
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..at_once {
                let (client, url) = (client.clone(), origin.url("/"));
                tasks.spawn(async move {
                    for _ in 0..50 {
                        get(&client, url.clone()).await;
                    }
                });
            }
            while let Some(done) = tasks.join_next().await {
                done.unwrap();
            }
            let metrics = origin.running.metrics();
            assert_eq!(metrics.requests_h3, at_once * 50);
            assert_eq!(metrics.quic_connections, 1);
        });
    }
}

#[test]
fn resets_give_their_credit_back() {
    run(async {
        let origin = small(streams(10));
        let client = origin.client().connections(1).build().unwrap();
        for _ in 0..10 {
            let mut given_up = Vec::new();
            for _ in 0..5 {
                given_up.push(begun(client.get(origin.url("/never")).send()));
            }
            get(&client, origin.url("/")).await;
            drop(given_up);
        }
        for _ in 0..20 {
            get(&client, origin.url("/")).await;
        }
        let metrics = origin.running.metrics();
        assert_eq!(metrics.quic_connections, 1);
        // All that were given up had come.
        assert_eq!(metrics.requests_h3, 10 * (5 + 1) + 20);
    });
}

#[test]
fn sixty_four_connections_with_32_streams_each_all_complete() {
    run(async {
        let origin = small(generous());
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let client = origin.client().connections(1).build().unwrap();
            for _ in 0..32 {
                let (client, url) = (client.clone(), origin.url("/"));
                tasks.spawn(async move {
                    for _ in 0..4 {
                        get(&client, url.clone()).await;
                    }
                });
            }
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let metrics = origin.running.metrics();
        assert_eq!(metrics.requests_h3, 64 * 32 * 4);
        assert_eq!(metrics.quic_connections, 64);
    });
}

#[test]
fn several_workers_share_the_port_and_every_connection_is_served() {
    run(async {
        let origin =
            Origin::with_workers(4, generous(), |_| async { Response::new(Body::full("ok")) });
        for _ in 0..20 {
            let client = origin.client().build().unwrap();
            let done = tokio::time::timeout(Duration::from_secs(60), async {
                for _ in 0..10 {
                    get(&client, origin.url("/")).await;
                }
            });
            done.await.expect("a connection stalls");
        }
        assert_eq!(origin.running.metrics().requests_h3, 200);
    });
}
