//! One exchange at a time over QUIC on real sockets, our client against our server.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3;
use crate::support::http3::{Origin, generous};
use crate::support::origin::run;
use crate::support::peer;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::BodyExt;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use trunkline::client::Protocols;
use trunkline::{Body, ErrorKind, Limits};

fn echo() -> Origin {
    Origin::start(Limits::default(), |request: Request<Body>| async {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        let method = HeaderValue::from_str(request.method().as_str()).unwrap();
        headers.insert("x-method", method);
        let target = HeaderValue::from_str(&request.uri().to_string()).unwrap();
        headers.insert("x-target", target);
        if let Some(note) = request.headers().get("x-note") {
            headers.insert("echo-x-note", note.clone());
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
fn a_get_is_answered() {
    run(async {
        let origin = echo();
        let client = origin.client().build().unwrap();
        let request = client.get(origin.url("/a?b=c")).header("X-Note", "hello");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.version(), http::Version::HTTP_3);
        assert_eq!(response.headers()["x-method"], "GET");
        assert_eq!(response.headers()["echo-x-note"], "hello");
        assert_eq!(response.headers()["x-target"], origin.url("/a?b=c"));
        let metrics = origin.running.metrics();
        assert_eq!((metrics.requests_h3, metrics.quic_connections), (1, 1));
        assert_eq!((metrics.requests_h1, metrics.requests_h2), (0, 0));
    });
}

#[test]
fn ten_mebibytes_go_up_and_come_back_whole() {
    run(async {
        let origin = echo();
        let client = origin.client().build().unwrap();
        let sent = patterned(10 << 20);
        let response = client.post(origin.url("/")).body(sent.clone()).send();
        let received = response.await.unwrap().into_body().collect().await.unwrap();
        assert!(received.to_bytes() == sent);
    });
}

#[test]
fn a_streamed_upload_and_its_answer_may_end_with_trailers() {
    run(async {
        let origin = Origin::start(Limits::default(), |request: Request<Body>| async {
            let collected = request.into_body().collect().await.unwrap();
            let sum = collected.trailers().unwrap()["x-sum"].clone();
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                sender.send(collected.to_bytes()).await.unwrap();
                let mut trailers = HeaderMap::new();
                trailers.insert("x-back", sum);
                sender.finish_with(trailers);
            });
            Response::new(body)
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
        let received = response.await.unwrap().into_body().collect().await.unwrap();
        upload.await.unwrap();
        assert_eq!(received.trailers().unwrap()["x-back"], "seen");
        assert_eq!(received.to_bytes().len(), 300_000);
    });
}

#[test]
fn a_head_response_has_a_length_and_no_body() {
    run(async {
        let origin = Origin::start(Limits::default(), |_| async {
            Response::new(Body::full("twelve bytes"))
        });
        let client = origin.client().build().unwrap();
        let response = client.head(origin.url("/")).send().await.unwrap();
        assert_eq!(response.headers()["content-length"], "12");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(body.is_empty());
    });
}

#[test]
fn a_handler_that_waits_for_the_body_invites_it() {
    run(async {
        let origin = Origin::start(Limits::default(), |request: Request<Body>| async {
            let bytes = request.into_body().collect().await.unwrap().to_bytes();
            Response::new(Body::full(bytes))
        });
        let client = origin.client().build().unwrap();
        let invited = Arc::new(Notify::new());
        let signal = Arc::clone(&invited);
        let (mut sender, body) = Body::channel();
        let response = client
            .request(Method::PUT, origin.url("/"))
            .header("expect", "100-continue")
            .on_interim(move |interim| {
                assert_eq!(interim.status(), 100);
                signal.notify_one();
            })
            .body(body)
            .send();
        let response = tokio::spawn(response);
        invited.notified().await;
        sender.send("asked for").await.unwrap();
        sender.finish();
        let body = response.await.unwrap().unwrap().into_body();
        assert_eq!(body.collect().await.unwrap().to_bytes(), "asked for");
    });
}

#[test]
fn giving_up_a_request_cancels_its_handler_and_keeps_the_connection() {
    /// Says when a handler's future is dropped.
    struct Gone(Arc<Notify>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    run(async {
        let (started, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begin, end) = (Arc::clone(&started), Arc::clone(&gone));
        let origin = Origin::start(Limits::default(), move |request: Request<Body>| {
            let (begin, guard) = (Arc::clone(&begin), Gone(Arc::clone(&end)));
            async move {
                if request.uri().path() == "/never" {
                    begin.notify_one();
                    pending::<()>().await;
                }
                // The handlers that finish give no sign.
                std::mem::forget(guard);
                Response::new(Body::full("ok"))
            }
        });
        let client = origin.client().build().unwrap();
        let response = tokio::spawn(client.get(origin.url("/never")).send());
        started.notified().await;
        response.abort();
        gone.notified().await;
        let response = client.get(origin.url("/")).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(origin.running.metrics().quic_connections, 1);
    });
}

#[test]
fn an_answer_before_the_end_of_the_upload_is_whole_and_the_connection_goes_on() {
    run(async {
        // The handler drops the body unread: what is left of it is stopped with H3_NO_ERROR.
        let origin = Origin::start(Limits::default(), |_| async {
            Response::new(Body::full("no, thank you"))
        });
        let client = origin.client().build().unwrap();
        for _ in 0..20 {
            let request = client.post(origin.url("/")).body(patterned(1 << 20));
            let response = request.send().await.unwrap();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, "no, thank you");
        }
        assert_eq!(origin.running.metrics().quic_connections, 1);
    });
}

#[test]
fn an_unread_body_stalls_nobody_else() {
    run(async {
        let origin = Origin::start(Limits::default(), |request: Request<Body>| async move {
            match request.uri().path() {
                "/large" => Response::new(Body::full(patterned(4 << 20))),
                _ => Response::new(Body::full("small")),
            }
        });
        let client = origin.client().build().unwrap();
        let large = client.get(origin.url("/large")).send().await.unwrap();
        for _ in 0..50 {
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert_eq!(
                response.into_body().collect().await.unwrap().to_bytes(),
                "small"
            );
        }
        let large = large.into_body().collect().await.unwrap().to_bytes();
        assert!(large == patterned(4 << 20));
        assert_eq!(origin.running.metrics().quic_connections, 1);
    });
}

#[test]
fn a_drain_lets_the_open_exchange_finish_and_closes() {
    run(async {
        let go = Arc::new(Semaphore::new(0));
        let started = Arc::new(Notify::new());
        let (gate, begun) = (Arc::clone(&go), Arc::clone(&started));
        let origin = Origin::start(Limits::default(), move |_| {
            let (gate, begun) = (Arc::clone(&gate), Arc::clone(&begun));
            async move {
                begun.notify_one();
                gate.acquire().await.unwrap().forget();
                Response::new(Body::full("finished"))
            }
        });
        let client = origin.client().build().unwrap();
        let response = tokio::spawn(client.get(origin.url("/")).send());
        started.notified().await;
        let drained = tokio::spawn(origin.running.drain(Duration::from_secs(20)));
        // The handler answers only when the drain has begun, or even after.
        tokio::task::yield_now().await;
        go.add_permits(1);
        let body = response.await.unwrap().unwrap().into_body();
        assert_eq!(body.collect().await.unwrap().to_bytes(), "finished");
        assert_eq!(drained.await.unwrap().cut, 0);
    });
}

#[test]
fn a_server_that_stops_at_once_says_goodbye() {
    run(async {
        let started = Arc::new(Notify::new());
        let begun = Arc::clone(&started);
        let origin = Origin::start(Limits::default(), move |_| {
            let begun = Arc::clone(&begun);
            async move {
                begun.notify_one();
                pending::<Response<Body>>().await
            }
        });
        let client = origin.client().build().unwrap();
        let response = tokio::spawn(client.get(origin.url("/")).send());
        started.notified().await;
        let running = origin.running;
        tokio::task::spawn_blocking(move || running.shutdown())
            .await
            .unwrap();
        // Without the goodbye it would wait for minutes.
        assert!(response.await.unwrap().is_err());
    });
}

#[test]
fn resets_by_both_sides_leave_the_others_alone() {
    run(async {
        let origin = Origin::start(generous(), |request: Request<Body>| async move {
            match request.uri().path() {
                "/broken" => {
                    let (sender, body) = Body::channel();
                    drop(sender);
                    Response::new(body)
                }
                "/slow" => pending().await,
                _ => Response::new(Body::full("ok")),
            }
        });
        let client = origin.client().connections(1).build().unwrap();
        let answered = Arc::new(AtomicU64::new(0));
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..400 {
            let request = match number % 4 {
                0 => client.get(origin.url("/broken")).send(),
                1 => {
                    let given_up = client.get(origin.url("/slow")).send();
                    tasks.spawn(async move {
                        let _ = tokio::time::timeout(Duration::from_millis(1), given_up).await;
                    });
                    continue;
                }
                _ => client.get(origin.url("/")).send(),
            };
            let answered = Arc::clone(&answered);
            tasks.spawn(async move {
                let Ok(response) = request.await else {
                    return;
                };
                if response.into_body().collect().await.is_ok() {
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        assert_eq!(answered.load(Ordering::SeqCst), 200);
        assert_eq!(origin.running.metrics().quic_connections, 1);
    });
}

#[test]
fn a_client_learns_of_http_3_from_its_first_answer() {
    run(async {
        let origin = echo();
        let client = origin.any_client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        let port = origin.running.local_addr().port();
        let expected = format!("h3=\":{port}\"; ma=86400");
        assert_eq!(response.headers()["alt-svc"], *expected);
        let response = origin.client().build().unwrap().get(origin.url("/"));
        let response = response.send().await.unwrap();
        assert!(
            !response.headers().contains_key("alt-svc"),
            "it is there already"
        );
    });
}

#[test]
fn what_was_learned_is_used_for_the_next_request() {
    run(async {
        let origin = echo();
        let client = origin.any_client().protocols(Protocols::All);
        let client = client.build().unwrap();
        let mut versions = Vec::new();
        for _ in 0..3 {
            let response = client.get(origin.url("/")).send().await.unwrap();
            versions.push(response.version());
            response.into_body().collect().await.unwrap();
        }
        let (h2, h3) = (http::Version::HTTP_2, http::Version::HTTP_3);
        assert_eq!(versions, [h2, h3, h3]);
        assert_eq!(origin.running.metrics().connections_accepted, 2);
    });
}

#[test]
fn where_udp_does_not_get_through_tcp_does_and_quic_is_left_alone() {
    run(async {
        // A UDP port that takes everything and answers nothing.
        let hole = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let sent = format!("h3=\":{}\"", hole.local_addr().unwrap().port());
        let origin = Origin::start(Limits::default(), move |_| {
            let sent = sent.clone();
            async move {
                let mut response = Response::new(Body::full("ok"));
                let sent = HeaderValue::from_str(&sent).unwrap();
                response.headers_mut().insert("alt-svc", sent);
                response
            }
        });
        let client = origin.any_client().protocols(Protocols::All);
        let client = client.build().unwrap();
        for _ in 0..5 {
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert_eq!(response.version(), http::Version::HTTP_2);
            response.into_body().collect().await.unwrap();
        }
        // One that learned, one that raced and won; then QUIC counts as broken.
        assert_eq!(origin.running.metrics().connections_accepted, 2);
        let mut packet = [0; 2048];
        hole.set_nonblocking(true).unwrap();
        assert!(hole.recv_from(&mut packet).is_ok(), "QUIC was tried");
    });
}

#[test]
fn where_nobody_listens_on_udp_tcp_is_used_at_once() {
    run(async {
        let (_nobody, port) = http3::nobody();
        let sent = format!("h3=\":{port}\"");
        let origin = Origin::start(Limits::default(), move |_| {
            let sent = sent.clone();
            async move {
                let mut response = Response::new(Body::full("ok"));
                let sent = HeaderValue::from_str(&sent).unwrap();
                response.headers_mut().insert("alt-svc", sent);
                response
            }
        });
        let client = origin.any_client().protocols(Protocols::All);
        let client = client.build().unwrap();
        for _ in 0..3 {
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert_eq!(response.version(), http::Version::HTTP_2);
            response.into_body().collect().await.unwrap();
        }
    });
}

#[test]
fn where_http_3_answers_421_the_origin_is_asked_over_tcp_and_quic_is_left_alone() {
    run(async {
        let origin = Origin::start(Limits::default(), |request: Request<Body>| async move {
            let mut response = Response::new(Body::empty());
            if request.version() == http::Version::HTTP_3 {
                *response.status_mut() = http::StatusCode::MISDIRECTED_REQUEST;
            }
            response
        });
        let client = origin.any_client().protocols(Protocols::All);
        let client = client.build().unwrap();
        for _ in 0..4 {
            let response = client.get(origin.url("/")).send().await.unwrap();
            let found = (response.status().as_u16(), response.version());
            assert_eq!(found, (200, http::Version::HTTP_2));
        }
        assert_eq!(origin.running.metrics().requests_h3, 1);
    });
}

#[test]
fn a_421_says_nothing_of_alternatives() {
    run(async {
        let origin = Origin::start(Limits::default(), |_| async {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = http::StatusCode::MISDIRECTED_REQUEST;
            response
        });
        let client = origin.any_client().protocols(Protocols::All);
        let client = client.build().unwrap();
        for _ in 0..3 {
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert!(response.headers().contains_key("alt-svc"));
        }
        assert_eq!(origin.running.metrics().requests_h3, 0);
    });
}

#[test]
fn a_udp_port_in_use_is_named_with_what_to_do() {
    // Over TCP the port is the server's: of two numbers that the system gives, one may be taken there.
    let (listener, _taken) = std::iter::repeat_with(|| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = std::net::UdpSocket::bind(listener.local_addr().unwrap());
        (listener, taken)
    })
    .find(|(_, taken)| taken.is_ok())
    .unwrap();
    let address = listener.local_addr().unwrap();
    let (tls, _) = trunkline::Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = trunkline::Server::on(listener).tls(tls).http3(true);
    let service = peer::service(|_| async { Response::new(Body::empty()) });
    let error = server.serve(service).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    let text = error.to_string();
    assert!(text.contains("UDP port"), "{text}");
    assert!(text.contains(&address.port().to_string()), "{text}");
}

#[test]
fn http_3_without_a_certificate_is_refused() {
    let server = trunkline::Server::bind("127.0.0.1:0").http3(true);
    let error = server
        .serve(peer::service(|_| async { Response::new(Body::empty()) }))
        .unwrap_err();
    assert!(error.to_string().contains("TLS"), "{error}");
}

#[test]
fn a_port_where_nobody_listens_is_an_error_at_once() {
    run(async {
        let origin = echo();
        let (_nobody, port) = http3::nobody();
        let client = origin.client().build().unwrap();
        let error = client.get(format!("https://localhost:{port}/")).send();
        let error = error.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect);
        if cfg!(target_os = "linux") {
            let source = std::error::Error::source(&error).expect("a cause");
            assert_eq!(source.to_string(), "no process listens on its UDP port");
            // As a TCP port without a listener: Node.js's code is made of it.
            let source = source
                .downcast_ref::<std::io::Error>()
                .map(std::io::Error::kind);
            assert_eq!(source, Some(std::io::ErrorKind::ConnectionRefused));
        }
    });
}

#[test]
fn an_unknown_certificate_is_refused() {
    run(async {
        let (one, other) = (echo(), echo());
        let client = one.client().build().unwrap();
        let error = client.get(other.url("/")).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tls, "{error:?}");
    });
}

#[test]
fn a_body_that_has_come_is_read_after_its_server_has_drained_and_closed() {
    run(async {
        let sent = patterned(200_000);
        let body = sent.clone();
        let origin = Origin::start(Limits::default(), move |_: Request<Body>| {
            let body = body.clone();
            async { Response::new(Body::full(body)) }
        });
        let client = origin.client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        // More than the client reads ahead: the rest waits in the transport's window.
        let drained = origin.running.drain(Duration::from_secs(60)).await;
        assert_eq!(drained.cut, 0);
        let received = response.into_body().collect().await.unwrap();
        assert!(received.to_bytes() == sent);
    });
}
