//! Many requests at once, some of them given up at every stage: whatever is given up, the others
//! are answered, and nothing is left behind.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::{Origin, Speaks};
use crate::support::peer;
use http::Response;
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use trunkline::Body;
use trunkline::client::Client;

/// How a request ends on the user's side.
#[derive(Clone, Copy, Debug)]
enum End {
    ReadWhole,
    /// The future is dropped after this many turns of the runtime.
    DroppedAfter(u32),
    /// The body is dropped when its first piece has come.
    BodyDropped,
}

async fn play(client: &Client, url: String, end: End, upload: bool) -> bool {
    let mut request = client.post(url);
    let mut held = None;
    if upload {
        let (mut sender, body) = Body::channel();
        request = request.body(body);
        held = Some(tokio::spawn(async move {
            for _ in 0..8 {
                // The exchange may be given up meanwhile.
                if sender.send(vec![1; 20_000]).await.is_err() {
                    return;
                }
            }
            sender.finish();
        }));
    }
    let response = request.send();
    let answered = match end {
        End::ReadWhole => {
            let body = response.await.unwrap().into_body().collect().await;
            assert_eq!(body.unwrap().to_bytes().len(), 100_000);
            true
        }
        End::DroppedAfter(polls) => {
            let yields = async {
                for _ in 0..polls {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                _ = response => {}
                () = yields => {}
            }
            false
        }
        End::BodyDropped => {
            let mut body = response.await.unwrap().into_body();
            body.frame().await.unwrap().unwrap();
            false
        }
    };
    if let Some(upload) = held {
        upload.await.unwrap();
    }
    answered
}

fn storm(speaks: Speaks, connections: u32) {
    peer::block_on(async {
        let origin = Origin::start(speaks, 50, |request| async {
            let _ = request.into_body().collect().await;
            Response::new(Body::full(vec![7; 100_000]))
        });
        let client = origin.client().connections(connections).build().unwrap();
        let (client, origin) = (Arc::new(client), Arc::new(origin));
        let mut tasks = JoinSet::new();
        for at in 0..2000u32 {
            let (client, url) = (Arc::clone(&client), origin.url("/"));
            let end = match at % 4 {
                0 => End::DroppedAfter(at % 97),
                1 => End::BodyDropped,
                _ => End::ReadWhole,
            };
            tasks.spawn(async move { play(&client, url, end, at % 3 == 0).await });
        }
        let mut answered = 0;
        let all = async {
            while let Some(outcome) = tasks.join_next().await {
                answered += u32::from(outcome.unwrap());
            }
            // Resets of the last ones may still be on their way to their connections.
            while client.stats()[0].active > 0 {
                tokio::task::yield_now().await;
            }
        };
        let patience = Duration::from_secs(60);
        let in_time = tokio::time::timeout(patience, all).await;
        assert!(in_time.is_ok(), "stuck: {:?}", client.stats());
        assert_eq!(answered, 1000);
        let stats = &client.stats()[0];
        assert_eq!((stats.waiting, stats.attempts), (0, 0));
        assert!(stats.connections <= connections);
    });
}

#[test]
fn a_storm_of_given_up_requests_leaves_nothing_behind_on_h2() {
    storm(Speaks::Tls, 4);
}

#[test]
fn a_storm_of_given_up_requests_leaves_nothing_behind_on_h1() {
    storm(Speaks::Plain, 16);
}
