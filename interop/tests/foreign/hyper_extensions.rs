//! Extensions of hyper at requests and responses of handlers of `serve`.

use crate::way::run;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http::{Method, StatusCode};
use hyper::client::conn::http2;
use hyper::ext::ReasonPhrase;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use trunkline::client::Protocols;
use trunkline::{Client, ResponseExt};

async fn serving(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { trunkline::serve(listener, router).await });
    address
}

/// The bytes that come back for these, which ask for the end of the connection or of a tunnel.
async fn answer(address: SocketAddr, asked: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(asked.as_bytes()).await.unwrap();
    let mut received = String::new();
    socket.read_to_string(&mut received).await.unwrap();
    received
}

/// A handler as a forward proxy has it: answers CONNECT and says what comes through the tunnel with `pong` behind it.
async fn tunnel(mut request: Request) -> Response {
    if request.method() != Method::CONNECT {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let mut tunnel = TokioIo::new(upgrade.await.unwrap());
        let mut asked = [0; 4];
        tunnel.read_exact(&mut asked).await.unwrap();
        tunnel.write_all(&asked).await.unwrap();
        tunnel.write_all(b" pong").await.unwrap();
        tunnel.shutdown().await.unwrap();
    });
    Body::empty().into_response()
}

#[test]
fn a_connect_whose_handler_takes_hypers_upgrade_is_a_tunnel() {
    run(async {
        let address = serving(Router::new().fallback(tunnel)).await;
        let received = answer(
            address,
            "CONNECT a.test:1 HTTP/1.1\r\nhost: a.test:1\r\n\r\nping",
        )
        .await;
        let (head, tunnel) = received.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(!head.contains("content-length"), "{head}");
        assert_eq!(tunnel, "ping pong");
    });
}

#[test]
fn a_connect_over_http_2_whose_handler_takes_hypers_upgrade_is_a_tunnel_beside_other_requests() {
    run(async {
        let address = serving(Router::new().fallback(tunnel)).await;
        let socket = TcpStream::connect(address).await.unwrap();
        let opened = http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await;
        let (mut sender, connection) = opened.unwrap();
        tokio::spawn(connection);
        let request = |method: Method, uri: &str| {
            let request = Request::builder().method(method).uri(uri);
            request.body(Body::empty()).unwrap()
        };
        let connect = request(Method::CONNECT, "a.test:1");
        let response = sender.send_request(connect).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let mut tunnel = TokioIo::new(hyper::upgrade::on(response).await.unwrap());
        tunnel.write_all(b"ping").await.unwrap();
        let other = sender.send_request(request(Method::GET, &format!("http://{address}/")));
        assert_eq!(
            other.await.unwrap().status(),
            StatusCode::METHOD_NOT_ALLOWED
        );
        let mut received = String::new();
        tunnel.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "ping pong");
    });
}

/// How the tunnel of a CONNECT ended for a handler that reads it.
type Ends = mpsc::UnboundedSender<(Vec<u8>, io::Result<usize>)>;

/// A handler that answers the first four bytes of the tunnel and reads it to its end.
fn reading(ends: Ends) -> Router {
    Router::new().fallback(async move |mut request: Request| {
        let upgrade = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            let mut tunnel = TokioIo::new(upgrade.await.unwrap());
            let mut first = [0; 4];
            tunnel.read_exact(&mut first).await.unwrap();
            tunnel.write_all(b"hello").await.unwrap();
            let mut received = first.to_vec();
            let end = tunnel.read_to_end(&mut received).await;
            ends.send((received, end)).unwrap();
        });
        Body::empty().into_response()
    })
}

#[test]
fn a_tunnel_that_its_client_resets_ends_with_an_error_behind_what_came() {
    run(async {
        let (ends, mut ended) = mpsc::unbounded_channel();
        let address = serving(reading(ends)).await;
        let ask = b"CONNECT a.test:1 HTTP/1.1\r\nhost: a.test:1\r\n\r\nping";
        for orderly in [false, true] {
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(ask).await.unwrap();
            let mut received = Vec::new();
            while !received.ends_with(b"hello") {
                assert_ne!(socket.read_buf(&mut received).await.unwrap(), 0);
            }
            if !orderly {
                socket.set_zero_linger().unwrap();
            }
            drop(socket);
            let (received, end) = ended.recv().await.unwrap();
            assert_eq!(received, b"ping");
            match orderly {
                true => assert_eq!(end.unwrap(), 0),
                false => assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset),
            }
        }
    });
}

#[test]
fn a_tunnel_of_one_stream_that_its_client_resets_ends_with_an_error_behind_what_came() {
    run(async {
        let (ends, mut ended) = mpsc::unbounded_channel();
        let address = serving(reading(ends)).await;
        let client = Client::builder()
            .protocols(Protocols::H2Only)
            .build()
            .unwrap();
        for orderly in [false, true] {
            let (mut sender, body) = trunkline::Body::channel();
            let connect = Request::connect(format!("http://{address}"));
            let mut connect = connect.body(body).unwrap();
            let websocket = trunkline::upgrade::Protocol::new("websocket");
            connect.extensions_mut().insert(websocket);
            let mut response = client.execute(connect).await.unwrap();
            sender.send("ping").await.unwrap();
            assert_eq!(response.chunk().await.unwrap().unwrap(), "hello");
            match orderly {
                true => sender.finish(),
                false => sender.fail("a test's own"),
            }
            let (received, end) = ended.recv().await.unwrap();
            assert_eq!(received, b"ping");
            assert_eq!(end.is_ok(), orderly, "{end:?}");
        }
    });
}

#[test]
fn an_upgrade_fails_whose_handler_answers_something_else_or_is_dropped() {
    run(async {
        let (outcomes, mut outcome) = mpsc::unbounded_channel();
        let (begun, mut begins) = mpsc::unbounded_channel();
        let address = serving(Router::new().fallback(async move |mut request: Request| {
            let upgrade = hyper::upgrade::on(&mut request);
            let outcomes = outcomes.clone();
            tokio::spawn(async move { outcomes.send(upgrade.await).unwrap() });
            if request.uri().path() == "/waits" {
                begun.send(()).unwrap();
                std::future::pending::<()>().await;
            }
            StatusCode::FORBIDDEN
        }))
        .await;
        let fields = "host: a\r\nconnection: upgrade\r\nupgrade: foo\r\n\r\n";
        for path in ["/refused", "/waits"] {
            let mut socket = TcpStream::connect(address).await.unwrap();
            let ask = format!("GET {path} HTTP/1.1\r\n{fields}");
            socket.write_all(ask.as_bytes()).await.unwrap();
            if path == "/waits" {
                begins.recv().await.unwrap();
                socket.set_zero_linger().unwrap();
                drop(socket);
            }
            let failed = outcome.recv().await.unwrap().unwrap_err();
            assert!(failed.is_canceled(), "{path}: {failed}");
        }
    });
}

#[test]
fn a_reason_phrase_among_the_extensions_of_a_response_is_sent() {
    run(async {
        let fine = any(async || {
            let mut response = "fine".into_response();
            let reason = ReasonPhrase::from_static(b"Very Fine");
            response.extensions_mut().insert(reason);
            response
        });
        let address = serving(Router::new().route("/", fine)).await;
        let asked = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        let received = answer(address, asked).await;
        assert!(
            received.starts_with("HTTP/1.1 200 Very Fine\r\n"),
            "{received}"
        );
    });
}

#[test]
fn a_request_of_http_1_0_says_so_and_offers_no_upgrade() {
    run(async {
        let seen = any(async |request: Request| {
            let offer = request.extensions().get::<hyper::upgrade::OnUpgrade>();
            format!("{:?} {}", request.version(), offer.is_some())
        });
        let address = serving(Router::new().route("/", seen)).await;
        for (version, fields, saw) in [
            ("1.0", "", "HTTP/1.0 false"),
            (
                "1.0",
                "connection: upgrade\r\nupgrade: foo\r\n",
                "HTTP/1.0 false",
            ),
            ("1.1", "host: a\r\nconnection: close\r\n", "HTTP/1.1 false"),
            (
                "1.1",
                "host: a\r\nconnection: upgrade, close\r\nupgrade: foo\r\n",
                "HTTP/1.1 true",
            ),
        ] {
            let received = answer(address, &format!("GET / HTTP/{version}\r\n{fields}\r\n")).await;
            assert!(received.ends_with(saw), "{version} {fields}: {received}");
        }
    });
}
