//! `expect: 100-continue` (RFC 9110 section 10.1.1): whom a body waits for, and for how long.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::frames;
use crate::support::frames::{Received, finished};
use crate::support::origin::{Origin, Speaks, run};
use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use trunkline::client::{Client, ClientTimeouts, Protocols};
use trunkline::{Body, ErrorKind};
use trunkline_core::error::H2Code;

/// Longer than any of these tests may take.
const FOR_EVER: Option<Duration> = Some(Duration::from_secs(3600));

fn client(protocols: Protocols, expect: Option<Duration>) -> Client {
    let timeouts = ClientTimeouts::default().with_expect(expect);
    let builder = Client::builder().protocols(protocols).connections(1);
    builder.timeouts(timeouts).build().unwrap()
}

fn post(client: &Client, url: &str) -> trunkline::client::ResponseFuture {
    let request = client.post(url).header("expect", "100-continue");
    request.body("hello").send()
}

/// A peer of HTTP/1.1 that does with its first connection what `script` says; and its URL.
fn h1_peer(script: impl FnOnce(TcpStream) + Send + 'static) -> (String, JoinHandle<()>) {
    let (url, listener) = frames::listen();
    let peer = std::thread::spawn(move || script(frames::accepted(&listener)));
    (url, peer)
}

/// The received text up to and with `end`.
fn receives_until(socket: &mut TcpStream, end: &str) -> String {
    let mut received = Vec::new();
    while !received.ends_with(end.as_bytes()) {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        received.push(byte[0]);
    }
    String::from_utf8(received).unwrap()
}

#[test]
fn on_http_2_a_body_waits_for_the_100() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            peer.receives_every_ack();
            assert!(peer.is_silent(), "nobody asked for the body");
            peer.invites(stream);
            assert_eq!(peer.receives_data(), b"hello");
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
        let (url, peer) = h1_peer(|mut socket| {
            let head = receives_until(&mut socket, "\r\n\r\n");
            assert!(head.contains("expect: 100-continue\r\n"), "{head}");
            socket.set_nonblocking(true).unwrap();
            assert!(socket.read(&mut [0]).is_err(), "nobody asked for the body");
            socket.set_nonblocking(false).unwrap();
            socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
            receives_until(&mut socket, "hello");
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
            socket.write_all(answer).unwrap();
        });
        let client = client(Protocols::H1Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 204);
        finished(peer).await;
    });
}

/// Sends a request whose body waits for the 100, and turns out to be empty between `received` of its head and `ended`.
async fn post_empty(
    client: &Client,
    url: &str,
    received: oneshot::Receiver<()>,
    ended: mpsc::Sender<()>,
) -> u16 {
    let (sender, body) = Body::channel();
    let request = client.post(url).header("expect", "100-continue").body(body);
    let ends = async {
        received.await.unwrap();
        sender.finish();
        ended.send(()).unwrap();
    };
    let (response, ()) = tokio::join!(request.send(), ends);
    response.unwrap().status().as_u16()
}

#[test]
fn on_http_2_a_body_that_turns_out_to_be_empty_while_it_waits_is_ended() {
    run(async {
        let (received, is_received) = oneshot::channel();
        let (ended, is_ended) = mpsc::channel();
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            received.send(()).unwrap();
            is_ended.recv().unwrap();
            peer.invites(stream);
            assert_eq!(peer.receives_data(), b"");
            peer.answers(stream);
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        let status = post_empty(&client, &url, is_received, ended).await;
        assert_eq!(status, 200);
        finished(peer).await;
    });
}

#[test]
fn on_http_1_1_a_body_that_turns_out_to_be_empty_while_it_waits_is_ended() {
    run(async {
        let (received, is_received) = oneshot::channel();
        let (ended, is_ended) = mpsc::channel();
        let (url, peer) = h1_peer(move |mut socket| {
            receives_until(&mut socket, "\r\n\r\n");
            received.send(()).unwrap();
            is_ended.recv().unwrap();
            socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
            receives_until(&mut socket, "0\r\n\r\n");
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
            socket.write_all(answer).unwrap();
        });
        let client = client(Protocols::H1Only, FOR_EVER);
        let status = post_empty(&client, &url, is_received, ended).await;
        assert_eq!(status, 204);
        finished(peer).await;
    });
}

#[test]
fn a_body_that_nobody_asks_for_is_sent_when_the_wait_is_over_and_not_before() {
    const WAIT: Duration = Duration::from_millis(30);
    run(async {
        let began = Instant::now();
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            assert_eq!(peer.receives_data(), b"hello");
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
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            assert_eq!(peer.receives_data(), b"hello");
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
        let (url, peer) = frames::scripted(move |mut peer| {
            let declined = peer.receives_request();
            peer.declines(declined);
            // RFC 9113 section 7: CANCEL.
            assert_eq!(peer.receives_next(), Received::Reset(declined, 8));
            let next = peer.receives_request();
            peer.answers(next);
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 413);
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        assert_eq!(client.totals().connections, 1);
        finished(peer).await;
    });
}

/// As servers of hyper do whose handlers do not read: RFC 9113 section 8.1.
#[test]
fn a_success_whose_stream_is_reset_in_the_same_read_is_the_response() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            peer.resets_behind(&[0x88], true, stream, 0);
            let next = peer.receives_request();
            peer.answers(next);
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        let response = post(&client, &url).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.into_body().text().await.unwrap(), "");
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        finished(peer).await;
    });
}

#[test]
fn a_reset_in_the_same_read_as_the_100_is_the_error() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            peer.resets_behind(b"\x08\x03100", false, stream, 11);
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        let error = post(&client, &url).await.unwrap_err();
        let reset = ErrorKind::StreamReset(H2Code::ENHANCE_YOUR_CALM);
        assert_eq!(error.kind(), reset, "{error:?}");
        finished(peer).await;
    });
}

#[test]
fn on_http_1_1_a_declined_body_costs_the_connection_because_its_head_announced_it() {
    run(async {
        let (url, peer) = h1_peer(|mut socket| {
            let declines = b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n";
            receives_until(&mut socket, "\r\n\r\n");
            socket.write_all(declines).unwrap();
            let mut rest = Vec::new();
            socket.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"", "nothing but the end");
        });
        let client = client(Protocols::H1Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 413);
        finished(peer).await;
    });
}

#[test]
fn an_answer_that_ends_the_connection_is_the_users_without_the_body() {
    run(async {
        let (url, peer) = h1_peer(|mut socket| {
            receives_until(&mut socket, "\r\n\r\n");
            let answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nearly";
            socket.write_all(answer).unwrap();
            let mut rest = Vec::new();
            socket.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"", "nothing but the end");
        });
        let client = client(Protocols::H1Only, FOR_EVER);
        let response = post(&client, &url).await.unwrap();
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "early");
        finished(peer).await;
    });
}

#[test]
fn what_a_417_answers_goes_out_once_more_and_expects_nothing() {
    run(async {
        let (url, listener) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut first = frames::accepted(&listener);
            let head = receives_until(&mut first, "\r\n\r\n");
            assert!(head.contains("expect: 100-continue\r\n"), "{head}");
            let refuses = b"HTTP/1.1 417 Expectation Failed\r\ncontent-length: 0\r\n\r\n";
            first.write_all(refuses).unwrap();
            let mut rest = Vec::new();
            first.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"", "nothing but the end");
            let mut second = frames::accepted(&listener);
            let again = receives_until(&mut second, "hello");
            assert_eq!(
                again,
                head.replace("expect: 100-continue\r\n", "") + "hello"
            );
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
            second.write_all(answer).unwrap();
        });
        let client = client(Protocols::H1Only, FOR_EVER);
        assert_eq!(post(&client, &url).await.unwrap().status(), 204);
        assert_eq!(client.totals().retries_unprocessed, 1);
        finished(peer).await;
    });
}

#[test]
fn on_http_2_what_a_417_answers_goes_out_again_on_the_same_connection() {
    run(async {
        let (url, peer) = frames::scripted(|mut peer| {
            let refused = peer.receives_request();
            peer.expects_nothing(refused);
            assert_eq!(peer.receives_next(), Received::Reset(refused, 8), "CANCEL");
            let again = peer.receives_request();
            assert_eq!(peer.receives_data(), b"hello", "without an invitation");
            peer.expects_nothing(again);
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        let status = post(&client, &url).await.unwrap().status();
        assert_eq!(status, 417, "a second one is the user's");
        assert_eq!(client.totals().connections, 1);
        finished(peer).await;
    });
}

#[test]
fn a_417_is_the_users_when_nothing_was_expected() {
    run(async {
        let (url, peer) = frames::scripted(|mut peer| {
            let stream = peer.receives_request();
            peer.expects_nothing(stream);
            assert!(peer.is_quiet(), "nobody asks again");
        });
        let client = client(Protocols::H2Only, FOR_EVER);
        let request = client.post(&url).body("hello");
        assert_eq!(request.send().await.unwrap().status(), 417);
        finished(peer).await;
    });
}

#[test]
fn a_417_is_the_users_when_a_part_of_the_body_is_gone() {
    run(async {
        let (url, peer) = frames::scripted(|mut peer| {
            let stream = peer.receives_request();
            assert_eq!(peer.receives_data(), b"a part");
            peer.expects_nothing(stream);
            assert!(peer.is_quiet(), "nobody asks again");
        });
        // No request waits for a 100.
        let client = client(Protocols::H2Only, None);
        let (mut sender, body) = Body::channel();
        sender.send("a part").await.unwrap();
        let request = client.post(&url).header("expect", "100-continue");
        let response = request.body(body).send().await.unwrap();
        assert_eq!(response.status(), 417);
        finished(peer).await;
    });
}

#[test]
fn a_success_without_100_wants_the_body_still() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            peer.answers_in_part(stream);
            assert_eq!(peer.receives_data(), b"hello");
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
        let error = Client::new().execute(trace).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{error}");
        assert!(error.to_string().contains("TRACE"), "{error}");
    });
}

#[test]
fn te_sends_no_chunked() {
    run(async {
        let origin = Origin::start(Speaks::Plain, 100, |request| async move {
            let sent = request.headers().get("te").cloned();
            let sent = sent.map_or(Bytes::from("none"), |te| {
                Bytes::copy_from_slice(te.as_bytes())
            });
            Response::new(Body::full(sent))
        });
        for (protocols, te, sent) in [
            (Protocols::H1Only, "chunked", "none"),
            (Protocols::H1Only, "gzip", "none"),
            (Protocols::H1Only, "trailers", "trailers"),
            (Protocols::H2Only, "chunked", "none"),
            (Protocols::H2Only, "trailers", "trailers"),
        ] {
            let client = origin.client().protocols(protocols).build().unwrap();
            let request = client.get(origin.url("/")).header("te", te);
            let text = request.send().await.unwrap().into_body().text().await;
            assert_eq!(text.unwrap(), sent, "{protocols:?} {te}");
        }
    });
}

#[test]
fn an_expectation_without_a_body_is_not_said() {
    run(async {
        let origin = Origin::start(Speaks::Plain, 100, |request| async move {
            let sent = request.headers().contains_key("expect");
            Response::new(Body::full(if sent { "said" } else { "unsaid" }))
        });
        let client = origin.client().build().unwrap();
        let request = client.get(origin.url("/")).header("expect", "100-continue");
        let body = request.send().await.unwrap().into_body();
        let body = body.collect().await.unwrap();
        assert_eq!(body.to_bytes(), "unsaid");
    });
}
