//! axum's WebSocket extractor on our server, unchanged, with tokio-tungstenite as the client: over
//! an upgrade of HTTP/1.1, and over an extended CONNECT of HTTP/2 (by hyper, RFC 8441) and of HTTP/3
//! (by aioquic, RFC 9220).

use crate::way::run;
use axum::Router;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::routing::any;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{Method, Request, StatusCode, Version};
use http_body_util::Empty;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use trunkline::{Running, Server, ServerConfig, Tls, upgrade};
use trunkline_interop::{Certificate, QuicStack, Workplace};

/// Sends every message back.
async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if socket.send(message).await.is_err() {
            return;
        }
    }
}

fn serve() -> Running {
    serve_on(|server| server)
}

/// The router on a server as `with` leaves it.
fn serve_on(with: impl FnOnce(Server) -> Server) -> Running {
    let router = Router::new()
        .route(
            "/echo",
            any(async |upgrade: WebSocketUpgrade| upgrade.on_upgrade(echo)),
        )
        .route("/plain", any(async || "plain"));
    let config = ServerConfig::default().with_extended_connect(true);
    let server = Server::bind("127.0.0.1:0").config(config);
    with(server)
        .serve(upgrade::for_hyper(router))
        .expect("a port is free")
}

/// Small, large and binary messages come back, then both sides close.
async fn talks<S: AsyncRead + AsyncWrite + Unpin>(mut socket: WebSocketStream<S>) {
    let large = "x".repeat(300_000);
    for message in [
        Message::text("hello"),
        Message::binary(vec![0, 1, 2]),
        Message::text(large),
    ] {
        socket.send(message.clone()).await.expect("it is sent");
        let back = socket.next().await.expect("an answer").expect("a message");
        assert_eq!(back, message);
    }
    socket.close(None).await.expect("it is open");
    while let Some(Ok(message)) = socket.next().await {
        assert!(message.is_close(), "{message:?}");
    }
}

#[test]
fn axums_websockets_work_over_an_upgrade_of_http_1_1() {
    run(async {
        let running = serve();
        let url = format!("ws://{}/echo", running.local_addr());
        let socket = TcpStream::connect(running.local_addr())
            .await
            .expect("it listens");
        let (socket, response) = tokio_tungstenite::client_async(url, socket)
            .await
            .expect("it switches");
        assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
        talks(socket).await;
    });
}

#[test]
fn axums_websockets_work_over_an_extended_connect_of_http_2() {
    run(async {
        let running = serve();
        let socket = TcpStream::connect(running.local_addr())
            .await
            .expect("it listens");
        let opened =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket));
        let (mut sender, connection) = opened.await.expect("it speaks HTTP/2");
        tokio::spawn(connection);
        let request = |method: Method, path: &str| {
            let uri = format!("http://{}{path}", running.local_addr());
            Request::builder()
                .method(method)
                .version(Version::HTTP_2)
                .uri(uri)
        };
        // The server's SETTINGS, which allow extended CONNECT, come before this answer.
        let plain = request(Method::GET, "/plain")
            .body(Empty::<Bytes>::new())
            .expect("valid");
        let plain = sender.send_request(plain).await.expect("an answer");
        assert_eq!(plain.status(), StatusCode::OK);
        let connect = request(Method::CONNECT, "/echo")
            .extension(hyper::ext::Protocol::from_static("websocket"))
            .header("sec-websocket-version", "13")
            .body(Empty::<Bytes>::new())
            .expect("valid");
        let response = sender.send_request(connect).await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK);
        let tunnel = hyper::upgrade::on(response).await.expect("a tunnel");
        talks(WebSocketStream::from_raw_socket(TokioIo::new(tunnel), Role::Client, None).await)
            .await;
    });
}

#[test]
fn axums_websockets_work_over_an_extended_connect_of_http_3() {
    let stack = QuicStack::Aioquic;
    if !stack.is_installed() {
        return;
    }
    run(async {
        let workplace = Workplace::new().expect("a folder");
        let certificate = Certificate::write(workplace.path()).expect("a certificate");
        let tls = Tls::from_pem_files(&certificate.chain, &certificate.key).expect("PEM");
        let running = serve_on(|server| server.tls(tls).http3(true));
        let client = stack.client(&certificate, running.local_addr().port());
        let mut client = Command::from(client.expect("it is installed"));
        client.arg("websocket").kill_on_drop(true);
        client.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut client = client.spawn().expect("it starts");
        let (to, from) = (client.stdin.take(), client.stdout.take());
        let tunnel = tokio::io::join(from.expect("piped"), to.expect("piped"));
        talks(WebSocketStream::from_raw_socket(tunnel, Role::Client, None).await).await;
        assert!(client.wait().await.expect("it ends").success());
        let metrics = running.metrics();
        assert_eq!((metrics.requests_h3, metrics.violations), (2, vec![]));
    });
}

#[test]
fn a_request_that_asks_for_no_upgrade_is_answered_as_ever() {
    run(async {
        let running = serve();
        let client = trunkline::client::Client::new();
        let plain = client.get(format!("http://{}/plain", running.local_addr()));
        assert_eq!(
            plain.send().await.expect("an answer").status(),
            StatusCode::OK
        );
        // Without the fields of an upgrade the extractor refuses.
        let wrong = client.get(format!("http://{}/echo", running.local_addr()));
        assert!(
            wrong
                .send()
                .await
                .expect("an answer")
                .status()
                .is_client_error()
        );
    });
}
