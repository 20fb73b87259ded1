//! `expect: 100-continue` (RFC 9110 section 10.1.1): whom a body waits for, and for how long.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

#[path = "support/frames.rs"]
mod frames;
#[path = "support/origin.rs"]
mod origin;
#[path = "support/peer.rs"]
mod support;

use frames::{FramePeer, Heard, finished};
use http::Response;
use origin::{Origin, Speaks, run};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use trunkline::client::{Client, ClientTimeouts, Protocols};
use trunkline::core::error::{Misuse, Violation};
use trunkline::{Body, ErrorKind};

/// Longer than any of these tests may take.
const FOR_EVER: Option<Duration> = Some(Duration::from_secs(3600));

fn client(protocols: Protocols, expect: Option<Duration>) -> Client {
    let timeouts = ClientTimeouts {
        expect,
        ..ClientTimeouts::default()
    };
    let builder = Client::builder().protocols(protocols).connections(1);
    builder.timeouts(timeouts).build().unwrap()
}

fn post(client: &Client, url: &str) -> trunkline::client::ResponseFuture {
    let request = client.post(url).header("expect", "100-continue");
    request.body("hello").send()
}

/// What comes up to and with `end`.
fn hears_until(socket: &mut TcpStream, end: &str) -> String {
    let mut heard = Vec::new();
    while !heard.ends_with(end.as_bytes()) {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        heard.push(byte[0]);
    }
    String::from_utf8(heard).unwrap()
}

#[test]
fn on_http_2_a_body_waits_for_the_100() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&peers);
            peer.settings(&[]);
            let stream = peer.hears_request();
            peer.hears_every_ack();
            assert!(peer.is_silent(), "nobody asked for the body");
            peer.invites(stream);
            assert_eq!(peer.hears_data(), b"hello");
            peer.answers(stream);
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 200);
        finished(peer).await;
    });
}

#[test]
fn on_http_1_1_a_body_waits_for_the_100() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let (mut socket, _) = peers.accept().unwrap();
            let head = hears_until(&mut socket, "\r\n\r\n");
            assert!(head.contains("expect: 100-continue\r\n"), "{head}");
            socket.set_nonblocking(true).unwrap();
            assert!(socket.read(&mut [0]).is_err(), "nobody asked for the body");
            socket.set_nonblocking(false).unwrap();
            socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
            hears_until(&mut socket, "hello");
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
            socket.write_all(answer).unwrap();
        });
        let client = client(Protocols::H1Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 204);
        finished(peer).await;
    });
}

#[test]
fn a_body_that_nobody_asks_for_is_sent_when_the_wait_is_over_and_not_before() {
    const WAIT: Duration = Duration::from_millis(30);
    run(async {
        let (url, peers) = frames::listen();
        let began = Instant::now();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&peers);
            peer.settings(&[]);
            let stream = peer.hears_request();
            assert_eq!(peer.hears_data(), b"hello");
            let waited = began.elapsed();
            peer.answers(stream);
            waited
        });
        let client = client(Protocols::H2Only, Some(WAIT));
        assert_eq!(post(&client, &url).await.unwrap().status(), 200);
        let waited = finished(peer).await;
        assert!(waited >= WAIT, "{waited:?}");
    });
}

#[test]
fn without_a_wait_the_body_follows_its_head() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&peers);
            peer.settings(&[]);
            let stream = peer.hears_request();
            assert_eq!(peer.hears_data(), b"hello");
            peer.answers(stream);
        });
        let client = client(Protocols::H2Only, None);
        assert_eq!(post(&client, &url).await.unwrap().status(), 200);
        finished(peer).await;
    });
}

#[test]
fn a_body_that_the_peer_declines_is_never_sent() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&peers);
            peer.settings(&[]);
            let declined = peer.hears_request();
            peer.declines(declined);
            // RFC 9113 section 7: CANCEL.
            assert_eq!(peer.hears_next(), Heard::Reset(declined, 8));
            let next = peer.hears_request();
            peer.answers(next);
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 417);
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        assert_eq!(client.totals().connections, 1);
        finished(peer).await;
    });
}

#[test]
fn on_http_1_1_a_declined_body_costs_the_connection_because_its_head_announced_it() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let declines = b"HTTP/1.1 417 Expectation Failed\r\ncontent-length: 0\r\n\r\n";
            let (mut socket, _) = peers.accept().unwrap();
            hears_until(&mut socket, "\r\n\r\n");
            socket.write_all(declines).unwrap();
            let mut rest = Vec::new();
            socket.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"", "nothing but the end");
        });
        let client = client(Protocols::H1Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 417);
        finished(peer).await;
    });
}

#[test]
fn a_success_without_100_wants_the_body_still() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&peers);
            peer.settings(&[]);
            let stream = peer.hears_request();
            peer.answers_in_part(stream);
            assert_eq!(peer.hears_data(), b"hello");
            peer.ends(stream);
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 200);
        finished(peer).await;
    });
}

#[test]
fn trace_with_a_body_is_refused_at_once() {
    run(async {
        let trace = http::Request::builder()
            .method("TRACE")
            .uri("http://localhost:1/");
        let trace = trace.body(Body::full("a secret")).unwrap();
        let error = Client::new().request(trace).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{error}");
        assert!(error.to_string().contains("TRACE"), "{error}");
    });
}

#[test]
fn te_says_no_chunked() {
    run(async {
        let client = Client::builder().protocols(Protocols::H1Only);
        let request = client.build().unwrap().get("http://localhost:1/");
        let error = request.header("te", "chunked").send().await.unwrap_err();
        let refused = Misuse::Invalid(Violation::TeForbidden);
        assert_eq!(error.kind(), ErrorKind::Message(refused), "{error}");
    });
}

#[test]
fn an_expectation_without_a_body_is_not_said() {
    run(async {
        let origin = Origin::start(Speaks::Plain, 100, |request| async move {
            let said = request.headers().contains_key("expect");
            Response::new(Body::full(if said { "said" } else { "unsaid" }))
        });
        let client = origin.client().build().unwrap();
        let request = client.get(origin.url("/")).header("expect", "100-continue");
        let body = request.send().await.unwrap().into_body();
        let body = http_body_util::BodyExt::collect(body).await.unwrap();
        assert_eq!(body.to_bytes(), "unsaid");
    });
}
