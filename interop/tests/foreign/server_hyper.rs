//! Our client with hyper's server.

use crate::way::{Way, read, run, ten_mebibytes};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;
use trunkline::client::ClientTimeouts;
use trunkline::{Body, ErrorKind};
use trunkline_interop::{Certificate, Workplace};

type Answer = Response<BoxBody<Bytes, io::Error>>;

/// hyper on a port of its own, in this process.
struct Stage {
    port: u16,
    certificate: Certificate,
    _workplace: Workplace,
}

async fn stage(way: Way) -> Stage {
    let workplace = Workplace::new().unwrap();
    let certificate = Certificate::write(workplace.path()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let tls = way.is_tls().then(|| acceptor(&certificate));
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let tls = tls.clone();
            tokio::spawn(async move {
                match tls {
                    None => serve(socket).await,
                    Some(tls) => serve(tls.accept(socket).await.unwrap()).await,
                }
            });
        }
    });
    Stage {
        port,
        certificate,
        _workplace: workplace,
    }
}

fn acceptor(certificate: &Certificate) -> TlsAcceptor {
    let chain = vec![CertificateDer::from(certificate.der.clone())];
    let key = PrivateKeyDer::from_pem_file(&certificate.key).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let (last, mut is_last) = watch::channel(false);
    let service = service_fn(move |request| answer(request, last.clone()));
    let builder = auto::Builder::new(TokioExecutor::new());
    let connection = builder.serve_connection(TokioIo::new(socket), service);
    tokio::pin!(connection);
    tokio::select! {
        // How a connection ends is seen from the client's side.
        _ = connection.as_mut() => return,
        _ = is_last.wait_for(|last| *last) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

fn full(bytes: impl Into<Bytes>) -> BoxBody<Bytes, io::Error> {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed()
}

async fn answer(
    request: Request<Incoming>,
    last: watch::Sender<bool>,
) -> Result<Answer, hyper::Error> {
    let mut response = Response::new(Empty::new().map_err(|never| match never {}).boxed());
    let body = match request.uri().path() {
        // hyper sends the body of an answer to HEAD on HTTP/2 if it is given one.
        "/bytes/1024" if request.method() == Method::HEAD => {
            response
                .headers_mut()
                .insert("content-length", HeaderValue::from_static("1024"));
            return Ok(response);
        }
        "/bytes/1024" => full(vec![b'x'; 1024]),
        "/count" => {
            let body = request.into_body().collect().await?.to_bytes();
            full(body.len().to_string())
        }
        "/echo" => request.into_body().map_err(io::Error::other).boxed(),
        "/trailers" => {
            response
                .headers_mut()
                .insert("trailer", HeaderValue::from_static("x-heard, x-sum"));
            let collected = request.into_body().collect().await?;
            let mut trailers = HeaderMap::new();
            let sent = collected.trailers().and_then(|sent| sent.get("x-sent"));
            trailers.insert(
                "x-heard",
                sent.cloned().unwrap_or(HeaderValue::from_static("none")),
            );
            trailers.insert("x-sum", HeaderValue::from_static("42"));
            let frames = [
                Ok(Frame::data(collected.to_bytes())),
                Ok(Frame::trailers(trailers)),
            ];
            BodyExt::boxed(StreamBody::new(Steps(frames.into_iter())))
        }
        "/reset" => {
            let frames = [
                Ok(Frame::data(Bytes::from(vec![0; 512]))),
                Err(io::Error::other("cut")),
            ];
            BodyExt::boxed(StreamBody::new(Steps(frames.into_iter())))
        }
        "/last" => {
            // The connection may be about to end already.
            let _ = last.send(true);
            full("last")
        }
        _ => {
            *response.status_mut() = StatusCode::NOT_FOUND;
            full("no such path")
        }
    };
    *response.body_mut() = body;
    Ok(response)
}

/// A stream of what an iterator gives.
struct Steps<I>(I);

impl<I: Iterator + Unpin> futures_core::Stream for Steps<I> {
    type Item = I::Item;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<I::Item>> {
        std::task::Poll::Ready(self.0.next())
    }
}

#[test]
fn hyper_answers_get_and_head_every_way() {
    run(async {
        for way in Way::ALL {
            let stage = stage(way).await;
            let client = way.client(&stage.certificate);
            let url = way.url_at(stage.port, "/bytes/1024");
            let got = client.get(&url).send().await.unwrap();
            assert_eq!(
                (got.status(), got.version()),
                (StatusCode::OK, way.version())
            );
            assert_eq!(read(got.into_body()).await.0.len(), 1024, "{way:?}");
            let head = client.head(&url).send().await.unwrap();
            assert_eq!(head.headers()["content-length"], "1024", "{way:?}");
            assert!(
                read(head.into_body()).await.0.is_empty(),
                "{way:?}: HEAD has no body"
            );
        }
    });
}

#[test]
fn hyper_echoes_ten_mebibytes_every_way() {
    run(async {
        for way in Way::ALL {
            let stage = stage(way).await;
            let client = way.client(&stage.certificate);
            let url = way.url_at(stage.port, "/echo");
            let echo = client
                .post(&url)
                .body(ten_mebibytes())
                .send()
                .await
                .unwrap();
            let same = read(echo.into_body()).await.0 == ten_mebibytes();
            assert!(same, "{way:?}: the bytes came back changed");
        }
    });
}

#[test]
fn trailers_go_both_ways_with_hyper() {
    run(async {
        for way in Way::ALL {
            let stage = stage(way).await;
            let client = way.client(&stage.certificate);
            let url = way.url_at(stage.port, "/trailers");
            let (mut sender, body) = Body::channel();
            let sending = tokio::spawn(async move {
                sender.send(Bytes::from_static(b"body")).await.unwrap();
                let mut trailers = HeaderMap::new();
                trailers.insert("x-sent", HeaderValue::from_static("ours"));
                sender.finish_with(trailers);
            });
            // RFC 9110 section 6.5.1: HTTP/1.1 peers send trailers to whom says `te: trailers`.
            let request = client
                .post(&url)
                .header("trailer", "x-sent")
                .header("te", "trailers");
            let (body, trailers) = read(request.body(body).send().await.unwrap().into_body()).await;
            sending.await.unwrap();
            assert_eq!(body, "body", "{way:?}");
            assert_eq!(trailers["x-heard"], "ours", "{way:?}");
            assert_eq!(trailers["x-sum"], "42", "{way:?}");
        }
    });
}

#[test]
fn hypers_100_continue_is_received_when_the_handler_reads() {
    run(async {
        // hyper answers `expect` on HTTP/1.1 only: see the next test.
        for way in [Way::H1, Way::H1Tls] {
            let stage = stage(way).await;
            let client = way.client(&stage.certificate);
            let (received, mut receives) = mpsc::unbounded_channel();
            let (mut sender, body) = Body::channel();
            let request = client
                .post(way.url_at(stage.port, "/count"))
                .header("expect", "100-continue")
                .body(body)
                .on_interim(move |interim| {
                    // A second one has no receiver.
                    let _ = received.send(interim.status());
                });
            let response = tokio::spawn(request.send());
            // Nothing is sent before the server asks for it.
            assert_eq!(receives.recv().await, Some(StatusCode::CONTINUE), "{way:?}");
            sender.send(Bytes::from_static(b"hello")).await.unwrap();
            sender.finish();
            let response = response.await.unwrap().unwrap();
            assert_eq!(
                (response.status(), response.version()),
                (StatusCode::OK, way.version())
            );
            assert_eq!(read(response.into_body()).await.0, "5", "{way:?}");
        }
    });
}

/// RFC 9110 section 10.1.1 wants a 100 or a final answer at once, and of the client that it does
/// not wait for ever: not every server knows the first half.
#[test]
fn hyper_sends_no_100_on_http_2_and_gets_the_body_when_our_wait_is_over() {
    run(async {
        for way in Way::H2 {
            let stage = stage(way).await;
            let client = way.client(&stage.certificate);
            let (received, mut receives) = mpsc::unbounded_channel();
            let began = Instant::now();
            let response = client
                .post(way.url_at(stage.port, "/count"))
                .header("expect", "100-continue")
                .body("hello")
                .on_interim(move |interim| {
                    // A second one has no receiver.
                    let _ = received.send(interim.status());
                })
                .send()
                .await
                .unwrap();
            let wait = ClientTimeouts::default().expect.unwrap();
            assert!(began.elapsed() >= wait, "{way:?}: the body did not wait");
            assert_eq!(
                (response.status(), response.version()),
                (StatusCode::OK, way.version())
            );
            assert_eq!(read(response.into_body()).await.0, "5", "{way:?}");
            assert_eq!(receives.recv().await, None, "{way:?}: hyper has learned it");
        }
    });
}

#[test]
fn a_response_that_hyper_cuts_off_is_an_error_and_never_a_short_body() {
    run(async {
        for way in Way::ALL {
            let stage = stage(way).await;
            let client = way.client(&stage.certificate);
            let url = way.url_at(stage.port, "/reset");
            // HTTP/1.1 may cut before the head has left: then the request itself fails.
            let error = match client.get(&url).send().await {
                Ok(response) => response.into_body().collect().await.unwrap_err(),
                Err(error) => error,
            };
            if way.is_h2() {
                assert!(
                    matches!(error.kind(), ErrorKind::StreamReset(_)),
                    "{way:?}: {error:?}"
                );
            }
            let next = client
                .get(way.url_at(stage.port, "/bytes/1024"))
                .send()
                .await;
            assert_eq!(next.unwrap().status(), StatusCode::OK, "{way:?}");
        }
    });
}

#[test]
fn requests_move_on_when_hyper_ends_the_connection_in_the_middle() {
    run(async {
        for way in Way::ALL {
            let stage = stage(way).await;
            // Over HTTP/1.1 hyper answers, promises nothing of a close, and closes: the next request
            // may be on its way by then, and only the user can say that it may be sent again.
            let client = way.client_builder(&stage.certificate).retry_lost(true);
            let client = client.build().expect("the settings are allowed");
            let path = |number: u32| {
                if number % 20 == 3 {
                    "/last"
                } else {
                    "/bytes/1024"
                }
            };
            let requests: Vec<_> = (0..60)
                .map(|number| way.url_at(stage.port, path(number)))
                .map(|url| tokio::spawn(client.get(url).send()))
                .collect();
            for (number, request) in requests.into_iter().enumerate() {
                let response = request.await.unwrap();
                let response = response.unwrap_or_else(|why| panic!("{way:?} {number}: {why:?}"));
                assert_eq!(response.status(), StatusCode::OK, "{way:?} {number}");
                read(response.into_body()).await;
            }
        }
    });
}
