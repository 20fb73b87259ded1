//! Lost requests that a client sends again, and connections that it trusts: with peers that
//! are scripted frame by frame.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::frames;
use crate::support::frames::{FramePeer, Received, finished};
use crate::support::origin::{Origin, Speaks, begun, run};
use http::{Request, Response};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use trunkline::client::{
    Client, ClientBuilder, ClientTimeouts, ConnectionListener, ConnectionUse, HealthTimes, Hold,
    PriorityClass, Protocols, Rank, WaitReason,
};
use trunkline::core::http::Version;
use trunkline::core::pool;
use trunkline::{Body, Error, ErrorKind, Retry};

fn h2() -> ClientBuilder {
    Client::builder()
        .protocols(Protocols::H2Only)
        .connections(1)
}

/// A peer that answers one request and dies under the next; then, on another connection, answers
/// what comes until the client leaves.
fn dies_under_the_second(listener: TcpListener) -> std::thread::JoinHandle<u32> {
    std::thread::spawn(move || {
        let mut peer = FramePeer::accept(&listener);
        peer.settings(&[]);
        let first = peer.receives_request();
        peer.answers(first);
        peer.receives_request();
        drop(peer);
        listener.set_nonblocking(false).unwrap();
        let mut peer = FramePeer::accept(&listener);
        peer.settings(&[]);
        let mut answered = 0;
        while let Received::Request(stream) = peer.receives_more() {
            peer.answers(stream);
            answered += 1;
        }
        answered
    })
}

#[test]
fn a_get_that_died_with_a_used_connection_is_sent_again_if_that_is_allowed() {
    run(async {
        let (url, listener) = frames::listen();
        let peer = dies_under_the_second(listener);
        let client = h2().retry_lost(true).build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        assert_eq!(client.totals().retries_lost, 1);
        drop(client);
        assert_eq!(finished(peer).await, 1);
    });
}

#[test]
fn a_request_that_was_lost_and_then_finds_nobody_may_have_been_processed() {
    run(async {
        let (url, listener) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&listener);
            peer.settings(&[]);
            let first = peer.receives_request();
            peer.answers(first);
            peer.receives_request();
            // The port has no listener any more when the connection dies.
            drop(listener);
        });
        let client = h2().retry_lost(true).build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        let error = client.get(&url).send().await.unwrap_err();
        finished(peer).await;
        assert_eq!(error.kind(), ErrorKind::Connect, "{error:?}");
        assert_eq!(error.retry(), Retry::OnlyIfIdempotent);
        assert!(error.was_sent());
        assert_eq!(sent(&error).matches("no connection to").count(), 1);
        // A request that was never sent can go anywhere.
        let error = client.get(&url).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect, "{error:?}");
        assert_eq!(error.retry(), Retry::Safe);
        assert!(!error.was_sent());
    });
}

/// An error and its causes.
fn sent(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", sent(source)),
        None => error.to_string(),
    }
}

#[test]
fn a_post_that_died_with_its_connection_is_never_sent_again() {
    run(async {
        let (url, listener) = frames::listen();
        let peer = dies_under_the_second(listener);
        let client = h2().retry_lost(true).build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        let error = client.post(&url).body("once").send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
        assert_eq!(error.attempts().len(), 1);
        assert_eq!(client.totals().retries_lost, 0);
        // The peer waits for the client to connect again: another request does.
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        drop(client);
        assert_eq!(finished(peer).await, 1);
    });
}

#[test]
fn a_refused_stream_is_not_sent_again_when_a_part_of_its_body_was_read() {
    run(async {
        let (url, peer) = frames::scripted(move |mut peer| {
            let first = peer.receives_request();
            // Behind the answer to its own PING, the first piece of the body is on the wire.
            assert!(peer.is_quiet());
            peer.refuses(first);
            while peer.receives() != Received::End {}
        });
        let client = h2().build().unwrap();
        let (mut sender, body) = Body::channel();
        sender.send("a part").await.unwrap();
        let error = client.post(&url).body(body).send().await.unwrap_err();
        assert_eq!(error.retry(), Retry::Safe, "nothing was processed");
        assert_eq!(error.tries(), 1, "but nobody has the body any more");
        drop(sender);
        drop(client);
        finished(peer).await;
    });
}

#[test]
fn a_streaming_body_of_which_nothing_was_read_can_go_elsewhere() {
    run(async {
        let (report, reported) = tokio::sync::oneshot::channel();
        let (url, peer) = frames::scripted(move |mut peer| {
            let first = peer.receives_request();
            peer.refuses(first);
            let second = peer.receives_request();
            report.send(()).unwrap();
            peer.answers(second);
            while peer.receives() != Received::End {}
        });
        let client = h2().build().unwrap();
        let (mut sender, body) = Body::channel();
        let response = client.post(&url).body(body).send();
        let feed = async {
            reported.await.unwrap();
            sender.send("all of it").await.unwrap();
            sender.finish();
        };
        let (response, ()) = tokio::join!(response, feed);
        assert_eq!(response.unwrap().status(), 200);
        drop(client);
        finished(peer).await;
    });
}

#[test]
fn a_misdirected_request_is_sent_once_more_on_another_connection() {
    run(async {
        let (url, listener) = frames::listen();
        let peer = std::thread::spawn(move || {
            for answer in [421, 200, 421, 421] {
                let mut peer = FramePeer::accept(&listener);
                peer.settings(&[]);
                let stream = peer.receives_request();
                match answer {
                    421 => peer.misdirects(stream),
                    _ => peer.answers(stream),
                }
                if answer == 200 {
                    let next = peer.receives_request();
                    peer.misdirects(next);
                    while peer.receives() != Received::End {}
                    continue;
                }
                while peer.receives() != Received::End {}
            }
        });
        let client = h2().build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        let twice = client.get(&url).send().await.unwrap();
        assert_eq!(twice.status(), 421, "the second one is the user's");
        drop(twice);
        drop(client);
        // The script has one more connection than the client opens.
        let _ = tokio::task::spawn_blocking(move || drop(peer)).await;
    });
}

#[test]
fn a_peer_that_is_silent_after_a_quiet_time_is_replaced() {
    run(async {
        let (url, listener) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut dead = FramePeer::accept(&listener);
            dead.settings(&[]);
            // A slow start counts as quiet, too.
            let first = loop {
                match dead.receives_more() {
                    Received::Request(stream) => break stream,
                    Received::Ping => dead.pongs(),
                    other => panic!("{other:?}"),
                }
            };
            dead.answers(first);
            assert_eq!(
                dead.receives_more(),
                Received::Ping,
                "with the next request"
            );
            let second = dead.receives_more();
            assert!(matches!(second, Received::Request(_)), "{second:?}");
            // It says nothing any more. The third request comes on another connection.
            let mut alive = FramePeer::accept(&listener);
            alive.settings(&[]);
            loop {
                match alive.receives_more() {
                    Received::Request(stream) => alive.answers(stream),
                    Received::Ping => alive.pongs(),
                    _ => break,
                }
            }
            drop(dead);
        });
        let times = HealthTimes::default()
            .with_quiet(Duration::from_millis(1))
            .with_suspect(Duration::from_secs(1))
            .with_dead(Duration::from_secs(4));
        let client = h2().health(times.clone()).build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        // The quiet time itself: it is never over earlier.
        tokio::time::sleep(times.quiet).await;
        let lost = tokio::spawn(client.get(&url).send());
        // On a busy machine it may have been suspected and given up between two looks.
        while client.stats()[0].suspect == 0 && !lost.is_finished() {
            tokio::task::yield_now().await;
        }
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        let error = lost.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
        drop(client);
        finished(peer).await;
    });
}

/// Counts the answers to PINGs.
#[derive(Default)]
struct Answers(AtomicUsize);

impl ConnectionListener for Answers {
    fn opening(&self, _: &pool::Origin) {}
    fn opened(&self, _: &pool::Origin, _: &ConnectionUse, _: Version) -> Option<Hold> {
        None
    }
    fn failed(&self, _: &pool::Origin, _: &Error) {}
    fn answered(&self, _: &pool::Origin, _: &ConnectionUse, after: Duration) {
        assert!(after < Duration::from_secs(60));
        self.0.fetch_add(1, Ordering::SeqCst);
    }
    fn closed(&self, _: &pool::Origin, _: &ConnectionUse, _: &Error) {}
}

#[test]
fn a_silent_peer_is_asked_though_no_request_needs_it_and_one_that_is_gone_is_buried() {
    run(async {
        let (url, listener) = frames::listen();
        let peer = std::thread::spawn(move || {
            let mut peer = FramePeer::accept(&listener);
            peer.settings(&[]);
            let received = peer.receives_more();
            let Received::Request(stream) = received else {
                panic!("{received:?}");
            };
            peer.answers(stream);
            for _ in 0..3 {
                assert_eq!(peer.receives_more(), Received::Ping);
                peer.pongs();
            }
            // Nothing more comes from it, and it keeps its socket.
            assert_eq!(peer.receives_more(), Received::Ping);
            peer
        });
        let answers = Arc::new(Answers::default());
        let times = HealthTimes::default()
            .with_unasked(Some(Duration::from_millis(10)))
            .with_suspect(Duration::from_secs(1))
            .with_dead(Duration::from_secs(3));
        let listener = Arc::clone(&answers) as Arc<dyn ConnectionListener>;
        let client = h2().health(times).connection_listener(listener);
        let client = client.build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        let connections = || {
            client
                .stats()
                .first()
                .map_or(0, |origin| origin.connections)
        };
        while connections() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(answers.0.load(Ordering::SeqCst), 3);
        drop(finished(peer).await);
    });
}

#[test]
fn an_answer_clears_the_doubt_after_a_change_of_network() {
    run(async {
        // The ping is answered when its doubt was seen.
        let (seen, was_seen) = std::sync::mpsc::channel();
        let (url, peer) = frames::scripted(move |mut peer| {
            let mut pings = 0;
            loop {
                match peer.receives_more() {
                    Received::Request(stream) => peer.answers(stream),
                    Received::Ping => {
                        pings += 1;
                        was_seen.recv().unwrap();
                        peer.pongs();
                    }
                    _ => return pings,
                }
            }
        });
        let client = h2().build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        client.network_changed();
        while client.stats()[0].suspect == 0 {
            tokio::task::yield_now().await;
        }
        seen.send(()).unwrap();
        while client.stats()[0].suspect == 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        assert_eq!(client.totals().connections, 1);
        drop(client);
        assert_eq!(finished(peer).await, 1);
    });
}

#[test]
fn an_h1_connection_that_the_peer_has_closed_unnoticed_gets_no_request() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let answer = |mut socket: TcpStream| {
            let _ = socket.read(&mut [0; 1024]).unwrap();
            let text = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
            socket.write_all(text.as_bytes()).unwrap();
            socket
        };
        // From 1 ms on it is looked at once more.
        let rested = Duration::from_millis(1);
        let times = HealthTimes::default().with_rested(rested);
        let client = Client::builder().health(times).build().unwrap();
        let first = client.post(&url).body("one").send();
        let accepted = std::thread::spawn(move || {
            let socket = answer(frames::accepted(&listener));
            (socket, listener)
        });
        assert_eq!(first.await.unwrap().status(), 200);
        let (socket, listener) = finished(accepted).await;
        // The runtime stands still while the peer closes, so the connection's task has not noticed
        // it.
        drop(socket);
        let closed = Instant::now();
        while closed.elapsed() <= rested {
            std::hint::spin_loop();
        }
        let second = client.post(&url).body("two").send();
        let peer = std::thread::spawn(move || drop(answer(frames::accepted(&listener))));
        assert_eq!(second.await.unwrap().status(), 200);
        finished(peer).await;
    });
}

#[test]
fn warming_up_opens_connections_before_anybody_asks() {
    run(async {
        let origin = Origin::start(Speaks::Tls, 100, |_| async {
            Response::new(Body::full("warm"))
        });
        let client = origin.client().connections(3).build().unwrap();
        assert_eq!(client.warm_up(origin.url("/"), 2).await.unwrap(), 2);
        assert_eq!(origin.sockets(), 2);
        assert_eq!(client.warm_up(origin.url("/"), 2).await.unwrap(), 2);
        assert_eq!(
            client.warm_up(origin.url("/"), 9).await.unwrap(),
            3,
            "the bound"
        );
        client.get(origin.url("/")).send().await.unwrap();
        assert_eq!(origin.sockets(), 3);
        let nowhere = client.warm_up("https://localhost:1/", 1).await;
        assert_eq!(nowhere.unwrap_err().kind(), ErrorKind::Connect);
        let none = client.warm_up(origin.url("/"), 0).await.unwrap_err();
        assert!(none.to_string().contains("at least 1"), "{none}");
    });
}

#[test]
fn a_warm_connection_that_dies_is_opened_again_before_anybody_asks() {
    run(async {
        let (url, listener) = frames::listen();
        let (report, reported) = tokio::sync::oneshot::channel();
        let peer = std::thread::spawn(move || {
            let mut first = FramePeer::accept(&listener);
            first.settings(&[]);
            drop(first);
            let mut second = FramePeer::accept(&listener);
            second.settings(&[]);
            report.send(()).unwrap();
            let stream = second.receives_request();
            second.answers(stream);
            while second.receives() != Received::End {}
        });
        let client = h2().build().unwrap();
        assert_eq!(client.warm_up(&url, 1).await.unwrap(), 1);
        reported.await.unwrap();
        assert_eq!(client.totals().submitted, 0, "nobody has asked");
        assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        assert_eq!(client.totals().connections, 2);
        drop(client);
        finished(peer).await;
    });
}

#[test]
fn the_total_timeout_counts_the_wait_in_line_and_the_class_decides_who_is_next() {
    run(async {
        let gate = Arc::new(Semaphore::new(0));
        let held = Arc::clone(&gate);
        let (report, mut reported) = tokio::sync::mpsc::unbounded_channel();
        let origin = Origin::start(Speaks::TlsH1, 100, move |request: Request<Body>| {
            let held = Arc::clone(&held);
            report.send(request.uri().path().to_owned()).unwrap();
            async move {
                held.acquire().await.unwrap().forget();
                Response::new(Body::empty())
            }
        });
        let client = origin.client().connections(1).build().unwrap();
        let first = tokio::spawn(client.get(origin.url("/first")).send());
        assert_eq!(reported.recv().await.unwrap(), "/first");
        let late = client.get(origin.url("/late"));
        let late = begun(late.timeout(Duration::from_millis(30)).send());
        let background = client.get(origin.url("/background"));
        let background = begun(background.priority_class(PriorityClass::Background).send());
        let rank = Rank {
            class: PriorityClass::Urgent,
            group: 7,
        };
        let urgent = Request::get(origin.url("/urgent")).extension(rank);
        let urgent = begun(client.execute(urgent.body(Body::empty()).unwrap()));
        assert_eq!(urgent.wait_reason(), Some(WaitReason::Capacity));
        assert_eq!(client.waits().len(), 3);
        let error = late.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
        assert!(!error.was_sent());
        gate.add_permits(3);
        first.await.unwrap().unwrap();
        let (urgent, background) = tokio::join!(urgent, background);
        assert_eq!(urgent.unwrap().status(), 200);
        assert_eq!(background.unwrap().status(), 200);
        assert_eq!(reported.recv().await.unwrap(), "/urgent");
        assert_eq!(reported.recv().await.unwrap(), "/background");
    });
}

#[test]
fn settings_out_of_their_range_are_refused_with_name_value_and_range() {
    let of = |builder: ClientBuilder| builder.build().unwrap_err().to_string();
    let zero = Some(Duration::ZERO);
    let wrong = [
        of(Client::builder().idle_timeout(zero)),
        of(Client::builder().connection_age(Some(Duration::from_micros(9)))),
        of(Client::builder().requests_per_connection(Some(0))),
        of(Client::builder().warm_time(Duration::ZERO)),
        of(Client::builder().probe_patience(zero)),
        of(Client::builder().reserve(PriorityClass::Urgent, 10_001)),
        of(Client::builder().connections(2).warm_connections(3)),
        of(Client::builder().health(HealthTimes::default().with_dead(Duration::from_secs(1)))),
        of(Client::builder().timeouts(ClientTimeouts::default().with_queue(zero))),
    ];
    let named = [
        ("idle_timeout is 0ns", "1ms"),
        ("connection_age is 9µs", "1ms"),
        ("requests_per_connection is 0", "at least 1"),
        ("warm_time is 0ns", "1ms"),
        ("probe_patience is 0ns", "1ms"),
        ("reserve for Urgent is 10001", "10000"),
        ("warm_connections is 3", "from 0 to 2"),
        ("health.dead is 1s", "2s"),
        ("timeouts.queue is 0ns", "1ms"),
    ];
    for (text, (value, range)) in wrong.iter().zip(named) {
        assert!(text.contains(value) && text.contains(range), "{text}");
    }
}

/// The target of the next request of a connection; `None`: the client has gone.
fn target(socket: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    socket.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut field = String::new();
    while socket.read_line(&mut field).unwrap() > 2 {
        field.clear();
    }
    line.split(' ').nth(1).map(str::to_owned)
}

#[test]
fn what_was_pipelined_behind_a_request_whose_connection_died_is_sent_again_in_its_order() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let peer = std::thread::spawn(move || {
            let mut first = BufReader::new(frames::accepted(&listener));
            for at in ["/0", "/1", "/2"] {
                assert_eq!(target(&mut first).as_deref(), Some(at));
            }
            first.get_mut().write_all(b"HTTP/1.1 200 OK\r\n").unwrap();
            drop(first);
            let mut second = BufReader::new(frames::accepted(&listener));
            let mut seen = Vec::new();
            while let Some(at) = target(&mut second) {
                seen.push(at);
                let text = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                second.get_mut().write_all(text).unwrap();
            }
            seen
        });
        let builder = Client::builder().connections(1).pipelining(4);
        let client = builder.protocols(Protocols::H1Only).build().unwrap();
        let send =
            |method: http::Method, at: &str| client.request(method, format!("{url}{at}")).send();
        let get = http::Method::GET;
        let (first, second, third, put) = tokio::join!(
            send(get.clone(), "/0"),
            send(get.clone(), "/1"),
            send(get, "/2"),
            // Not among the first three: it changes something.
            send(http::Method::PUT, "/3"),
        );
        assert_eq!(first.unwrap_err().retry(), Retry::OnlyIfIdempotent);
        for response in [second, third, put] {
            assert_eq!(response.unwrap().status(), 200);
        }
        drop(client);
        assert_eq!(finished(peer).await, ["/1", "/2", "/3"]);
    });
}
