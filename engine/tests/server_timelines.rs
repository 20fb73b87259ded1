//! Timelines of requests that failed or were slow, as their server saw them.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer::service;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::server::InspectLimits;
use trunkline::{Body, Running, Server, ServerConfig, Tls};
use trunkline_core::inspect::StreamWait;

const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];
/// No request of these tests takes so long.
const NEVER: Duration = Duration::from_secs(24 * 60 * 60);
/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);
const PIECE: usize = 64 << 10;

/// A client of HTTP/1.1 that ends its side is not waited for: it would be for half a minute.
fn gone_at_once() -> ServerConfig {
    let mut config = ServerConfig::default();
    config.timeouts.half_closed = Some(Duration::ZERO);
    config
}

/// A server whose `/never` has no answer, whose `/endless` has one without an end, and whose `/failed` has 500.
fn start(slow: Duration, version: Protocols) -> (Running, Client, String) {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let answer = |request: Request<Body>| async move {
        match request.uri().path() {
            "/never" => std::future::pending().await,
            "/endless" => {
                let pieces = std::iter::repeat_with(|| {
                    Ok::<_, std::io::Error>(bytes::Bytes::from(vec![7; PIECE]))
                });
                Response::new(Body::from_stream(futures_util::stream::iter(pieces)))
            }
            "/failed" => {
                let mut failed = Response::new(Body::empty());
                *failed.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                failed
            }
            _ => Response::new(Body::full("ok")),
        }
    };
    let running = Server::bind("127.0.0.1:0")
        .workers(1)
        .tls(tls)
        .http3(true)
        .keep_timelines(slow)
        .config(gone_at_once())
        .serve(service(answer))
        .unwrap();
    let address: SocketAddr = ([127, 0, 0, 1], 0).into();
    let tls = ClientTls::new().root(root).only_given_roots();
    let client = Client::builder().protocols(version).tls(tls);
    let client = client.resolve("localhost", [address]).build().unwrap();
    let url = format!("https://localhost:{}", running.local_addr().port());
    (running, client, url)
}

/// The timeline of the only request that has one, once it has.
async fn timeline(running: &Running) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        let timelines = running.inspector().timelines().unwrap();
        if let [timeline] = timelines.as_slice() {
            assert!(
                timeline
                    .text
                    .contains(&format!(" (timeline {})\n", timeline.id))
            );
            return timeline.text.clone();
        }
        assert!(timelines.is_empty(), "{timelines:?}");
        assert!(Instant::now() < until, "there is no timeline");
        tokio::task::yield_now().await;
    }
}

fn has_in_order(timeline: &str, parts: &[&str]) {
    let mut rest = timeline;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            panic!("{part:?} is not there in order: {timeline}");
        };
        rest = behind;
    }
}

#[test]
fn a_request_that_its_client_gives_up_names_what_it_waited_for() {
    for version in VERSIONS {
        let (running, client, url) = start(NEVER, version);
        Runtime::new().unwrap().block_on(async {
            let asked = client.get(format!("{url}/never?a=b")).send();
            let arrived = async {
                while running
                    .metrics()
                    .versions
                    .iter()
                    .all(|it| it.requests_open == 0)
                {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! { _ = asked => panic!("it has an answer"), () = arrived => {} }
            // A client of HTTP/1.1 has no other way to say so than to close.
            drop(client);
            let timeline = timeline(&running).await;
            let parts = [
                "GET /never?a=b over HTTP/",
                " from 127.0.0.1:",
                " failed after ",
                "the head of the request came\n",
                "waits: the handler has not answered\n",
                "ends: 0 bytes of the response's body had been handed on\n",
            ];
            has_in_order(&timeline, &parts);
        });
    }
}

#[test]
fn a_response_that_is_not_read_names_the_window_or_the_transport_that_holds_it() {
    for (version, held) in [
        (Protocols::H1Only, "the transport takes no bytes now\n"),
        (Protocols::H2Only, "the peer's window of the "),
        (Protocols::H3Only, "waits: "),
    ] {
        let (running, client, url) = start(NEVER, version);
        Runtime::new().unwrap().block_on(async {
            let response = client.get(format!("{url}/endless")).send().await.unwrap();
            let until = Instant::now() + PATIENCE;
            loop {
                let seen = running.inspector().inspect(InspectLimits::default()).await;
                let snapshots = seen
                    .connections
                    .iter()
                    .filter_map(|it| it.snapshot.as_ref());
                let mut waits = snapshots
                    .flat_map(|it| &it.streams)
                    .filter_map(|it| it.sends);
                if waits.any(StreamWait::is_of_bytes) {
                    break;
                }
                assert!(Instant::now() < until, "it does not wait");
            }
            drop((response, client));
            let timeline = timeline(&running).await;
            let parts = [
                "GET /endless over HTTP/",
                " failed after ",
                "answered with 200\n",
                held,
                "ends: ",
            ];
            has_in_order(&timeline, &parts);
        });
    }
}

#[test]
fn requests_have_timelines_that_fail_or_are_slower_than_was_asked_and_no_others() {
    for (slow, expected) in [
        (NEVER, &["GET /failed"][..]),
        (Duration::ZERO, &["GET /quick", "GET /failed"]),
    ] {
        let (running, client, url) = start(slow, Protocols::H2Only);
        Runtime::new().unwrap().block_on(async {
            for path in ["/quick", "/failed"] {
                let response = client.get(format!("{url}{path}")).send().await.unwrap();
                response.into_body().collect().await.unwrap();
            }
        });
        let timelines = running.inspector().timelines().unwrap();
        let begun: Vec<_> = timelines
            .iter()
            .map(|it| it.text.split(" over ").next().unwrap())
            .collect();
        assert_eq!(begun, expected);
        let last = &timelines.last().unwrap().text;
        has_in_order(
            last,
            &[
                " failed after ",
                ": it was answered with 500 (timeline ",
                "answered with 500\n",
            ],
        );
    }
}

#[test]
fn a_server_that_keeps_no_timelines_has_none() {
    let server = Server::bind("127.0.0.1:0");
    let running = server
        .serve(service(|_| async { Response::new(Body::empty()) }))
        .unwrap();
    assert!(running.inspector().timelines().is_none());
}
