//! Tunnels whose user drops them: what was written before leaves, for a peer which does not read at first.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::{ports, ready};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use axum::routing::any;
use http::StatusCode;
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use trunkline::client::{ClientTls, Protocols, WebSocketBytes};
use trunkline::{Body, Client, Tls, serve};

/// Bytes of one write.
const PIECE: [u8; 16 * 1024] = [b'x'; 16 * 1024];
/// How long a write that waits for its peer is waited for: it takes no more then.
const FULL_AFTER: Duration = Duration::from_millis(300);
/// The longest of any wait: a test that fails does so by its assertion.
const LONG: Duration = Duration::from_secs(120);

fn run(test: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { timeout(LONG, test).await.unwrap() });
}

/// Writes until the stream takes no more; the bytes for which a write, and a flush where `flushes`, returned.
async fn fill(to: &mut (impl AsyncWrite + Unpin), flushes: bool) -> usize {
    let mut taken = 0;
    loop {
        match timeout(FULL_AFTER, to.write(&PIECE)).await {
            Ok(written) => taken += written.unwrap(),
            Err(_) => return taken,
        }
        if flushes && timeout(FULL_AFTER, to.flush()).await.is_err() {
            // The last piece may not have gone.
            return taken - PIECE.len();
        }
    }
}

async fn received_head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        assert_ne!(socket.read_buf(&mut head).await.unwrap(), 0);
    }
    String::from_utf8(head).unwrap()
}

/// A WebSocket of a client in cleartext; its server sends `bytes` and reads to the end once the test says so, and gives
/// how much came.
async fn over_tcp(bytes: usize) -> (WebSocketBytes, oneshot::Sender<()>, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let (begin, begins) = oneshot::channel();
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let request = received_head(&mut socket).await;
        let key = request.split("sec-websocket-key: ").nth(1).unwrap();
        let accept = derive_accept_key(key.split("\r\n").next().unwrap().as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-accept: {accept}\r\n\r\n"
        );
        socket.write_all(answer.as_bytes()).await.unwrap();
        begins.await.unwrap();
        socket.write_all(&vec![b'y'; bytes]).await.unwrap();
        let mut received = Vec::new();
        socket.read_to_end(&mut received).await.unwrap();
        received.len()
    });
    let opened = Client::new().websocket(url).connect().await;
    (opened.unwrap().into_body(), begin, server)
}

/// A WebSocket that is dropped when it takes no more: the bytes taken, and those that came.
async fn dropped_when_full(flushes: bool, server_sends: usize) -> (usize, usize) {
    let (mut bytes, begin, server) = over_tcp(server_sends).await;
    let taken = fill(&mut bytes, flushes).await;
    drop(bytes);
    begin.send(()).unwrap();
    (taken, server.await.unwrap())
}

#[test]
fn a_writer_goes_on_when_a_server_that_did_not_read_begins_to() {
    run(async {
        let (mut bytes, begin, server) = over_tcp(0).await;
        let taken = fill(&mut bytes, false).await;
        begin.send(()).unwrap();
        for _ in 0..64 {
            bytes.write_all(&PIECE).await.unwrap();
        }
        bytes.shutdown().await.unwrap();
        assert_eq!(server.await.unwrap(), taken + 64 * PIECE.len());
    });
}

#[test]
fn what_a_client_flushed_to_a_websocket_arrives_although_it_is_dropped() {
    run(async {
        let (flushed, received) = dropped_when_full(true, 0).await;
        assert!(received >= flushed, "{received} of {flushed}");
    });
}

#[test]
fn what_a_client_wrote_to_a_websocket_arrives_although_it_is_dropped_without_a_flush() {
    run(async {
        let (written, received) = dropped_when_full(false, 0).await;
        assert_eq!(received, written);
    });
}

#[test]
fn what_the_server_of_a_dropped_websocket_sends_does_not_cost_what_was_written() {
    run(async {
        let (written, received) = dropped_when_full(false, PIECE.len()).await;
        assert_eq!(received, written);
    });
}

/// When a handler is to read, and where it reports how much came.
type Ask = Arc<Mutex<Option<(oneshot::Receiver<()>, oneshot::Sender<usize>)>>>;

/// Opens a WebSocket, reads nothing of its bytes before the test says so, and reports how many came.
async fn reads_late(State(ask): State<Ask>, mut request: Request) -> impl IntoResponse {
    let (start, report) = ask.lock().unwrap().take().unwrap();
    let upgrade = hyper::upgrade::on(&mut request);
    let key = request.headers().get("sec-websocket-key").cloned();
    tokio::spawn(async move {
        let mut bytes = TokioIo::new(upgrade.await.unwrap());
        start.await.unwrap();
        let mut received = Vec::new();
        // An end that is none in order leaves what came before it.
        let _ = bytes.read_to_end(&mut received).await;
        report.send(received.len()).unwrap();
    });
    let answer = http::Response::builder();
    match key {
        None => answer.status(StatusCode::OK),
        Some(key) => answer
            .status(StatusCode::SWITCHING_PROTOCOLS)
            .header("connection", "upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-accept", derive_accept_key(key.as_bytes())),
    }
    .body(axum::body::Body::empty())
    .unwrap()
}

/// A client's WebSocket under TLS, dropped when it takes no more: all that was written comes.
async fn client_under_tls(protocols: Protocols) {
    let (begin, start) = oneshot::channel();
    let (report, reported) = oneshot::channel();
    let ask: Ask = Arc::new(Mutex::new(Some((start, report))));
    let router = Router::new().route("/", any(reads_late)).with_state(ask);
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let listener = ports::listener().await;
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, router).tls(tls).http3(true).into_future());
    let trusting = || ClientTls::new().root(root.clone()).only_given_roots();
    ready::answers(address, trusting()).await;
    let builder = Client::builder().protocols(protocols).tls(trusting());
    let client = builder.resolve("localhost", address).build().unwrap();
    let url = format!("wss://localhost:{}/", address.port());
    let mut bytes = client.websocket(&url).connect().await.unwrap().into_body();
    let written = fill(&mut bytes, false).await;
    drop((bytes, client));
    begin.send(()).unwrap();
    assert_eq!(reported.await.unwrap(), written, "{protocols:?}");
}

#[test]
fn what_a_client_wrote_to_a_websocket_under_tls_arrives_although_it_is_dropped() {
    run(client_under_tls(Protocols::H2AndH1));
}

#[test]
fn what_a_client_wrote_to_a_websocket_over_http_2_arrives_although_it_is_dropped() {
    run(client_under_tls(Protocols::H2Only));
}

#[test]
fn what_a_client_wrote_to_a_websocket_over_http_3_arrives_although_it_is_dropped() {
    run(client_under_tls(Protocols::H3Only));
}

/// Asks a server for its connection, and reads nothing behind the answer.
async fn ask_for_connection(address: SocketAddr) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: bytes\r\n\r\n";
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.unwrap());
    }
    socket
}

fn switching<B: Default>() -> http::Response<B> {
    http::Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header("connection", "upgrade")
        .header("upgrade", "bytes")
        .body(B::default())
        .unwrap()
}

#[test]
fn what_a_server_wrote_to_an_upgraded_connection_arrives_although_it_is_dropped_without_a_flush() {
    run(async {
        let (report, reported) = oneshot::channel();
        let report = Arc::new(Mutex::new(Some(report)));
        let service = trunkline::service_fn(move |mut request: http::Request<Body>| {
            let upgrade = trunkline::upgrade::on(&mut request);
            let report = report.lock().unwrap().take().unwrap();
            async move {
                tokio::task::spawn_local(async move {
                    let mut tunnel = upgrade.await.unwrap();
                    let written = fill(&mut tunnel, false).await;
                    drop(tunnel);
                    report.send(written).unwrap();
                });
                Ok::<_, std::convert::Infallible>(switching::<Body>())
            }
        });
        let running = trunkline::Server::bind("127.0.0.1:0")
            .serve(service)
            .unwrap();
        let mut socket = ask_for_connection(running.local_addr()).await;
        let written = reported.await.unwrap();
        let mut received = Vec::new();
        socket.read_to_end(&mut received).await.unwrap();
        assert_eq!(received.len(), written);
    });
}

#[test]
fn what_a_handler_wrote_to_hypers_upgrade_arrives_although_it_is_dropped_and_its_client_writes() {
    run(async {
        let (report, reported) = oneshot::channel();
        let report = Arc::new(Mutex::new(Some(report)));
        let handler = async move |mut request: Request| {
            let upgrade = hyper::upgrade::on(&mut request);
            let report = report.lock().unwrap().take().unwrap();
            tokio::spawn(async move {
                let mut tunnel = TokioIo::new(upgrade.await.unwrap());
                let written = fill(&mut tunnel, false).await;
                drop(tunnel);
                report.send(written).unwrap();
            });
            switching::<axum::body::Body>()
        };
        let listener = ports::listener().await;
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", any(handler));
        tokio::spawn(serve(listener, router).into_future());
        let mut socket = ask_for_connection(address).await;
        let written = reported.await.unwrap();
        // The handler is gone: these are dropped.
        socket.write_all(&PIECE).await.unwrap();
        let mut received = Vec::new();
        socket.read_to_end(&mut received).await.unwrap();
        assert_eq!(received.len(), written);
    });
}
