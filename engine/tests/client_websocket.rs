//! WebSockets of our client with tokio-tungstenite, to axum's extractor on our server, on every version.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::{ports, ready};
use axum::Router;
use axum::extract::ws::{Message as AxumMessage, WebSocket, WebSocketUpgrade};
use axum::routing::{any, get};
use futures_util::{SinkExt, StreamExt};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use trunkline::client::{ClientTls, Protocols};
use trunkline::{Client, ErrorKind, StatusCode, Tls, Version, serve};

fn run(test: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

/// Sends every message back until the client closes.
async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, AxumMessage::Close(_)) || socket.send(message).await.is_err() {
            return;
        }
    }
}

/// A server of every version under TLS; its address, and a client builder that trusts it.
async fn secure() -> (SocketAddr, ClientTls) {
    let upgrade = async |upgrade: WebSocketUpgrade| upgrade.protocols(["b"]).on_upgrade(echo);
    let router = Router::new()
        .route("/", any(upgrade))
        .route("/page", get(async || "a page"));
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let listener = ports::listener().await;
    let address = listener.local_addr().unwrap();
    let server = serve(listener, router).tls(tls).http3(true);
    tokio::spawn(server.into_future());
    let trusting = || ClientTls::new().root(root.clone()).only_given_roots();
    ready::answers(address, trusting()).await;
    (address, trusting())
}

async fn talks(protocols: Protocols, version: Version, status: StatusCode) {
    let (address, tls) = secure().await;
    let builder = Client::builder().protocols(protocols).tls(tls);
    let client = builder.resolve("localhost", address).build().unwrap();
    let url = format!("wss://localhost:{}/", address.port());
    let request = client.websocket(&url).subprotocols(&["a", "b"]);
    let response = request.connect().await.unwrap();
    assert_eq!((response.version(), response.status()), (version, status));
    assert_eq!(response.headers()["sec-websocket-protocol"], "b");
    let bytes = response.into_body();
    let mut socket = WebSocketStream::from_raw_socket(bytes, Role::Client, None).await;
    for message in [
        Message::text("hello"),
        Message::binary(vec![0, 1, 2]),
        Message::text("x".repeat(300_000)),
    ] {
        socket.send(message.clone()).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), message);
    }
    socket.close(None).await.unwrap();
    while let Some(Ok(message)) = socket.next().await {
        assert!(message.is_close(), "{message:?}");
    }

    let page = client.websocket(format!("{url}page")).connect().await;
    let error = page.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Status(_)), "{error:?}");
}

#[test]
fn a_websocket_opens_by_an_upgrade_of_http_1_1() {
    let switched = StatusCode::SWITCHING_PROTOCOLS;
    run(talks(Protocols::H2AndH1, Version::HTTP_11, switched));
}

#[test]
fn a_websocket_opens_on_a_stream_of_http_2() {
    run(talks(Protocols::H2Only, Version::HTTP_2, StatusCode::OK));
}

#[test]
fn a_websocket_opens_on_a_stream_of_http_3() {
    run(talks(Protocols::H3Only, Version::HTTP_3, StatusCode::OK));
}

/// It waits for the server's SETTINGS: until then the connection that is to carry nothing else must not end.
#[test]
fn a_websocket_may_be_the_only_request_of_its_connection() {
    run(async {
        let (address, tls) = secure().await;
        let builder = Client::builder().protocols(Protocols::H2Only);
        let builder = builder.tls(tls).resolve("localhost", address);
        let client = builder.requests_per_connection(Some(1)).build().unwrap();
        let url = format!("wss://localhost:{}/", address.port());
        for _ in 0..3 {
            let response = client.websocket(&url).connect().await.unwrap();
            assert_eq!(response.version(), Version::HTTP_2);
        }
    });
}

/// RFC 6455 section 4.1: an HTTP proxy is asked for a tunnel; one that forwards drops the upgrade.
#[test]
fn a_websocket_without_tls_goes_through_a_tunnel_of_an_http_proxy() {
    run(async {
        let router =
            Router::new().route("/", any(async |up: WebSocketUpgrade| up.on_upgrade(echo)));
        let listener = ports::listener().await;
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, router).into_future());
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy_url = format!("http://{}", proxy.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut client, _) = proxy.accept().await.unwrap();
            let request = received_head(&mut client).await;
            let asked = format!("CONNECT {address} HTTP/1.1\r\n");
            assert!(request.starts_with(&asked), "{request}");
            let mut server = TcpStream::connect(address).await.unwrap();
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            copy_bidirectional(&mut client, &mut server).await.unwrap();
        });
        let client = Client::builder().proxy(&proxy_url).build().unwrap();
        let opened = client.websocket(format!("ws://{address}/")).connect().await;
        let bytes = opened.unwrap().into_body();
        let mut socket = WebSocketStream::from_raw_socket(bytes, Role::Client, None).await;
        socket.send(Message::text("hello")).await.unwrap();
        assert_eq!(
            socket.next().await.unwrap().unwrap(),
            Message::text("hello")
        );
    });
}

/// A server that agrees to a WebSocket with `fields` beside those that it needs.
async fn agreeing(fields: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let request = received_head(&mut socket).await;
        let key = request.split("sec-websocket-key: ").nth(1).unwrap();
        let accept = derive_accept_key(key.split("\r\n").next().unwrap().as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-accept: {accept}\r\n{fields}\r\n"
        );
        socket.write_all(answer.as_bytes()).await.unwrap();
        // The client leaves.
        let _ = socket.read_to_end(&mut Vec::new()).await;
    });
    address
}

/// RFC 6455 section 4.1, items 5 and 6.
#[test]
fn a_subprotocol_or_an_extension_that_was_not_offered_opens_no_websocket() {
    run(async {
        let client = Client::new();
        for (fields, wrong) in [
            ("", None),
            ("sec-websocket-protocol: b\r\n", None),
            (
                "sec-websocket-protocol: c\r\n",
                Some("sec-websocket-protocol"),
            ),
            (
                "sec-websocket-protocol: a, b\r\n",
                Some("sec-websocket-protocol"),
            ),
            (
                "sec-websocket-extensions: permessage-deflate\r\n",
                Some("sec-websocket-extensions"),
            ),
        ] {
            let url = format!("WS://{}/", agreeing(fields).await);
            let opened = client
                .websocket(url)
                .subprotocols(&["a", "b"])
                .connect()
                .await;
            match (opened, wrong) {
                (Ok(_), None) => {}
                (Err(error), Some(wrong)) if error.to_string().contains(wrong) => {}
                (outcome, _) => panic!("{fields} {outcome:?}"),
            }
        }
        let url = format!(
            "ws://{}/",
            agreeing("sec-websocket-extensions: x-mine\r\n").await
        );
        let offering = client
            .websocket(url)
            .header("sec-websocket-extensions", "x-mine");
        offering.connect().await.unwrap();
    });
}

async fn received_head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        assert_ne!(socket.read_buf(&mut head).await.unwrap(), 0);
    }
    String::from_utf8(head).unwrap()
}

#[test]
fn an_upgrade_without_the_accept_of_its_key_opens_no_websocket() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let request = received_head(&mut socket).await;
            let answer = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n\
                          upgrade: websocket\r\nsec-websocket-accept: wrong\r\n\r\n";
            socket.write_all(answer.as_bytes()).await.unwrap();
            // The client leaves.
            let _ = socket.read_to_end(&mut Vec::new()).await;
            request
        });
        let client = Client::builder().user_agent("a/1").build().unwrap();
        let request = client.websocket(format!("ws://{address}/chat?a=b"));
        let error = request.header("x-number", 7).connect().await.unwrap_err();
        assert!(
            error.to_string().contains("sec-websocket-accept"),
            "{error}"
        );
        let request = server.await.unwrap();
        assert!(
            request.starts_with("GET /chat?a=b HTTP/1.1\r\n"),
            "{request}"
        );
        for field in [
            "x-number: 7",
            "user-agent: a/1",
            "sec-websocket-version: 13",
        ] {
            assert!(request.contains(&format!("\r\n{field}\r\n")), "{request}");
        }
    });
}

#[test]
fn the_total_time_of_a_websocket_ends_it_on_every_version() {
    run(async {
        let total = Duration::from_millis(700);
        for protocols in [Protocols::H2AndH1, Protocols::H2Only, Protocols::H3Only] {
            let (address, tls) = secure().await;
            let builder = Client::builder().protocols(protocols).tls(tls);
            let builder = builder.resolve("localhost", address).timeout(total);
            let client = builder.build().unwrap();
            let url = format!("wss://localhost:{}/", address.port());
            let opened = client.websocket(&url).connect().await;
            let error = match opened {
                Ok(response) => {
                    let mut bytes = response.into_body();
                    let read = bytes.read_u8();
                    // Without an end of its time it is silent for ever.
                    let read = tokio::time::timeout(Duration::from_secs(60), read).await;
                    let error = read.expect("the WebSocket goes on").unwrap_err();
                    let error = error.into_inner().unwrap();
                    *error.downcast::<trunkline::Error>().unwrap()
                }
                // A machine that is busy may take as long for the handshake.
                Err(error) => error,
            };
            assert_eq!(error.kind(), ErrorKind::Timeout, "{protocols:?} {error:?}");
        }
    });
}
