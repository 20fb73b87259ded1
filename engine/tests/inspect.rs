//! Servers and clients that list their connections, with the reason why each exchange waits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer::{Peer, block_on, service};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use rustls::pki_types::CertificateDer;
use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use trunkline::client::{Client, ClientSnapshot, ClientTls, Protocols, WaitReason};
use trunkline::core::http::Version;
use trunkline::core::inspect::{StreamSnapshot, StreamWait};
use trunkline::server::{
    ConnectionStage, InspectLimits, Inspector, ServerConnection, ServerSnapshot,
};
use trunkline::{Body, Running, Server, ServerConfig, Tls};

/// Bytes of a piece, and pieces: more than any window and socket lets out.
const PIECE: usize = 64 << 10;
const PIECES: usize = 1 << 10;

/// `/never`: no response; `/large`: one of many pieces; `/whole`: as long, in one.
async fn answer(request: Request<Body>) -> Response<Body> {
    match request.uri().path() {
        "/never" => pending().await,
        "/large" => {
            let piece = || Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b'x'; PIECE])));
            let pieces = futures_util::stream::iter((0..PIECES).map(move |_| piece()));
            Response::new(Body::wrap(StreamBody::new(pieces)))
        }
        "/whole" => Response::new(Body::full(vec![b'x'; PIECE * PIECES])),
        _ => Response::new(Body::full("answer")),
    }
}

/// Reads until `expected` holds.
async fn until(
    inspector: &Inspector,
    expected: impl Fn(&ServerSnapshot) -> bool,
) -> ServerSnapshot {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let server = inspector.inspect(InspectLimits::default()).await;
        // A worker or a connection that a busy machine has kept waiting shows no stream.
        let has_shown =
            |it: &ServerConnection| it.stage != ConnectionStage::Serving || it.snapshot.is_some();
        let is_whole = server.silent_workers == 0 && server.connections.iter().all(has_shown);
        if is_whole && expected(&server) {
            return server;
        }
        assert!(Instant::now() < end, "{server:#?}");
    }
}

async fn until_client(
    client: &Client,
    expected: impl Fn(&ClientSnapshot) -> bool,
) -> ClientSnapshot {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let seen = client.inspect(InspectLimits::default()).await;
        if expected(&seen) {
            return seen;
        }
        assert!(Instant::now() < end, "{seen:#?}");
    }
}

fn streams(server: &ServerSnapshot) -> Vec<&StreamSnapshot> {
    let snapshots = server
        .connections
        .iter()
        .filter_map(|it| it.snapshot.as_ref());
    snapshots.flat_map(|it| &it.streams).collect()
}

fn waits(server: &ServerSnapshot) -> Vec<StreamWait> {
    let streams = streams(server);
    streams.iter().filter_map(|stream| stream.wait()).collect()
}

struct Served {
    running: Running,
    root: CertificateDer<'static>,
}

impl Served {
    fn start() -> Self {
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let server = Server::bind("127.0.0.1:0").tls(tls).http3(true).workers(1);
        // A client of HTTP/1.1 that ends its side is not waited for: it would be for half a minute.
        let mut config = ServerConfig::default();
        config.timeouts.half_closed = Some(Duration::ZERO);
        let server = server.config(config);
        let running = server.keep_targets(true).serve(service(answer)).unwrap();
        Self { running, root }
    }
    fn address(&self) -> SocketAddr {
        self.running.local_addr()
    }
    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address().port())
    }
    fn client(&self, protocols: Protocols) -> Client {
        Client::builder()
            .protocols(protocols)
            .connections(1)
            .resolve("localhost", [self.address()])
            .tls(ClientTls::new().root(self.root.clone()).only_given_roots())
            .build()
            .unwrap()
    }
}

const VERSIONS: [(Protocols, Version); 3] = [
    (Protocols::H1Only, Version::Http11),
    (Protocols::H2Only, Version::Http2),
    (Protocols::H3Only, Version::Http3),
];

#[test]
fn an_exchange_without_an_answer_waits_for_its_handler_and_for_the_response_at_the_client() {
    let served = Served::start();
    block_on(async {
        for (protocols, version) in VERSIONS {
            let client = served.client(protocols);
            let call = tokio::spawn(client.get(served.url("/never?a=<b>")).send());
            let inspector = served.running.inspector();
            // A look between the arrival of the head and the call of the handler has no target yet.
            let is_called = |it: &ServerSnapshot| {
                waits(it) == [StreamWait::Handler] && streams(it)[0].target.is_some()
            };
            let server = until(&inspector, is_called).await;
            let stream = streams(&server)[0];
            assert_eq!(stream.method, "GET");
            assert_eq!(stream.target.as_deref(), Some("/never?a=%3Cb%3E"));
            // The connection of the version before may not have ended yet.
            let mut connections = server.connections.iter();
            let connection = connections.find(|it| {
                it.snapshot
                    .as_ref()
                    .is_some_and(|it| !it.streams.is_empty())
            });
            let connection = connection.unwrap();
            assert_eq!(connection.stage, ConnectionStage::Serving);
            assert!(connection.peer.unwrap().ip().is_loopback());
            assert_eq!(connection.snapshot.as_ref().unwrap().version, version);
            assert_eq!((server.workers, server.silent_workers), (1, 0));

            let waiting = |it: &ClientSnapshot| {
                let connections = it.connections.iter();
                let mut streams =
                    connections.filter_map(|it| it.snapshot.as_ref()?.streams.first());
                streams.next().and_then(StreamSnapshot::wait) == Some(StreamWait::Response)
            };
            let seen = until_client(&client, waiting).await;
            let connection = &seen.connections[0];
            assert_eq!(&*connection.origin.host, "localhost");
            let stream = &connection.snapshot.as_ref().unwrap().streams[0];
            assert_eq!(stream.target.as_deref(), Some("/never?a=%3Cb%3E"));
            call.abort();
            let _ = call.await;
            drop(client);
            until(&inspector, |it| streams(it).is_empty()).await;
        }
    });
}

#[test]
fn a_response_that_its_client_does_not_read_waits_for_a_window_or_for_the_transport() {
    let served = Served::start();
    block_on(async {
        for (protocols, version) in VERSIONS {
            let client = served.client(protocols);
            let response = client.get(served.url("/large")).send().await.unwrap();
            let wait = match version {
                Version::Http2 => StreamWait::StreamWindow,
                _ => StreamWait::Transport,
            };
            let inspector = served.running.inspector();
            let server = until(&inspector, |it| waits(it) == [wait]).await;
            let stream = streams(&server)[0];
            assert!(stream.unsent_bytes > 0 && stream.sent_bytes < (PIECE * PIECES) as u64);
            let unread = |it: &ClientSnapshot| {
                let mut snapshots = it.connections.iter().filter_map(|it| it.snapshot.as_ref());
                snapshots.any(|it| it.streams.iter().any(|it| it.unread_bytes > 0))
            };
            let seen = until_client(&client, unread).await;
            let stream = &seen.connections[0].snapshot.as_ref().unwrap().streams[0];
            assert_eq!(stream.wait(), Some(StreamWait::Reader));
            drop(response);
            drop(client);
            until(&inspector, |it| streams(it).is_empty()).await;
        }
    });
}

#[test]
fn a_whole_response_of_http_1_that_is_not_taken_is_the_wait_of_its_connection() {
    let server = Server::bind("127.0.0.1:0").workers(1);
    let running = server.serve(service(answer)).unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET /whole HTTP/1.1\r\nhost: a\r\n\r\n");
    block_on(async {
        let held = |it: &ServerSnapshot| {
            let mut snapshots = it.connections.iter().filter_map(|it| it.snapshot.as_ref());
            snapshots.any(|it| it.wait() == Some(StreamWait::Transport) && it.streams.is_empty())
        };
        until(&running.inspector(), held).await;
    });
    drop(peer);
}

#[test]
fn lists_are_bounded_and_say_how_much_they_leave_out() {
    let server = Server::bind("127.0.0.1:0").workers(1);
    let running = server.serve(service(answer)).unwrap();
    let mut peers: Vec<_> = (0..3)
        .map(|_| Peer::connect(running.local_addr()))
        .collect();
    for peer in &mut peers {
        peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        peer.receives_until("answer");
    }
    peers[2].sends("GET /never HTTP/1.1\r\nhost: a\r\n\r\n");
    block_on(async {
        let inspector = running.inspector();
        until(&inspector, |it| waits(it) == [StreamWait::Handler]).await;
        let limits = InspectLimits::default().with_connections_max(1);
        let one = inspector.inspect(limits).await;
        assert_eq!((one.connections.len(), one.unlisted), (1, 2));
        assert_eq!(
            waits(&one),
            [StreamWait::Handler],
            "those with exchanges first"
        );
        let none = inspector.inspect(limits.with_streams_max(0)).await;
        let snapshot = none.connections[0].snapshot.as_ref().unwrap();
        assert_eq!((snapshot.streams.len(), snapshot.unlisted), (0, 1));
    });
}

#[test]
fn a_worker_whose_thread_a_handler_blocks_is_named_as_silent() {
    let barrier = Arc::new(Barrier::new(2));
    let blocks = Arc::clone(&barrier);
    let server = Server::bind("127.0.0.1:0").workers(1);
    let running = server
        .serve(service(move |_: Request<Body>| {
            let blocks = Arc::clone(&blocks);
            async move {
                // Once to say that it blocks, and until the test has seen it.
                blocks.wait();
                blocks.wait();
                Response::new(Body::full("answer"))
            }
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    barrier.wait();
    let inspector = running.inspector();
    let server = block_on(inspector.inspect(InspectLimits::default()));
    assert_eq!((server.workers, server.silent_workers), (1, 1));
    barrier.wait();
    peer.receives_until("answer");
    drop(running);
    let server = block_on(inspector.inspect(InspectLimits::default()));
    assert_eq!(server.silent_workers, 1, "it has ended");
}

#[test]
fn a_server_that_drains_lists_what_is_still_open() {
    let server = Server::bind("127.0.0.1:0").workers(1);
    let running = server.serve(service(answer)).unwrap();
    let inspector = running.inspector();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET /never HTTP/1.1\r\nhost: a\r\n\r\n");
    block_on(async {
        until(&inspector, |it| waits(it) == [StreamWait::Handler]).await;
        let drained = tokio::spawn(running.drain(Duration::from_secs(600)));
        // The server drains before its worker has said so to the connection.
        let drains = |it: &ServerSnapshot| {
            let mut snapshots = it.connections.iter().filter_map(|it| it.snapshot.as_ref());
            it.is_draining && snapshots.any(|it| it.is_draining && !it.streams.is_empty())
        };
        until(&inspector, drains).await;
        drop(peer);
        drained.abort();
    });
}

#[test]
fn a_request_in_line_is_listed_with_the_reason_of_its_wait() {
    let served = Served::start();
    block_on(async {
        let client = served.client(Protocols::H1Only);
        let calls: Vec<_> = (0..3)
            .map(|_| tokio::spawn(client.get(served.url("/never")).send()))
            .collect();
        let in_line = |it: &ClientSnapshot| {
            let waits = it.waits.iter().filter_map(|wait| wait.reason);
            waits.eq([WaitReason::Capacity; 2])
        };
        let seen = until_client(&client, in_line).await;
        assert_eq!((seen.connections.len(), seen.origins.len()), (1, 1));
        let limits = InspectLimits::default().with_connections_max(1);
        let one = client.inspect(limits).await;
        assert_eq!((one.waits.len(), one.unlisted_waits), (1, 1));
        for call in calls {
            call.abort();
        }
    });
}
