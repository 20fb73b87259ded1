//! Our server with hyper's client, one connection at a time.

use crate::ours::{Stage, stage};
use crate::way::{Way, run, ten_mebibytes};
use bytes::Bytes;
use http::uri::Scheme;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;

type Outgoing = BoxBody<Bytes, Infallible>;

/// A connection of hyper's.
enum Connection {
    H1(http1::SendRequest<Outgoing>),
    H2(http2::SendRequest<Outgoing>, Scheme),
}

impl Connection {
    async fn open(stage: &Stage, way: Way) -> Self {
        let port = match way.is_tls() {
            true => stage.endpoints.tls,
            false => stage.endpoints.h2c,
        };
        let socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        if !way.is_tls() {
            return Self::over(socket, way).await;
        }
        let name = ServerName::try_from("localhost").unwrap();
        let socket = connector(stage, way).connect(name, socket).await.unwrap();
        Self::over(socket, way).await
    }
    async fn over(socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, way: Way) -> Self {
        let io = TokioIo::new(socket);
        if way.is_h2() {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
            tokio::spawn(connection);
            let scheme = if way.is_tls() {
                Scheme::HTTPS
            } else {
                Scheme::HTTP
            };
            Self::H2(sender, scheme)
        } else {
            let (sender, connection) = http1::handshake(io).await.unwrap();
            tokio::spawn(connection);
            Self::H1(sender)
        }
    }
    async fn send(&mut self, mut request: Request<Outgoing>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::H1(sender) => {
                // As a client writes to an origin (RFC 9112 section 3.2.1).
                let path = request.uri().path_and_query().cloned();
                *request.uri_mut() = path.unwrap().into();
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::H2(sender, scheme) => {
                let mut parts = request.uri().clone().into_parts();
                parts.scheme = Some(scheme.clone());
                *request.uri_mut() = http::Uri::from_parts(parts).unwrap();
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
    /// Waits until the connection takes no more requests.
    async fn ends(&mut self) {
        let patience = Duration::from_secs(20);
        let ended = async {
            while self
                .send(request("GET", "/bytes/1024", empty()))
                .await
                .is_ok()
            {}
        };
        tokio::time::timeout(patience, ended)
            .await
            .expect("the connection ends");
    }
}

fn connector(stage: &Stage, way: Way) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(stage.certificate.der.clone().into()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let version: &[u8] = if way.is_h2() { b"h2" } else { b"http/1.1" };
    config.alpn_protocols = vec![version.to_vec()];
    TlsConnector::from(Arc::new(config))
}

fn request(method: &str, path: &str, body: Outgoing) -> Request<Outgoing> {
    Request::builder()
        .method(method)
        .uri(format!("http://localhost{path}"))
        .header("host", "localhost")
        .body(body)
        .unwrap()
}

fn empty() -> Outgoing {
    Empty::new().boxed()
}

#[test]
fn hyper_gets_and_heads_every_way() {
    let stage = stage();
    run(async {
        for way in Way::ALL {
            let mut connection = Connection::open(&stage, way).await;
            let got = connection
                .send(request("GET", "/bytes/1024", empty()))
                .await
                .unwrap();
            assert_eq!(
                (got.status(), got.version()),
                (StatusCode::OK, way.version())
            );
            assert_eq!(
                got.into_body().collect().await.unwrap().to_bytes().len(),
                1024
            );
            let head = connection
                .send(request("HEAD", "/bytes/1024", empty()))
                .await
                .unwrap();
            assert_eq!(head.headers()["content-length"], "1024", "{way:?}");
            assert!(
                head.into_body()
                    .collect()
                    .await
                    .unwrap()
                    .to_bytes()
                    .is_empty(),
                "{way:?}"
            );
        }
    });
}

#[test]
fn hyper_sends_ten_mebibytes_and_gets_them_back() {
    let stage = stage();
    run(async {
        for way in Way::ALL {
            let mut connection = Connection::open(&stage, way).await;
            let body = Full::new(ten_mebibytes()).boxed();
            let echo = connection
                .send(request("POST", "/echo", body))
                .await
                .unwrap();
            let same = echo.into_body().collect().await.unwrap().to_bytes() == ten_mebibytes();
            assert!(same, "{way:?}: the bytes came back changed");
        }
    });
}

#[test]
fn trailers_go_both_ways_with_hypers_client() {
    let stage = stage();
    run(async {
        for way in Way::ALL {
            let mut connection = Connection::open(&stage, way).await;
            let mut trailers = HeaderMap::new();
            trailers.insert("x-sent", HeaderValue::from_static("theirs"));
            // A body of known length would have no trailers on HTTP/1.1.
            let (sender, body) = mpsc::channel(2);
            sender
                .send(Frame::data(Bytes::from_static(b"body")))
                .await
                .unwrap();
            sender.send(Frame::trailers(trailers)).await.unwrap();
            drop(sender);
            let body = BodyExt::boxed(Channel(body));
            let mut request = request("POST", "/trailers", body);
            request
                .headers_mut()
                .insert("trailer", HeaderValue::from_static("x-sent"));
            request
                .headers_mut()
                .insert("te", HeaderValue::from_static("trailers"));
            let response = connection.send(request).await.unwrap();
            let collected = response.into_body().collect().await.unwrap();
            let received = collected
                .trailers()
                .map(|trailers| trailers["x-heard"].clone());
            assert_eq!(
                received,
                Some(HeaderValue::from_static("theirs")),
                "{way:?}"
            );
            assert_eq!(collected.to_bytes(), "body", "{way:?}");
        }
    });
}

#[test]
fn a_cut_off_body_is_an_error_for_hyper_and_other_streams_live_on() {
    let stage = stage();
    run(async {
        for way in Way::ALL {
            let mut connection = Connection::open(&stage, way).await;
            let response = connection
                .send(request("GET", "/reset", empty()))
                .await
                .unwrap();
            assert!(response.into_body().collect().await.is_err(), "{way:?}");
            if way.is_h2() {
                let next = connection
                    .send(request("GET", "/bytes/1024", empty()))
                    .await;
                assert_eq!(next.unwrap().status(), StatusCode::OK, "{way:?}");
            }
        }
    });
}

/// The request that is under way when the drain begins is finished; the connection then ends.
#[test]
fn a_drain_finishes_what_hyper_has_under_way() {
    run(async {
        for way in Way::ALL {
            let stage = stage();
            let mut connection = Connection::open(&stage, way).await;
            let (sender, body) = mpsc::channel(1);
            sender
                .send(Frame::data(Bytes::from_static(b"first")))
                .await
                .unwrap();
            let body = BodyExt::boxed(Channel(body));
            let response = connection
                .send(request("POST", "/echo", body))
                .await
                .unwrap();
            let running = if way.is_tls() {
                stage.secure
            } else {
                stage.clear
            };
            let drain = tokio::spawn(running.drain(Duration::from_secs(20)));
            if way.is_h2() {
                // GOAWAY is out when hyper takes no more requests.
                connection.ends().await;
            }
            sender
                .send(Frame::data(Bytes::from_static(b"second")))
                .await
                .unwrap();
            drop(sender);
            let echo = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(echo, "firstsecond", "{way:?}");
            assert_eq!(drain.await.unwrap().cut, 0, "{way:?}: nothing was cut off");
            connection.ends().await;
        }
    });
}

/// More than the 10,000 requests after which servers of other kinds drain a connection.
const REQUESTS: usize = 12_000;
/// Tasks that send them at once, each its share.
const TASKS: usize = 50;

#[test]
fn twelve_thousand_requests_of_hypers_client_on_one_connection_fail_none() {
    let stage = stage();
    run(async {
        for way in Way::ALL.into_iter().filter(|way| way.is_h2()) {
            let Connection::H2(sender, scheme) = Connection::open(&stage, way).await else {
                panic!("{way:?} is HTTP/2");
            };
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| {
                    let mut connection = Connection::H2(sender.clone(), scheme.clone());
                    tokio::spawn(async move {
                        for _ in 0..REQUESTS / TASKS {
                            let got = connection
                                .send(request("GET", "/bytes/1024", empty()))
                                .await;
                            let body = got.unwrap().into_body().collect().await.unwrap();
                            assert_eq!(body.to_bytes().len(), 1024, "{way:?}");
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        }
    });
}

/// A body that comes from a channel.
struct Channel(mpsc::Receiver<Frame<Bytes>>);

impl http_body::Body for Channel {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|frame| frame.map(Ok))
    }
}
