//! The number of connections that a client opens, and of requests that it puts on each: counted at the
//! server.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::{Origin, Speaks, run};
use crate::support::peer;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use std::sync::Arc;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use trunkline::Body;
use trunkline::client::{Client, Protocols};

/// Answers when `count` requests are in flight at once: a client that serialises them waits for
/// ever.
fn meeting(speaks: Speaks, streams_max: u32, count: usize) -> Origin {
    let barrier = Arc::new(Barrier::new(count));
    Origin::start(speaks, streams_max, move |_| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Response::new(Body::full("met"))
        }
    })
}

async fn burst(client: &Client, origin: &Origin, count: usize) -> usize {
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        let response = client.get(origin.url("/")).send();
        tasks.spawn(async move {
            let response = response.await?;
            response.into_body().collect().await
        });
    }
    let mut succeeded = 0;
    while let Some(outcome) = tasks.join_next().await {
        outcome.unwrap().unwrap();
        succeeded += 1;
    }
    succeeded
}

#[test]
fn concurrent_requests_share_one_session_and_one_socket() {
    run(async {
        let origin = meeting(Speaks::Tls, 100, 5);
        let client = origin.client().connections(1).build().unwrap();
        assert_eq!(burst(&client, &origin, 5).await, 5);
        assert_eq!(origin.sockets(), 1);
        assert_eq!(origin.seen.in_flight_max(), 5);
    });
}

#[test]
fn a_cold_burst_within_the_limit_opens_one_connection() {
    run(async {
        let origin = meeting(Speaks::Tls, 100, 100);
        let client = origin.client().build().unwrap();
        assert_eq!(burst(&client, &origin, 100).await, 100);
        assert_eq!(origin.sockets(), 1);
    });
}

/// Far below the minute after which a connection that idles is closed anyway.
const SOON: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn origins_take_turns_with_the_only_socket_of_a_client() {
    run(async {
        let origins = [Speaks::Tls, Speaks::Plain].map(|speaks| meeting(speaks, 100, 1));
        let client = origins[0].client().sockets(1).build().unwrap();
        let both = async {
            for _ in 0..3 {
                for origin in &origins {
                    assert_eq!(burst(&client, origin, 1).await, 1);
                }
            }
        };
        let waited = tokio::time::timeout(SOON, both).await;
        assert!(waited.is_ok(), "one waits for the other to idle");
        assert_eq!(origins.map(|origin| origin.sockets()), [3, 3]);
    });
}

#[test]
fn a_cold_burst_over_the_limit_grows_by_what_is_missing() {
    run(async {
        let origin = meeting(Speaks::Tls, 10, 10);
        let client = origin.client().build().unwrap();
        assert_eq!(burst(&client, &origin, 1000).await, 1000);
        assert!(origin.sockets() <= 16, "{} sockets", origin.sockets());
        assert!(origin.sockets() > 1, "it did grow");
        assert_eq!(origin.seen.requests(), 1000, "none is delivered twice");
    });
}

#[test]
fn a_bounded_pool_carries_two_thousand_requests_on_four_connections() {
    run(async {
        let origin = meeting(Speaks::Tls, 100, 400);
        let client = origin.client().connections(4).build().unwrap();
        assert_eq!(burst(&client, &origin, 2000).await, 2000);
        assert_eq!(origin.sockets(), 4);
        assert_eq!(origin.running.metrics().requests_h2, 2000);
        assert_eq!(origin.seen.in_flight_max(), 400, "all four were used");
        let stats = &client.stats()[0];
        assert_eq!((stats.waiting, stats.active, stats.connections), (0, 0, 4));
        assert_eq!(stats.limit, Some(100));
    });
}

#[test]
fn prior_knowledge_multiplexes_without_tls() {
    run(async {
        let origin = meeting(Speaks::Plain, 100, 50);
        let builder = origin.client().protocols(Protocols::H2Only);
        let client = builder.build().unwrap();
        assert_eq!(burst(&client, &origin, 50).await, 50);
        assert_eq!(origin.sockets(), 1);
    });
}

#[test]
fn an_h1_origin_gets_the_burst_on_as_many_connections_as_allowed() {
    run(async {
        let origin = meeting(Speaks::TlsH1, 100, 20);
        let client = origin.client().connections(20).build().unwrap();
        assert_eq!(burst(&client, &origin, 20).await, 20);
        assert_eq!(origin.sockets(), 20);
        assert_eq!(burst(&client, &origin, 20).await, 20);
        assert_eq!(origin.sockets(), 20, "the second burst reuses them all");
    });
}

#[test]
fn an_h2_setting_never_pipelines_h1() {
    run(async {
        let origin = meeting(Speaks::TlsH1, 100, 3);
        let builder = origin.client().connections(3).max_concurrent_streams(64);
        let client = builder.build().unwrap();
        assert_eq!(burst(&client, &origin, 63).await, 63);
        assert_eq!(origin.sockets(), 3);
        assert_eq!(origin.seen.in_flight_max(), 3, "one on each connection");
    });
}

#[test]
fn the_two_settings_never_move_each_other() {
    run(async {
        let origin = meeting(Speaks::Tls, 100, 8);
        let builder = origin.client().max_concurrent_streams(64);
        let client = builder.build().unwrap();
        assert_eq!(burst(&client, &origin, 8).await, 8);
        assert_eq!(client.pipelining(), 1);
        client.set_pipelining(7);
        assert_eq!(client.pipelining(), 7);
        assert_eq!(client.max_concurrent_streams(), 64);
        let pipelines = origin.client().pipelining(7).build().unwrap();
        let usual = origin.client().build().unwrap();
        assert_eq!(
            pipelines.max_concurrent_streams(),
            usual.max_concurrent_streams()
        );
    });
}

#[test]
fn our_ceiling_holds_below_the_peers_limit() {
    run(async {
        let origin = meeting(Speaks::Tls, 100, 7);
        let builder = origin.client().connections(1).max_concurrent_streams(7);
        let client = builder.build().unwrap();
        assert_eq!(burst(&client, &origin, 49).await, 49);
        assert_eq!(origin.seen.in_flight_max(), 7);
    });
}

#[test]
fn streaming_posts_multiplex_like_gets() {
    run(async {
        let origin = meeting(Speaks::Tls, 100, 10);
        let client = origin.client().connections(1).build().unwrap();
        let mut tasks = JoinSet::new();
        let mut senders = Vec::new();
        for _ in 0..10 {
            let (sender, body) = Body::channel();
            senders.push(sender);
            let request = Request::builder()
                .method(Method::POST)
                .uri(origin.url("/"))
                .body(body)
                .unwrap();
            tasks.spawn(client.execute(request));
        }
        while let Some(response) = tasks.join_next().await {
            assert_eq!(response.unwrap().unwrap().status(), 200);
        }
        assert_eq!(origin.sockets(), 1);
    });
}

#[test]
fn it_works_on_many_threads_too() {
    peer::block_on(async {
        let origin = meeting(Speaks::Tls, 100, 100);
        let client = origin.client().connections(4).build().unwrap();
        let mut tasks = JoinSet::new();
        let (client, origin) = (Arc::new(client), Arc::new(origin));
        for _ in 0..4 {
            let (client, origin) = (Arc::clone(&client), Arc::clone(&origin));
            tasks.spawn(async move { burst(&client, &origin, 250).await });
        }
        while let Some(count) = tasks.join_next().await {
            assert_eq!(count.unwrap(), 250);
        }
        assert!(origin.sockets() <= 4);
        assert_eq!(origin.seen.requests(), 1000);
    });
}
