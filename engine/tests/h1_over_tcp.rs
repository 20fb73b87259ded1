//! A server over real sockets, spoken to in plain bytes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::{Peer, service};
use bytes::{Buf, Bytes};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use trunkline::{Body, Running, Server, ServerConfig};

#[test]
fn a_request_is_answered_with_length_and_date() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |_| {
            Response::new(Full::new(Bytes::from("hi")))
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let answer = peer.receives_until("hi");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-length: 2\r\n"), "{answer}");
    assert!(answer.contains("\r\ndate: "), "{answer}");
}

#[test]
fn a_request_that_is_refused_has_a_date_in_its_answer_unless_the_server_has_none() {
    for dated in [true, false] {
        let config = ServerConfig::default().with_date(dated);
        let running = Server::bind("127.0.0.1:0")
            .config(config)
            .serve(service(async |_| {
                Response::new(Full::new(Bytes::from("hi")))
            }))
            .unwrap();
        let mut peer = Peer::connect(running.local_addr());
        peer.sends("GET / HTTP/1.1\r\nhost: a\r\nbad\r\n\r\n");
        let answer = peer.receives_until("\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert_eq!(answer.contains("\r\ndate: "), dated, "{answer}");
    }
}

#[test]
fn a_request_is_answered_when_it_comes_byte_by_byte() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            Response::new(Full::new(body))
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    for byte in "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody".bytes() {
        peer.sends([byte]);
    }
    let answer = peer.receives_until("body");
    assert!(answer.contains("content-length: 4\r\n"), "{answer}");
}

#[test]
fn head_has_the_length_but_no_body_and_the_next_request_is_answered() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |_| {
            Response::new(Full::new(Bytes::from("hi")))
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n");
    let answer = peer.receives_until("\r\n\r\n");
    assert!(answer.contains("content-length: 2\r\n"), "{answer}");
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let answer = peer.receives_until("hi");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

/// `/bad` is answered with 500, and another request on its connection as if nothing was.
fn fails_once(running: &Running) {
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET /bad HTTP/1.1\r\nhost: a\r\n\r\n");
    let answer = peer.receives_until("\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert!(peer.receives_until("fine").starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_handler_that_panics_gives_500_and_the_connection_lives() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            assert!(request.uri().path() != "/bad", "the handler's own fault");
            Response::new(Full::new(Bytes::from("fine")))
        }))
        .unwrap();
    fails_once(&running);
}

#[test]
fn a_request_that_comes_again_has_its_own_fields_and_none_of_the_answers_before() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let fields = request.headers().iter();
            let sent: Vec<_> = fields
                .map(|(name, value)| format!("{name}={value:?}"))
                .collect();
            let answer = Response::builder().header("x-answer", "of another");
            let answer = answer.header("x-two", "c");
            answer
                .body(Full::new(Bytes::from(format!("<{}>", sent.join(" ")))))
                .unwrap()
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    let few = "x-two: a\r\nx-two: b\r\n";
    let many = "a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\ne: 5\r\n";
    for (fields, sent) in [
        (few, r#"<host="a" x-two="a" x-two="b">"#),
        (many, r#"<host="a" a="1" b="2" c="3" d="4" e="5">"#),
        ("", r#"<host="a">"#),
    ] {
        // The third is made of what is known of the second.
        for round in 1..=4 {
            peer.sends(format!("GET / HTTP/1.1\r\nhost: a\r\n{fields}\r\n"));
            let answer = peer.receives_until(">");
            assert!(answer.ends_with(sent), "{round}: {answer}");
        }
    }
}

/// Bytes of a body; empty ones panic when they are looked at, though one is said to be there.
struct Brittle(&'static [u8]);

impl Buf for Brittle {
    fn remaining(&self) -> usize {
        self.0.len().max(1)
    }
    fn chunk(&self) -> &[u8] {
        assert!(!self.0.is_empty(), "the body's own fault");
        self.0
    }
    fn advance(&mut self, bytes: usize) {
        self.0 = &self.0[bytes..];
    }
}

#[test]
fn a_body_whose_first_bytes_panic_gives_500_and_the_connection_lives() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let is_bad = request.uri().path() == "/bad";
            Response::new(Full::new(Brittle(if is_bad { b"" } else { b"fine" })))
        }))
        .unwrap();
    fails_once(&running);
}

#[test]
fn an_answer_whose_length_is_not_its_bodys_is_500_and_the_connection_lives() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let body = request.uri().path()[1..].to_owned();
            let answer = Response::builder().header("content-length", "3");
            answer.body(Full::new(Bytes::from(body))).unwrap()
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    for path in ["/", "/no", "/four"] {
        peer.sends(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n"));
        let answer = peer.receives_until("\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 500 "), "{path}: {answer}");
    }
    peer.sends("GET /yes HTTP/1.1\r\nhost: a\r\n\r\n");
    assert!(peer.receives_until("yes").starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_handler_that_waits_for_the_body_invites_it() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            Response::new(Full::new(body))
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n");
    let invitation = peer.receives_until("\r\n\r\n");
    assert!(invitation.starts_with("HTTP/1.1 100 "), "{invitation}");
    peer.sends("body");
    assert!(peer.receives_until("body").starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_streamed_body_without_length_is_chunked() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |_| {
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                for piece in ["one", "two"] {
                    sender.send(piece).await.unwrap();
                }
                sender.finish();
            });
            Response::new(body)
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let answer = peer.receives_until("\r\n0\r\n\r\n");
    assert!(
        answer.contains("transfer-encoding: chunked\r\n"),
        "{answer}"
    );
    assert!(answer.contains("one") && answer.contains("two"), "{answer}");
}

/// Its client could not know that they are the bytes of a coding.
#[test]
fn a_transfer_coding_that_a_handler_names_goes_in_front_of_chunked() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let codings = request.uri().path()[1..].split('+');
            let body = Full::new(Bytes::from("zipped"));
            codings
                .fold(Response::builder(), |response, coding| {
                    response.header("transfer-encoding", coding.replace('.', ", "))
                })
                .body(body)
                .unwrap()
        }))
        .unwrap();
    for (named, line) in [
        ("gzip", "gzip, chunked"),
        ("gzip.chunked", "gzip, chunked"),
        ("x-a.gzip+chunked", "x-a, gzip, chunked"),
    ] {
        let mut peer = Peer::connect(running.local_addr());
        peer.sends(format!("GET /{named} HTTP/1.1\r\nhost: a\r\n\r\n"));
        let answer = peer.receives_until("\r\n0\r\n\r\n");
        let fields = answer.matches("transfer-encoding").count();
        assert_eq!(fields, 1, "{answer}");
        let line = format!("\r\ntransfer-encoding: {line}\r\n");
        assert!(answer.contains(&line), "{answer}");
        assert!(!answer.contains("content-length"), "{answer}");
        assert!(answer.contains("\r\n6\r\nzipped\r\n"), "{answer}");
    }
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET /chunked HTTP/1.1\r\nhost: a\r\n\r\n");
    let answer = peer.receives_until("zipped");
    assert!(answer.contains("content-length: 6\r\n"), "{answer}");
}

#[test]
fn a_body_that_fails_never_looks_whole() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |_| {
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                sender.send("part").await.unwrap();
                // Dropped without `finish`.
            });
            Response::new(body)
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let answer = peer.receives_to_the_end();
    assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[test]
fn a_client_that_ends_its_side_behind_its_request_gets_the_late_answer() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let waits = Arc::clone(&gate);
    let running = Server::bind("127.0.0.1:0")
        .serve(service(move |_| {
            let gate = Arc::clone(&waits);
            async move {
                gate.notified().await;
                Response::new(Full::new(Bytes::from("late")))
            }
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.ends();
    // Another connection is answered first: the end has mostly come by then.
    let mut other = Peer::connect(running.local_addr());
    other.sends("GET / HTTP/0.9\r\n\r\n");
    assert!(other.receives_to_the_end().starts_with("HTTP/1.1 "));
    gate.notify_one();
    let answer = peer.receives_to_the_end();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("late"), "{answer}");
}

/// Reports that a handler is gone.
struct Gone(mpsc::Sender<()>);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// A server whose handlers never answer, and what reports that one is gone.
fn never_answering(half_closed: Option<Duration>) -> (Running, mpsc::Receiver<()>) {
    let (sender, gone) = mpsc::channel();
    let mut config = ServerConfig::default();
    config.timeouts.half_closed = half_closed;
    let running = Server::bind("127.0.0.1:0")
        .config(config)
        .serve(service(move |_| {
            let guard = Gone(sender.clone());
            async move {
                std::future::pending::<()>().await;
                drop(guard);
                Response::new(Body::empty())
            }
        }))
        .unwrap();
    (running, gone)
}

#[test]
fn where_half_closed_is_zero_the_end_of_a_client_cancels_its_handler() {
    let (running, gone) = never_answering(Some(Duration::ZERO));
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.ends();
    gone.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(peer.receives_to_the_end(), "");
}

#[test]
fn a_client_that_ends_its_side_and_then_resets_the_connection_cancels_its_handler() {
    let (running, gone) = never_answering(None);
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.ends();
    // Another connection is answered first: the end has mostly come by then.
    let mut other = Peer::connect(running.local_addr());
    other.sends("GET / HTTP/0.9\r\n\r\n");
    assert!(other.receives_to_the_end().starts_with("HTTP/1.1 "));
    assert!(gone.try_recv().is_err(), "it may still read its answer");
    peer.resets();
    gone.recv_timeout(Duration::from_secs(60)).unwrap();
}

#[test]
fn an_upload_moves_only_as_fast_as_the_handler_reads() {
    const BYTES: usize = 8 << 20;
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let mut body = request.into_body();
            let mut sum = 0;
            while let Some(frame) = body.frame().await {
                sum += frame.unwrap().into_data().map_or(0, |data| data.len());
                tokio::task::yield_now().await;
            }
            Response::new(Full::new(Bytes::from(format!("sum={sum}!"))))
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends(format!(
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {BYTES}\r\n\r\n"
    ));
    peer.sends(vec![b'x'; BYTES]);
    assert!(peer.receives_until("!").ends_with(&format!("sum={BYTES}!")));
}

#[test]
fn a_response_to_an_upload_that_nobody_reads_says_that_the_connection_closes() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let held = (request.uri().path() == "/held").then(|| request.into_body());
            let answered = Full::new(Bytes::from("hi")).map_frame(move |frame| {
                let _ = &held;
                frame
            });
            Response::new(answered)
        }))
        .unwrap();
    for (path, length, closes) in [
        ("/", 1 << 20, true),
        ("/", 100_000, false),
        // Its handler may read it behind the response.
        ("/held", 1 << 20, false),
    ] {
        let mut peer = Peer::connect(running.local_addr());
        peer.sends(format!(
            "POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n"
        ));
        let answer = peer.receives_until("hi");
        assert_eq!(
            answer.contains("connection: close\r\n"),
            closes,
            "{path} {length}: {answer}"
        );
    }
}

#[test]
fn a_drain_lets_the_open_exchange_finish_and_cuts_nothing() {
    let (entered, was_entered) = mpsc::channel();
    let (release, released) = tokio::sync::watch::channel(false);
    let running = Server::bind("127.0.0.1:0")
        .serve(service(move |_| {
            let (entered, mut released) = (entered.clone(), released.clone());
            async move {
                entered.send(()).unwrap();
                released.wait_for(|go| *go).await.unwrap();
                Response::new(Full::new(Bytes::from("late but whole")))
            }
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    was_entered.recv().unwrap();
    let runtime = peer::runtime();
    let drained = runtime.block_on(async {
        let drain = tokio::spawn(running.drain(Duration::from_secs(30)));
        release.send(true).unwrap();
        drain.await.unwrap()
    });
    assert_eq!(drained.cut, 0);
    assert!(peer.receives_to_the_end().ends_with("late but whole"));
}

#[test]
fn a_drain_counts_what_it_cuts() {
    let (entered, was_entered) = mpsc::channel();
    let running = Server::bind("127.0.0.1:0")
        .serve(service(move |_| {
            let entered = entered.clone();
            async move {
                entered.send(()).unwrap();
                std::future::pending::<Response<Full<Bytes>>>().await
            }
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    was_entered.recv().unwrap();
    let drained = peer::block_on(running.drain(Duration::from_millis(10)));
    assert_eq!(drained.cut, 1);
    assert_eq!(peer.receives_to_the_end(), "");
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    let first = Server::bind("127.0.0.1:0")
        .serve(service(async |_| Response::new(Body::empty())))
        .unwrap();
    let error = Server::bind(first.local_addr())
        .serve(service(async |_| Response::new(Body::empty())))
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&first.local_addr().to_string()), "{text}");
    assert!(text.contains("in use"), "{text}");
    assert!(text.contains("stop it or take another port"), "{text}");
}

#[test]
fn the_counters_report_connections_requests_and_violations() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |_| Response::new(Body::empty())))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.receives_until("\r\n\r\n");
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n");
    let answer = peer.receives_to_the_end();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    let metrics = running.metrics();
    assert_eq!(metrics.connections_accepted, 1);
    assert_eq!(metrics.requests_h1, 1);
    assert_eq!(metrics.requests_h2, 0);
}

#[test]
fn several_workers_share_a_port() {
    let running = Server::bind("127.0.0.1:0")
        .workers(2)
        .serve(service(async |_| {
            let mut response = Response::new(Body::full("w"));
            *response.status_mut() = StatusCode::ACCEPTED;
            response
        }))
        .unwrap();
    for _ in 0..16 {
        let mut peer = Peer::connect(running.local_addr());
        peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        assert!(peer.receives_until("w").starts_with("HTTP/1.1 202 "));
    }
    assert_eq!(running.metrics().connections_accepted, 16);
}

#[test]
fn a_handler_that_answers_101_gets_the_bytes_of_the_connection() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |mut request: Request<Body>| {
            let upgrade = trunkline::upgrade::on(&mut request);
            tokio::task::spawn_local(async move {
                let mut tunnel = upgrade.await.unwrap();
                let mut received = [0; 5];
                tunnel.read_exact(&mut received).await.unwrap();
                received.reverse();
                tunnel.write_all(&received).await.unwrap();
                tunnel.shutdown().await.unwrap();
            });
            Response::builder()
                .status(StatusCode::SWITCHING_PROTOCOLS)
                .header("connection", "upgrade")
                .header("upgrade", "backwards")
                .body(Body::empty())
                .unwrap()
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: backwards\r\n\r\nab");
    let answer = peer.receives_until("\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    peer.sends("cde");
    assert_eq!(peer.receives_to_the_end(), "edcba");
}

#[test]
fn an_h2c_upgrade_is_an_ordinary_request_and_what_follows_is_http_1_1() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            Response::new(Body::full(request.uri().path().to_owned()))
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    // RFC 9113 section 3.1: obsolete; a client that follows it here would read the next request otherwise
    // than a proxy in front does.
    peer.sends(
        "GET /first HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\n\
         upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n",
    );
    let received = peer.receives_until("/first");
    assert!(received.starts_with("HTTP/1.1 200 "), "{received}");
    peer.sends("GET /second HTTP/1.1\r\nhost: a\r\n\r\n");
    let received = peer.receives_until("/second");
    assert!(received.starts_with("HTTP/1.1 200 "), "{received}");
    // The preface on a connection that speaks HTTP/1.1 already is no request.
    peer.sends("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    let received = peer.receives_to_the_end();
    assert!(received.starts_with("HTTP/1.1 "), "{received}");
    assert!(!received.starts_with("HTTP/1.1 200"), "{received}");
    let metrics = running.metrics();
    assert_eq!((metrics.requests_h1, metrics.requests_h2), (2, 0));
    assert_eq!(metrics.violations.len(), 1);
}

#[test]
fn a_request_that_comes_again_is_the_same_and_one_that_differs_in_a_byte_is_not() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |mut request: Request<Body>| {
            let seen = request.headers().len();
            // A handler's changes to its request do not reach the next one.
            request.headers_mut().clear();
            let agent = request.headers().get("user-agent").is_some();
            let path = request.uri().path().to_owned();
            Response::new(Full::new(Bytes::from(format!("{path} {seen} {agent}!"))))
        }))
        .unwrap();
    let mut peer = Peer::connect(running.local_addr());
    for path in [
        "/a", "/a", "/a", "/a", "/b", "/a", "/b", "/b", "/c", "/a", "/a",
    ] {
        peer.sends(format!(
            "GET {path} HTTP/1.1\r\nhost: a\r\nuser-agent: test\r\n\r\n"
        ));
        let answer = peer.receives_until("!");
        assert!(answer.ends_with(&format!("{path} 2 false!")), "{answer}");
    }
    peer.sends("GET /a HTTP/1.1\r\nhost: a\r\nuser-agent: test\r\nx: y\r\n\r\n");
    let answer = peer.receives_until("!");
    assert!(answer.ends_with("/a 3 false!"), "{answer}");
}
