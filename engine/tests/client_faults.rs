//! Peers that refuse, leave, die or say nothing: every request settles, exactly once, and none is
//! delivered twice unless it was provably not processed.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::frames;
use crate::support::frames::{FramePeer, Received, finished};
use crate::support::origin::{Origin, Speaks, begun, run};
use http::Response;
use http_body_util::BodyExt;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use trunkline::client::{Client, ClientTimeouts, Protocols, WaitReason};
use trunkline::{Body, ErrorKind, Retry};
use trunkline_core::error::H2Code;

fn h2_client() -> Client {
    let builder = Client::builder().protocols(Protocols::H2Only);
    builder.connections(1).build().unwrap()
}

#[test]
fn a_refused_stream_is_sent_again_and_answered() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let first = peer.receives_request();
            peer.refuses(first);
            let second = peer.receives_request();
            peer.answers(second);
            (first, second)
        });
        let response = h2_client().post(url).body("once").send().await.unwrap();
        assert_eq!(response.status(), 200);
        let (first, second) = finished(peer).await;
        assert!(second > first);
    });
}

#[test]
fn a_peer_that_refuses_for_ever_is_asked_four_times_on_two_connections() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            [0, 1].map(|_| {
                let mut peer = FramePeer::accept(&peers);
                peer.settings(&[]);
                let mut asked = 0;
                while let Received::Request(stream) = peer.receives_more() {
                    asked += 1;
                    peer.refuses(stream);
                }
                asked
            })
        });
        let client = h2_client();
        let error = client.get(url).send().await.unwrap_err();
        assert_eq!(error.tries(), 4);
        assert_eq!(error.retry(), Retry::Safe, "nothing was processed");
        let attempts = error.attempts();
        let refused = ErrorKind::StreamReset(H2Code::REFUSED_STREAM);
        assert!(attempts.iter().all(|attempt| attempt.ended == refused));
        let on: Vec<u64> = attempts.iter().map(|attempt| attempt.connection).collect();
        assert_eq!(on.len(), 4);
        assert!(on[0] == on[1] && on[2] == on[3] && on[1] != on[2], "{on:?}");
        assert_eq!(client.totals().retries_unprocessed, 3);
        drop(client);
        assert_eq!(finished(peer).await, [2, 2]);
    });
}

#[test]
fn what_a_goaway_leaves_unprocessed_is_sent_on_another_connection() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut old = FramePeer::accept(&peers);
            old.settings(&[]);
            let first = old.receives_request();
            let second = old.receives_request();
            assert_eq!((first, second), (1, 3));
            old.goes_away(first);
            let mut new = FramePeer::accept(&peers);
            new.settings(&[]);
            let again = new.receives_request();
            new.answers(again);
            // The stream below the last id goes on where it is.
            old.answers(first);
        });
        let client = h2_client();
        let first = client.get(format!("{url}first")).send();
        let second = client.get(format!("{url}second")).send();
        let (first, second) = tokio::join!(first, second);
        assert_eq!(first.unwrap().status(), 200);
        assert_eq!(second.unwrap().status(), 200);
        finished(peer).await;
    });
}

#[test]
fn a_connection_that_its_server_has_left_ends_once_nothing_is_open() {
    run(async {
        let (url, peer) = frames::scripted(|mut peer| {
            let stream = peer.receives_request();
            peer.answers_in_part(stream);
            peer.goes_away(stream);
            peer.ends(stream);
            peer.receives_more()
        });
        let client = Client::builder()
            .protocols(Protocols::H2Only)
            .idle_timeout(None)
            .build()
            .unwrap();
        let response = client.get(url).send().await.unwrap();
        assert_eq!(response.into_body().text().await.unwrap(), "a part");
        assert_eq!(finished(peer).await, Received::End);
    });
}

#[test]
fn a_request_that_may_have_been_processed_is_not_sent_again() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&peers);
            peer.settings(&[]);
            peer.receives_request();
            drop(peer);
            peers
        });
        let error = h2_client().get(url).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
        assert_eq!(error.retry(), Retry::OnlyIfIdempotent);
        assert!(error.was_sent());
        let peers = finished(peer).await;
        peers.set_nonblocking(true).unwrap();
        assert!(peers.accept().is_err(), "nobody came back");
    });
}

#[test]
fn a_complete_response_before_a_reset_without_error_is_whole() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            peer.answers_in_part(stream);
            peer.ends(stream);
            peer.resets(stream, 0);
            let next = peer.receives_request();
            peer.answers(next);
        });
        let client = h2_client();
        // The upload never ends by itself.
        let (mut sender, body) = Body::channel();
        let response = client.post(&url).body(body).send().await.unwrap();
        let read = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(read, "a part");
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        finished(peer).await;
        assert!(sender.send("nobody wants it").await.is_err());
    });
}

#[test]
fn the_peers_limit_is_kept_also_when_it_is_lowered() {
    run(async {
        let (url, peers) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&peers);
            peer.settings(&[(3, 2)]);
            let first = peer.receives_request();
            let second = peer.receives_request();
            peer.settings(&[(3, 1)]);
            peer.receives_every_ack();
            peer.answers(first);
            assert!(peer.is_quiet(), "one is open, one is allowed");
            peer.answers(second);
            let third = peer.receives_request();
            peer.answers(third);
            third
        });
        let client = h2_client();
        let requests = [0; 3].map(|_| begun(client.get(&url).send()));
        for request in requests {
            assert_eq!(request.await.unwrap().status(), 200);
        }
        assert_eq!(finished(peer).await, 5);
    });
}

#[test]
fn a_dead_host_fails_everybody_within_one_attempt() {
    run(async {
        // Bound and not listening: no other socket can take the port, and connecting is refused.
        let domain = socket2::Domain::IPV4;
        let socket = socket2::Socket::new(domain, socket2::Type::STREAM, None).unwrap();
        let any: std::net::SocketAddr = ([127, 0, 0, 1], 0).into();
        socket.bind(&any.into()).unwrap();
        let bound = socket.local_addr().unwrap().as_socket().unwrap();
        let port = bound.port();
        let client = h2_client();
        let url = format!("http://127.0.0.1:{port}/");
        let requests: Vec<_> = (0..1000).map(|_| begun(client.get(&url).send())).collect();
        for request in requests {
            let error = request.await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Connect, "{error:?}");
            assert!(!error.was_sent());
            assert_eq!(error.retry(), Retry::Safe);
        }
        assert_eq!(client.totals().attempts, 1);
    });
}

#[test]
fn a_silent_handshake_fails_everybody_after_the_connect_timeout() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let timeouts = ClientTimeouts::default().with_connect(Some(Duration::from_millis(50)));
        let client = Client::builder().timeouts(timeouts).build().unwrap();
        let url = format!("https://127.0.0.1:{port}/");
        let requests: Vec<_> = (0..100).map(|_| begun(client.get(&url).send())).collect();
        for request in requests {
            let error = request.await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Connect, "{error:?}");
            assert!(error.to_string().contains("50ms"), "{error}");
        }
        assert_eq!(client.totals().attempts, 1);
    });
}

#[test]
fn a_request_in_line_can_be_dropped_and_never_reaches_the_server() {
    run(async {
        let gate = Arc::new(Semaphore::new(0));
        let held = Arc::clone(&gate);
        let origin = Origin::start(Speaks::TlsH1, 100, move |_| {
            let held = Arc::clone(&held);
            async move {
                held.acquire().await.unwrap().forget();
                Response::new(Body::full("let go"))
            }
        });
        let client = origin.client().connections(1).build().unwrap();
        let [first, dropped, last] = [0; 3].map(|_| begun(client.get(origin.url("/")).send()));
        assert_eq!(client.stats()[0].waiting, 3);
        drop(dropped);
        assert_eq!(client.stats()[0].waiting, 2, "at once");
        gate.add_permits(2);
        first.await.unwrap().into_body().collect().await.unwrap();
        last.await.unwrap().into_body().collect().await.unwrap();
        assert_eq!(origin.seen.requests(), 2);
    });
}

#[test]
fn a_request_waits_no_longer_than_its_queue_timeout_and_says_for_what() {
    run(async {
        let arrived = Arc::new(Semaphore::new(0));
        let report = Arc::clone(&arrived);
        let origin = Origin::start(Speaks::TlsH1, 100, move |_| {
            report.add_permits(1);
            async {
                std::future::pending::<()>().await;
                Response::new(Body::empty())
            }
        });
        let timeouts = ClientTimeouts::default().with_queue(Some(Duration::from_secs(3)));
        let builder = origin.client().connections(1).timeouts(timeouts);
        let client = builder.build().unwrap();
        let first = tokio::spawn(client.get(origin.url("/")).send());
        let _permit = arrived.acquire().await.unwrap();
        let error = client.get(origin.url("/")).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
        assert_eq!(error.wait_reason(), Some(WaitReason::Capacity), "{error}");
        assert!(!error.was_sent());
        first.abort();
    });
}

#[test]
fn no_response_in_time_is_a_timeout_that_resets_the_stream() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            assert_eq!(peer.receives_more(), Received::Reset(stream, 8), "CANCEL");
        });
        let timeouts = ClientTimeouts::default().with_headers(Some(Duration::from_millis(50)));
        let builder = Client::builder().protocols(Protocols::H2Only);
        let client = builder.timeouts(timeouts).build().unwrap();
        let error = client.get(url).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
        assert!(error.to_string().contains("headers timeout"), "{error}");
        assert!(error.was_sent());
        finished(peer).await;
    });
}

#[test]
fn a_body_whose_source_fails_is_reset_by_a_code_that_no_server_takes_for_its_end() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            let due = Received::Reset(stream, 2);
            assert_eq!(peer.receives_more(), due, "INTERNAL_ERROR");
        });
        let client = h2_client();
        let (mut sender, body) = Body::channel();
        let upload = begun(client.post(&url).body(body).send());
        sender.send("first").await.unwrap();
        drop(sender);
        upload.await.unwrap_err();
        finished(peer).await;
    });
}

#[test]
fn the_headers_timeout_does_not_run_while_the_source_of_the_body_has_no_bytes() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let upload = peer.receives_request();
            let unanswered = peer.receives_request();
            assert_eq!(
                peer.receives_more(),
                Received::Reset(unanswered, 8),
                "CANCEL"
            );
            let mut body = Vec::new();
            while !body.ends_with(b"last") {
                match peer.receives_next() {
                    Received::Data(data) => body.extend(data),
                    Received::Ping => peer.pongs(),
                    other => panic!("{other:?} instead of the rest of the body"),
                }
            }
            peer.answers(upload);
        });
        let timeouts = ClientTimeouts::default().with_headers(Some(Duration::from_millis(50)));
        let builder = Client::builder().protocols(Protocols::H2Only);
        let client = builder.connections(1).timeouts(timeouts).build().unwrap();
        let (mut sender, body) = Body::channel();
        let upload = begun(client.post(&url).body(body).send());
        sender.send("first").await.unwrap();
        // It starts later and has the same time: when that is up, the upload's would be too.
        let error = client.get(&url).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
        sender.send("last").await.unwrap();
        sender.finish();
        assert_eq!(upload.await.unwrap().status(), 200);
        finished(peer).await;
    });
}

#[test]
fn a_body_that_stands_still_is_a_timeout_where_the_head_may_take_as_long_as_it_wants() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            peer.answers_in_part(stream);
            assert_eq!(peer.receives_more(), Received::Reset(stream, 8), "CANCEL");
        });
        let timeouts = ClientTimeouts::default()
            .with_headers(None)
            .with_body(Some(Duration::from_millis(50)));
        let builder = Client::builder().protocols(Protocols::H2Only);
        let client = builder.timeouts(timeouts).build().unwrap();
        let response = client.get(url).send().await.unwrap();
        let body = response.into_body().collect();
        let body = tokio::time::timeout(Duration::from_secs(60), body);
        let error = body.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
        finished(peer).await;
    });
}

#[test]
fn a_total_timeout_covers_the_body_too() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            peer.answers_in_part(stream);
            assert_eq!(peer.receives_more(), Received::Reset(stream, 8), "CANCEL");
        });
        let client = h2_client();
        let request = client.get(url).timeout(Duration::from_secs(2));
        let response = request.send().await.unwrap();
        let error = response.into_body().collect().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
        finished(peer).await;
    });
}

#[test]
fn interim_responses_are_reported_and_the_final_one_follows() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let peer = std::thread::spawn(move || {
            let mut socket = frames::accepted(&listener);
            let mut request = [0; 1024];
            let _ = socket.read(&mut request).unwrap();
            let hints = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n";
            socket.write_all(hints.as_bytes()).unwrap();
            let last = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            socket.write_all(last.as_bytes()).unwrap();
        });
        let (report, mut reported) = tokio::sync::mpsc::unbounded_channel();
        let client = Client::new();
        let request = client.get(format!("http://127.0.0.1:{port}/"));
        let request = request.on_interim(move |response| {
            let link = response.headers()["link"].clone();
            report.send((response.status().as_u16(), link)).unwrap();
        });
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "ok");
        let (status, link) = reported.recv().await.unwrap();
        assert_eq!((status, link.as_bytes()), (103, &b"</a.css>"[..]));
        finished(peer).await;
    });
}

#[test]
fn a_client_that_is_dropped_closes_its_connections() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let stream = peer.receives_request();
            peer.answers(stream);
            while peer.receives() != Received::End {}
        });
        let client = h2_client();
        client.get(url).send().await.unwrap();
        drop(client);
        finished(peer).await;
    });
}

#[test]
fn shutting_down_fails_what_waits_and_refuses_what_comes() {
    run(async {
        let (url, peers) = frames::listen();
        let client = h2_client();
        let waiting = begun(client.get(&url).send());
        client.shut_down();
        let error = waiting.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{error:?}");
        assert!(client.get(&url).send().await.is_err());
        drop(peers);
    });
}
