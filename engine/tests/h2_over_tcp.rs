//! HTTP/2 on the same port, spoken to in frames.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::frame_client as frames;
use crate::support::frame_client::{Frame, FramePeer, GET, kind};
use crate::support::peer;
use crate::support::peer::service;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use std::time::Duration;
use trunkline::upgrade::Protocol;
use trunkline::{Body, Running, Server, ServerConfig, Timeouts};

fn hello() -> Running {
    Server::bind("127.0.0.1:0")
        .serve(service(async |_| {
            Response::new(Full::new(Bytes::from("hi")))
        }))
        .unwrap()
}

#[test]
fn head_and_body_come_as_two_frames_and_the_last_ends_the_stream() {
    let running = hello();
    let mut peer = FramePeer::connect(running.local_addr());
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    let head = peer.receives(kind::HEADERS);
    assert_eq!(
        (head.stream, head.flags & 0x1),
        (1, 0),
        "the head does not end it"
    );
    assert_eq!(head.payload[0], 0x88, "status 200 is one byte");
    let body = peer.receives(kind::DATA);
    assert_eq!(body.payload, b"hi");
    assert_eq!(
        body.flags & 0x1,
        1,
        "END_STREAM is on the last DATA, not behind it"
    );
}

#[test]
fn a_request_is_answered_when_it_comes_byte_by_byte() {
    let running = hello();
    let mut peer = FramePeer::connect_silently(running.local_addr());
    let mut bytes = frames::preface();
    bytes.extend(Frame::new(kind::HEADERS, 0x5, 1, GET).bytes());
    for byte in bytes {
        peer.sends_bytes(&[byte]);
    }
    assert_eq!(peer.receives(kind::DATA).payload, b"hi");
}

#[test]
fn many_requests_in_one_write_are_all_answered() {
    let running = hello();
    let mut peer = FramePeer::connect(running.local_addr());
    let mut bytes = Vec::new();
    for number in 0..50 {
        bytes.extend(Frame::new(kind::HEADERS, 0x5, 2 * number + 1, GET).bytes());
    }
    peer.sends_bytes(&bytes);
    let mut answered: Vec<u32> = (0..50).map(|_| peer.receives(kind::DATA).stream).collect();
    answered.sort_unstable();
    assert!(
        answered
            .into_iter()
            .eq((0..50).map(|number| 2 * number + 1))
    );
    assert_eq!(running.metrics().requests_h2, 50);
}

#[test]
fn a_reset_cancels_the_handler() {
    struct Cancelled(std::sync::mpsc::Sender<()>);
    impl Drop for Cancelled {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let (entered, was_entered) = std::sync::mpsc::channel();
    let (dropped, was_dropped) = std::sync::mpsc::channel();
    let running = Server::bind("127.0.0.1:0")
        .serve(service(move |_| {
            let guard = Cancelled(dropped.clone());
            entered.send(()).unwrap();
            async move {
                let _guard = guard;
                std::future::pending::<Response<Full<Bytes>>>().await
            }
        }))
        .unwrap();
    let mut peer = FramePeer::connect(running.local_addr());
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    was_entered.recv_timeout(Duration::from_secs(60)).unwrap();
    peer.sends(&Frame::new(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]));
    was_dropped.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(running.metrics().violations, []);
}

#[test]
fn a_body_in_two_frames_reaches_the_handler_and_comes_back() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            Response::new(Full::new(body))
        }))
        .unwrap();
    let mut peer = FramePeer::connect(running.local_addr());
    peer.sends(&Frame::new(kind::HEADERS, 0x4, 1, GET));
    peer.sends(&Frame::new(kind::DATA, 0, 1, b"one"));
    peer.sends(&Frame::new(kind::DATA, 0x1, 1, b"two"));
    assert_eq!(peer.receives(kind::DATA).payload, b"onetwo");
}

#[test]
fn a_drain_says_goaway_twice_and_answers_what_came_between() {
    let (release, released) = tokio::sync::watch::channel(false);
    let (entered, was_entered) = std::sync::mpsc::channel();
    let running = Server::bind("127.0.0.1:0")
        .serve(service(move |_| {
            let mut released = released.clone();
            entered.send(()).unwrap();
            async move {
                released.wait_for(|go| *go).await.unwrap();
                Response::new(Full::new(Bytes::from("hi")))
            }
        }))
        .unwrap();
    let mut peer = FramePeer::connect(running.local_addr());
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    was_entered.recv_timeout(Duration::from_secs(60)).unwrap();
    let draining =
        std::thread::spawn(move || peer::block_on(running.drain(Duration::from_secs(30))));
    let first = peer.receives(kind::GOAWAY);
    assert_eq!(
        first.payload[..4],
        [0x7f, 0xff, 0xff, 0xff],
        "all ids still pass"
    );
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    was_entered.recv_timeout(Duration::from_secs(60)).unwrap();
    let ping = peer.receives(kind::PING);
    peer.sends(&Frame::new(kind::PING, 0x1, 0, &ping.payload));
    let last = peer.receives(kind::GOAWAY);
    assert_eq!(last.payload[..4], [0, 0, 0, 3], "both requests finish");
    release.send(true).unwrap();
    assert_eq!(peer.receives(kind::DATA).payload, b"hi");
    assert_eq!(peer.receives(kind::DATA).payload, b"hi");
    drop(peer);
    assert_eq!(draining.join().unwrap().cut, 0);
}

#[test]
fn a_connection_that_its_client_has_left_ends_without_waiting_for_its_idle_time() {
    let timeouts = Timeouts::default().with_idle(None);
    let config = ServerConfig::default().with_timeouts(timeouts);
    let handler = service(async |_| Response::new(Full::new(Bytes::from("hi"))));
    let server = Server::bind("127.0.0.1:0").config(config);
    let running = server.serve(handler).unwrap();
    let mut peer = FramePeer::connect(running.local_addr());
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    assert_eq!(peer.receives(kind::DATA).payload, b"hi");
    peer.sends(&Frame::new(kind::GOAWAY, 0, 0, &[0; 8]));
    let ping = peer.receives(kind::PING);
    peer.sends(&Frame::new(kind::PING, 0x1, 0, &ping.payload));
    peer.receives_the_end();
}

#[test]
fn a_broken_rule_is_counted_by_its_name() {
    let running = hello();
    let mut peer = FramePeer::connect(running.local_addr());
    // RFC 9113 section 6.7: a PING on a stream.
    peer.sends(&Frame::new(kind::PING, 0, 1, &[0; 8]));
    let goaway = peer.receives(kind::GOAWAY);
    assert_eq!(goaway.payload[4..8], [0, 0, 0, 1], "PROTOCOL_ERROR");
    peer.receives_the_end();
    let violations = running.metrics().violations;
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert_eq!(violations[0].1, 1);
}

#[test]
fn a_block_that_comes_again_means_what_the_table_says_now() {
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |request: Request<Body>| {
            let path = request.uri().path().to_owned();
            let agent = request.headers().get("user-agent");
            let agent = agent.map_or("", |agent| agent.to_str().unwrap());
            Response::new(Full::new(Bytes::from(format!("{path} {agent}"))))
        }))
        .unwrap();
    let mut peer = FramePeer::connect(running.local_addr());
    let mut stream = 1;
    let mut asks = |block: &[u8]| {
        peer.sends(&Frame::new(kind::HEADERS, 0x5, stream, block));
        stream += 2;
        String::from_utf8(peer.receives(kind::DATA).payload).unwrap()
    };
    // `GET http://a/`, of which nothing enters the table.
    const ASKED: &[u8] = &[0x82, 0x86, 0x84, 0x01, 0x01, b'a'];
    // `user-agent: one` enters the table as its newest entry, 62.
    let with_new_agent = |agent: &[u8; 3]| [ASKED, &[0x7a, 3], agent].concat();
    let with_newest_entry = [ASKED, &[0xbe]].concat();
    assert_eq!(asks(&with_new_agent(b"one")), "/ one");
    for _ in 0..5 {
        assert_eq!(asks(&with_newest_entry), "/ one");
    }
    assert_eq!(asks(ASKED), "/ ");
    // These bytes name another entry from here on.
    assert_eq!(asks(&with_new_agent(b"two")), "/ two");
    for _ in 0..5 {
        assert_eq!(asks(&with_newest_entry), "/ two");
    }
}

#[test]
fn an_extended_connect_that_comes_again_says_again_what_it_is_for() {
    let config = ServerConfig::default().with_extended_connect(true);
    let running = Server::bind("127.0.0.1:0")
        .config(config)
        .serve(service(async |request: Request<Body>| {
            let protocol = request.extensions().get::<Protocol>();
            let protocol = protocol.map_or("nothing", Protocol::as_str);
            Response::new(Full::new(Bytes::from(protocol.to_owned())))
        }))
        .unwrap();
    let mut peer = FramePeer::connect(running.local_addr());
    // CONNECT, the protocol, http, `/`, `a`: nothing of it enters the table.
    let asked = b"\x02\x07CONNECT\x00\x09:protocol\x09websocket\x86\x84\x01\x01a";
    for stream in (1..15).step_by(2) {
        peer.sends(&Frame::new(kind::HEADERS, 0x5, stream, asked));
        let answer = peer.receives(kind::DATA);
        assert_eq!(
            (answer.stream, &answer.payload[..]),
            (stream, &b"websocket"[..])
        );
    }
}
