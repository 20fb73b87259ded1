//! Unread bodies beside one that is read, over QUIC on real sockets.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3::Origin;
use crate::support::origin::run;
use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::task::JoinSet;
use trunkline::client::{Client, Protocols};
use trunkline::core::limits::QUIC_STREAM_WINDOW_BYTES_MIN;
use trunkline::{Body, Limits, Windows};

const MIB: u32 = 1 << 20;
/// More bodies than fill a connection of 8 MiB, and far fewer than the streams that it may have.
const UNREAD_MAX: usize = 64;
/// Many times its share of the connection's window, which with all of its budget is 48 MiB.
const FAST_BYTES: usize = 16 << 20;

/// A server whose bodies never end.
fn endless() -> Origin {
    let piece = Bytes::from(vec![0; 64 * 1024]);
    Origin::start(Limits::default(), move |_| {
        let (mut sender, body) = Body::channel();
        let piece = piece.clone();
        tokio::spawn(async move { while sender.send(piece.clone()).await.is_ok() {} });
        async { Response::new(body) }
    })
}

async fn begins(client: &Client, origin: &Origin) -> Body {
    let response = client.get(origin.url("/")).send().await.unwrap();
    response.into_body()
}

async fn reads(body: &mut Body) {
    let mut read = 0;
    while read < FAST_BYTES {
        let frame = body.frame().await.unwrap().unwrap();
        read += frame.into_data().unwrap().len();
    }
}

#[test]
fn a_request_behind_bodies_that_nobody_reads_goes_over_another_connection() {
    run(async {
        let origin = endless();
        // Equal on every machine: how wide streams are by default depends on how far the server
        // seems, and few of the widest take the whole budget.
        let windows = Windows::auto()
            .with_stream_initial(MIB)
            .with_stream_max(MIB)
            .with_connection(4 * MIB)
            .with_memory_budget(8 << 20);
        let client = origin.client().windows(windows).build().unwrap();
        let mut unread = JoinSet::new();
        // Twice four fill the window of a connection, in a while, or more where streams are narrower;
        // who asks behind them waits for another.
        let waits = || client.stats().first().is_some_and(|it| it.waiting > 0);
        while origin.running.metrics().quic_connections < 2 {
            assert!(unread.len() < UNREAD_MAX, "nothing is held back");
            if !waits() {
                let (client, url) = (client.clone(), origin.url("/"));
                unread.spawn(async move { client.get(url).send().await.unwrap().into_body() });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        reads(&mut begins(&client, &origin).await).await;
    });
}

/// A body that is read, on a connection whose client knows a short path. A busy machine takes its
/// time: then the path looks like a longer one, and another client looks again.
async fn begins_near(origin: &Origin) -> (Client, Body) {
    loop {
        let client = origin.any_client().protocols(Protocols::All);
        let client = client.build().unwrap();
        // Over TCP, which tells that there is HTTP/3 and shows how near the server is.
        drop(begins(&client, origin).await);
        let body = begins(&client, origin).await;
        let window = body.window().unwrap().receive_window().await.unwrap();
        if window.window == QUIC_STREAM_WINDOW_BYTES_MIN {
            return (client, body);
        }
    }
}

#[test]
fn a_hundred_bodies_that_nobody_reads_leave_its_way_to_one_that_is_read_on_the_same_connection() {
    run(async {
        let origin = endless();
        let (client, mut fast) = begins_near(&origin).await;
        let before = origin.running.metrics().quic_connections;
        let mut unread = Vec::new();
        for _ in 0..100 {
            unread.push(begins(&client, &origin).await);
        }
        reads(&mut fast).await;
        let connections = origin.running.metrics().quic_connections;
        assert_eq!(connections, before, "all of them were on one");
    });
}
