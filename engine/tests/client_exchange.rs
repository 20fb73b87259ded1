//! One exchange at a time: bodies both ways, trailers, interim responses, errors.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::{Origin, Speaks, run};
use crate::support::peer;
use bytes::Bytes;
use futures_util::stream;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Semaphore;
use trunkline::client::{Client, ClientTimeouts, Protocols};
use trunkline::{Body, ErrorKind};

const EVERY_WAY: [Speaks; 3] = [Speaks::Plain, Speaks::Tls, Speaks::TlsH1];

fn echo(speaks: Speaks) -> Origin {
    Origin::start(speaks, 100, |request| async {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        let method = HeaderValue::from_str(request.method().as_str()).unwrap();
        headers.insert("x-method", method);
        let target = HeaderValue::from_str(&request.uri().to_string()).unwrap();
        headers.insert("x-target", target);
        for name in ["content-length", "x-note"] {
            if let Some(value) = request.headers().get(name) {
                headers.insert(
                    format!("echo-{name}").parse::<HeaderName>().unwrap(),
                    value.clone(),
                );
            }
        }
        *response.body_mut() = request.into_body();
        response
    })
}

/// Bytes that a misplaced piece would show in.
fn patterned(len: usize) -> Bytes {
    (0..len).map(|at| (at % 251) as u8).collect()
}

#[test]
fn a_get_is_answered_over_every_version() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = echo(speaks);
            let client = origin.client().build().unwrap();
            let request = client.get(origin.url("/a?b=c")).header("X-Note", "hello");
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200);
            assert_eq!(response.headers()["x-method"], "GET");
            assert_eq!(response.headers()["echo-x-note"], "hello");
            let target = response.headers()["x-target"].to_str().unwrap();
            assert!(target.ends_with("/a?b=c"), "{target}");
            let version = match speaks {
                Speaks::Tls => http::Version::HTTP_2,
                Speaks::Plain | Speaks::TlsH1 => http::Version::HTTP_11,
            };
            assert_eq!(response.version(), version);
        });
    }
}

#[test]
fn ten_mebibytes_go_up_and_come_back_whole() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = echo(speaks);
            let client = origin.client().build().unwrap();
            let sent = patterned(10 << 20);
            let response = client.post(origin.url("/")).body(sent.clone()).send();
            let response = response.await.unwrap();
            assert_eq!(response.headers()["echo-content-length"], "10485760");
            let received = response.into_body().collect().await.unwrap().to_bytes();
            assert!(received == sent, "{speaks:?}");
        });
    }
}

#[test]
fn a_streamed_upload_arrives_piece_by_piece_and_may_end_with_trailers() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = Origin::start(speaks, 100, |request| async {
                let collected = request.into_body().collect().await.unwrap();
                let sum = collected.trailers().unwrap()["x-sum"].clone();
                let mut response = Response::new(Body::full(collected.to_bytes()));
                response.headers_mut().insert("x-sum", sum);
                response
            });
            let client = origin.client().build().unwrap();
            let (mut sender, body) = Body::channel();
            let response = client.post(origin.url("/")).body(body).send();
            let upload = tokio::spawn(async move {
                for piece in 0..100u8 {
                    sender.send(vec![piece; 3000]).await.unwrap();
                }
                let mut trailers = HeaderMap::new();
                trailers.insert("x-sum", HeaderValue::from_static("seen"));
                sender.finish_with(trailers);
            });
            let response = response.await.unwrap();
            upload.await.unwrap();
            assert_eq!(response.headers()["x-sum"], "seen");
            let received = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(received.len(), 300_000);
        });
    }
}

#[test]
fn response_trailers_arrive() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = Origin::start(speaks, 100, |_| async {
                let (mut sender, body) = Body::channel();
                peer::aside(async move {
                    sender.send("data").await.unwrap();
                    let mut trailers = HeaderMap::new();
                    trailers.insert("x-end", HeaderValue::from_static("reached"));
                    sender.finish_with(trailers);
                });
                Response::new(body)
            });
            let client = origin.client().build().unwrap();
            let response = client.get(origin.url("/")).header("te", "trailers").send();
            let collected = response.await.unwrap().into_body().collect().await.unwrap();
            assert_eq!(collected.trailers().unwrap()["x-end"], "reached");
            assert_eq!(collected.to_bytes(), "data");
        });
    }
}

#[test]
fn trailers_that_frame_or_route_are_left_out_of_what_is_sent() {
    fn sent() -> HeaderMap {
        let fields = [
            ("host", "b"),
            ("x-own", "1"),
            ("content-length", "9"),
            ("connection", "close"),
            ("te", "trailers"),
        ];
        let of = |(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        fields.map(of).into_iter().collect()
    }
    fn with_trailers() -> Body {
        let frames = [
            Frame::data(Bytes::from_static(b"data")),
            Frame::trailers(sent()),
        ];
        Body::wrap(StreamBody::new(stream::iter(
            frames.map(Ok::<_, Infallible>),
        )))
    }
    for speaks in EVERY_WAY {
        run(async {
            let origin = Origin::start(speaks, 100, |request| async {
                let collected = request.into_body().collect().await.unwrap();
                let trailers = format!("{:?}", collected.trailers().unwrap());
                let mut response = Response::new(with_trailers());
                response
                    .headers_mut()
                    .insert("x-came", trailers.parse().unwrap());
                response
            });
            let client = origin.client().build().unwrap();
            let response = client.post(origin.url("/")).body(with_trailers()).send();
            let response = response.await.unwrap();
            assert_eq!(
                response.headers()["x-came"],
                r#"{"x-own": "1"}"#,
                "{speaks:?}"
            );
            let collected = response.into_body().collect().await.unwrap();
            assert_eq!(
                format!("{:?}", collected.trailers().unwrap()),
                r#"{"x-own": "1"}"#
            );
            assert_eq!(collected.to_bytes(), "data");
        });
    }
}

#[test]
fn a_head_response_has_a_length_and_no_body() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = Origin::start(speaks, 100, |_| async {
                Response::new(Body::full("12345"))
            });
            let client = origin.client().connections(1).build().unwrap();
            for _ in 0..3 {
                let response = client.head(origin.url("/")).send().await.unwrap();
                assert_eq!(response.headers()["content-length"], "5");
                let body = response.into_body().collect().await.unwrap().to_bytes();
                assert!(body.is_empty());
            }
            assert_eq!(origin.sockets(), 1, "the connection is used again");
        });
    }
}

#[test]
fn any_http_body_can_be_sent() {
    run(async {
        let origin = echo(Speaks::Tls);
        let client = origin.client().build().unwrap();
        let request = Request::builder()
            .method(Method::PUT)
            .uri(origin.url("/"))
            .body(Full::new(Bytes::from("whole")))
            .unwrap();
        let response = client.execute(request).await.unwrap();
        assert_eq!(response.headers()["echo-content-length"], "5");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "whole");
    });
}

#[test]
fn an_unread_body_stalls_nobody_else() {
    run(async {
        let origin = Origin::start(Speaks::Tls, 100, |request| async move {
            match request.uri().path() {
                "/large" => Response::new(Body::full(patterned(4 << 20))),
                _ => Response::new(Body::full("small")),
            }
        });
        let client = origin.client().connections(1).build().unwrap();
        let large = client.get(origin.url("/large")).send().await.unwrap();
        for _ in 0..20 {
            let small = client.get(origin.url("/small")).send().await.unwrap();
            small.into_body().collect().await.unwrap();
        }
        let body = large.into_body().collect().await.unwrap().to_bytes();
        assert!(body == patterned(4 << 20));
        assert_eq!(origin.sockets(), 1);
    });
}

#[test]
fn dropping_a_response_resets_its_stream_and_keeps_the_connection() {
    run(async {
        let gone = Arc::new(Semaphore::new(0));
        let reported = Arc::clone(&gone);
        let origin = Origin::start(Speaks::Tls, 100, move |request| {
            let reported = Arc::clone(&reported);
            async move {
                if request.uri().path() != "/endless" {
                    return Response::new(Body::full("next"));
                }
                let (mut sender, body) = Body::channel();
                peer::aside(async move {
                    while sender.send(vec![0; 10_000]).await.is_ok() {}
                    reported.add_permits(1);
                });
                Response::new(body)
            }
        });
        let client = origin.client().connections(1).build().unwrap();
        let response = client.get(origin.url("/endless")).send().await.unwrap();
        drop(response);
        let _permit = gone.acquire().await.unwrap();
        client.get(origin.url("/")).send().await.unwrap();
        assert_eq!(origin.sockets(), 1);
    });
}

#[test]
fn a_url_that_cannot_be_used_is_refused_at_once_with_what_is_allowed() {
    run(async {
        let client = Client::new();
        let table = [
            ("ftp://example.org/", "http or https"),
            ("example.org/path", "https://"),
            ("/only/a/path", "http://"),
            ("https://user:secret@exa mple/", "must be like"),
            ("http://example.org:0/", "1 to 65535"),
            ("http://example.org:99999/", "1 to 65535"),
            ("http://exa mple/", "must be like"),
        ];
        for (url, allowed) in table {
            let error = client.get(url).send().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config, "{url}");
            assert!(error.to_string().contains(allowed), "{url}: {error}");
            assert!(!error.to_string().contains("secret"));
            assert!(!error.was_sent());
        }
        // A URI of another crate stands for what is sent: it is not taken apart.
        let request = Request::get("https://user:secret@example.org/");
        let request = request.body(Body::empty()).unwrap();
        let error = client.execute(request).await.unwrap_err().to_string();
        assert!(error.contains("authorization") && !error.contains("secret"));
        let error = client.get("http://a/").header("bad name", "x").send();
        assert!(error.await.unwrap_err().to_string().contains("bad name"));
        let error = client.get("http://a/").header("x", "a\nb").send();
        assert_eq!(error.await.unwrap_err().fault(), trunkline::Fault::Config);
    });
}

#[test]
fn a_setting_that_cannot_be_used_is_refused_when_the_client_is_built() {
    let refused = [
        Client::builder().connections(0).build(),
        Client::builder().sockets(0).build(),
        Client::builder().pipelining(0).build(),
        Client::builder().max_concurrent_streams(0).build(),
    ];
    for client in refused {
        let error = client.unwrap_err().to_string();
        assert!(error.contains("is 0; it must be at least 1"), "{error}");
    }
}

#[test]
fn an_unknown_certificate_is_refused_unless_everything_is_believed() {
    run(async {
        let origin = echo(Speaks::Tls);
        let plain = Client::builder().resolve("localhost", [([127, 0, 0, 1], 0).into()]);
        let careful = plain
            .tls(trunkline::client::ClientTls::new())
            .build()
            .unwrap();
        let error = careful.get(origin.url("/")).send().await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Tls | ErrorKind::Config),
            "{error:?}"
        );
        assert!(!error.was_sent());
        let careless = Client::builder()
            .resolve("localhost", [([127, 0, 0, 1], 0).into()])
            .tls(trunkline::client::ClientTls::new().insecure())
            .build()
            .unwrap();
        careless.get(origin.url("/")).send().await.unwrap();
    });
}

#[test]
fn a_server_without_the_only_version_offered_is_an_error() {
    run(async {
        let origin = echo(Speaks::TlsH1);
        let builder = origin.client().protocols(Protocols::H2Only);
        let client = builder.build().unwrap();
        let error = client.get(origin.url("/")).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tls, "{error:?}");
    });
}

/// A body whose next piece is always there.
struct Ready {
    bytes: usize,
    given: Arc<AtomicUsize>,
}

impl http_body::Body for Ready {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.given.fetch_add(4096, Ordering::SeqCst) >= self.bytes {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 4096])))))
    }
}

#[test]
fn an_upload_goes_on_when_a_peer_that_paused_reads_again() {
    const BYTES: usize = 32 << 20;
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (go, goes_on) = std::sync::mpsc::channel::<()>();
        let peer = std::thread::spawn(move || {
            let mut socket = listener.accept().unwrap().0;
            let timeout = Some(Duration::from_secs(30));
            socket.set_read_timeout(timeout).unwrap();
            goes_on.recv().unwrap();
            let (mut received, mut end) = (0, Vec::new());
            let mut buffer = vec![0; 64 * 1024];
            while !end.ends_with(b"\r\n0\r\n\r\n") {
                let read = socket.read(&mut buffer).unwrap();
                received += read;
                end.extend_from_slice(&buffer[read.saturating_sub(7)..read]);
                end.drain(..end.len().saturating_sub(7));
            }
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
            socket.write_all(answer.as_bytes()).unwrap();
            received
        });
        let given = Arc::new(AtomicUsize::new(0));
        let body = Body::wrap(Ready {
            bytes: BYTES,
            given: Arc::clone(&given),
        });
        let client = Client::builder().build().unwrap();
        let response = tokio::spawn(client.post(&url).body(body).send());
        // As long as what is taken grows, the buffers on the way are still filling.
        let mut before = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let now = given.load(Ordering::SeqCst);
            if now > 0 && std::mem::replace(&mut before, now) == now {
                break;
            }
        }
        assert!(before < BYTES / 2, "{before}");
        go.send(()).unwrap();
        let response = tokio::time::timeout(Duration::from_secs(60), response).await;
        assert_eq!(response.unwrap().unwrap().unwrap().status(), 200);
        assert!(peer.join().unwrap() > BYTES);
    });
}

#[test]
fn a_request_that_comes_as_an_idle_connection_gives_its_memory_back_keeps_its_deadline() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let peer = std::thread::spawn(move || {
            let mut socket = listener.accept().unwrap().0;
            for _ in 0..2 {
                assert!(socket.read(&mut [0; 4096]).unwrap() > 0);
                let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                socket.write_all(answer.as_bytes()).unwrap();
            }
            // The third is never answered.
            while socket.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
        });
        let client = Client::builder()
            .timeouts(ClientTimeouts::default().with_headers(Some(Duration::from_secs(1))));
        let client = client.build().unwrap();
        for _ in 0..2 {
            assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        }
        // The connection goes to rest, and its time is over while this thread does nothing else:
        // both are found in one turn.
        tokio::time::sleep(Duration::from_millis(10)).await;
        std::thread::sleep(Duration::from_millis(150));
        let error = client.get(&url).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
        drop(client);
        peer.join().unwrap();
    });
}

/// Hop-by-hop fields in the response of a handler that forwards another server's.
#[test]
fn what_belongs_to_the_connection_is_left_out_of_an_answer_where_it_is_forbidden() {
    run(async {
        let of_the_hop = [
            ("connection", "x-a"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "close"),
            ("te", "gzip"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
        ];
        let answer = move |_| async move {
            let mut response = Response::new(Body::full("hello"));
            for (name, value) in of_the_hop {
                let value = HeaderValue::from_static(value);
                response.headers_mut().insert(name, value);
            }
            response
        };
        for (speaks, expected) in [
            (Speaks::Tls, &[][..]),
            (
                Speaks::TlsH1,
                &[
                    "connection",
                    "keep-alive",
                    "proxy-connection",
                    "te",
                    "upgrade",
                ][..],
            ),
        ] {
            let origin = Origin::start(speaks, 100, answer);
            let client = origin.client().build().unwrap();
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert_eq!(response.status(), 200);
            let has = |name: &&str| response.headers().contains_key(*name);
            let names = of_the_hop.map(|(name, _)| name);
            let reported: Vec<_> = names.iter().filter(|name| has(name)).collect();
            assert_eq!(reported, expected.iter().collect::<Vec<_>>());
            let body = response.into_body().collect().await.unwrap();
            assert_eq!(body.to_bytes(), "hello");
        }
    });
}

#[test]
fn an_answer_without_content_has_no_content_length_whatever_its_handler_says() {
    run(async {
        for speaks in [Speaks::Tls, Speaks::TlsH1, Speaks::Plain] {
            let origin = Origin::start(speaks, 100, |_| async {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NO_CONTENT;
                let length = HeaderValue::from_static("5");
                response.headers_mut().insert("content-length", length);
                response
            });
            let client = origin.client().build().unwrap();
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert_eq!(response.status(), 204);
            assert!(!response.headers().contains_key("content-length"));
        }
    });
}
