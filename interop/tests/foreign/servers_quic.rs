//! Our client over HTTP/3 with the servers of quic-go and aioquic.

use crate::way::{Way, read, run, ten_mebibytes};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Version};
use http_body_util::BodyExt;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trunkline::client::{Client, ClientBuilder, ClientTls, HealthTimes, Protocols};
use trunkline::upgrade::Protocol;
use trunkline::{Body, Datagrams, ErrorKind};
use trunkline_interop::{Certificate, QuicPeer, QuicStack, Workplace};

struct Stage {
    stack: QuicStack,
    peer: QuicPeer,
    certificate: Certificate,
    _workplace: Workplace,
}

impl Stage {
    fn client(&self) -> Client {
        Way::H3.client(&self.certificate)
    }
    fn url(&self, path: &str) -> String {
        Way::H3.url_at(self.peer.port, path)
    }
    async fn get(&self, client: &Client, path: &str) -> Bytes {
        let response = client.get(self.url(path)).send().await;
        let response = response.unwrap_or_else(|why| panic!("{:?} {path}: {why:?}", self.stack));
        assert_eq!(response.status(), StatusCode::OK, "{:?} {path}", self.stack);
        assert_eq!(response.version(), Version::HTTP_3);
        read(response.into_body()).await.0
    }
}

/// Carries a test out with every server that is there.
fn with_each<F: Future<Output = ()>>(flags: &[&str], test: impl Fn(Stage) -> F) {
    with_those(|stack| stack.is_installed(), flags, test);
}

/// As `with_each`, for the stacks that `are_there` selects.
fn with_those<F: Future<Output = ()>>(
    are_there: impl Fn(&QuicStack) -> bool,
    flags: &[&str],
    test: impl Fn(Stage) -> F,
) {
    for stack in QuicStack::ALL.into_iter().filter(are_there) {
        let workplace = Workplace::new().unwrap();
        let certificate = Certificate::write(workplace.path()).unwrap();
        let peer = stack.serve(&workplace, &certificate, flags).unwrap();
        run(test(Stage {
            stack,
            peer,
            certificate,
            _workplace: workplace,
        }));
    }
}

#[test]
fn a_quic_server_answers_get_and_head_over_http3() {
    with_each(&[], |stage| async move {
        let client = stage.client();
        assert_eq!(stage.get(&client, "/version").await, "HTTP/3.0");
        assert_eq!(stage.get(&client, "/bytes/1024").await.len(), 1024);
        let head = client.head(stage.url("/bytes/1024")).send().await.unwrap();
        assert_eq!(head.headers()["content-length"], "1024");
        assert!(read(head.into_body()).await.0.is_empty());
    });
}

#[test]
fn a_quic_server_echoes_ten_mebibytes() {
    with_each(&[], |stage| async move {
        let post = stage.client().post(stage.url("/echo"));
        let echo = post.body(ten_mebibytes()).send().await.unwrap();
        let same = read(echo.into_body()).await.0 == ten_mebibytes();
        assert!(same, "{:?}: the bytes came back changed", stage.stack);
    });
}

#[test]
fn trailers_go_both_ways_with_a_quic_server() {
    with_each(&[], |stage| async move {
        let (mut sender, body) = Body::channel();
        let sending = tokio::spawn(async move {
            sender.send(Bytes::from_static(b"body")).await.unwrap();
            let mut trailers = HeaderMap::new();
            trailers.insert("x-sent", HeaderValue::from_static("ours"));
            sender.finish_with(trailers);
        });
        let post = stage.client().post(stage.url("/trailers"));
        // RFC 9110 section 6.6.2: Go keeps only trailers that were announced.
        let request = post.header("trailer", "x-sent").body(body);
        let (body, trailers) = read(request.send().await.unwrap().into_body()).await;
        sending.await.unwrap();
        assert_eq!(body, "body", "{:?}", stage.stack);
        assert_eq!(trailers["x-heard"], "ours", "{:?}", stage.stack);
        assert_eq!(trailers["x-sum"], "42", "{:?}", stage.stack);
    });
}

#[test]
fn an_early_hint_of_a_quic_server_arrives_before_the_response() {
    with_each(&[], |stage| async move {
        let received = Arc::new(Mutex::new(Vec::new()));
        let note = Arc::clone(&received);
        let client = stage.client();
        let request = client.get(stage.url("/early")).on_interim(move |interim| {
            let link = interim.headers()["link"].clone();
            note.lock().unwrap().push((interim.status(), link));
        });
        let response = request.send().await.unwrap();
        assert!(!response.headers().contains_key("link"));
        assert_eq!(read(response.into_body()).await.0, "done");
        let link = HeaderValue::from_static("</style.css>; rel=preload");
        let hints = received.lock().unwrap().clone();
        assert_eq!(
            hints,
            [(StatusCode::EARLY_HINTS, link)],
            "{:?}",
            stage.stack
        );
    });
}

/// How many connections the client has.
fn connections(client: &Client) -> u32 {
    client.stats().iter().map(|origin| origin.connections).sum()
}

#[test]
fn a_response_that_a_quic_server_resets_is_an_error_and_never_a_short_body() {
    with_each(&[], |stage| async move {
        let client = stage.client();
        // A reset may overtake the head (RFC 9000 section 3.2).
        let error = match client.get(stage.url("/reset")).send().await {
            Ok(response) => response.into_body().collect().await.unwrap_err(),
            Err(error) => error,
        };
        let is_reset = matches!(error.kind(), ErrorKind::StreamReset(_));
        assert!(is_reset, "{:?}: {error:?}", stage.stack);
        stage.get(&client, "/version").await;
        assert_eq!(connections(&client), 1, "only the stream ended");
    });
}

#[test]
fn a_quic_server_learns_that_we_give_a_request_up() {
    with_each(&[], |stage| async move {
        let client = stage.client();
        let response = client.get(stage.url("/never")).send().await.unwrap();
        drop(response);
        assert_eq!(
            stage.get(&client, "/gone").await,
            "gone",
            "{:?}",
            stage.stack
        );
        assert_eq!(connections(&client), 1, "{:?}", stage.stack);
    });
}

#[test]
fn an_upload_that_a_quic_server_refuses_still_gets_its_answer() {
    with_each(&[], |stage| async move {
        let client = stage.client();
        let post = client.post(stage.url("/refuse")).body(ten_mebibytes());
        let response = post.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
        stage.get(&client, "/version").await;
        assert_eq!(connections(&client), 1, "{:?}", stage.stack);
    });
}

#[test]
fn a_quic_server_that_asks_for_proof_of_our_address_gets_it() {
    with_each(&["retry"], |stage| async move {
        assert_eq!(stage.get(&stage.client(), "/version").await, "HTTP/3.0");
    });
}

#[test]
fn a_quic_server_takes_a_request_with_the_handshake() {
    with_each(&["early"], |stage| async move {
        let builder = Way::H3.client_builder(&stage.certificate);
        let builder = builder.requests_per_connection(Some(1));
        let client = builder.early_data(true).build().unwrap();
        assert_eq!(stage.get(&client, "/when").await, "late", "the first");
        assert_eq!(stage.get(&client, "/when").await, "early");
        let post = client.post(stage.url("/when")).send().await.unwrap();
        let post = read(post.into_body()).await.0;
        if stage.stack == QuicStack::Aioquic {
            // quic-go says it of the connection and not of the request.
            assert_eq!(post, "late");
        }
        let counts = client.early_data();
        assert_eq!((counts.sent, counts.rejected), (1, 0));
    });
}

#[test]
fn a_quic_server_sends_our_datagrams_back() {
    let is_there = |stack: &QuicStack| *stack == QuicStack::Aioquic && stack.is_installed();
    with_those(is_there, &["datagrams"], |stage| async move {
        let builder = Way::H3.client_builder(&stage.certificate);
        let client = builder.datagrams(true).build().unwrap();
        let (mut up, body) = Body::channel();
        let mut request = Request::connect(stage.url("/datagrams"))
            .body(body)
            .unwrap();
        let protocol = Protocol::new("connect-udp");
        request.extensions_mut().insert(protocol);
        let response = client.execute(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let datagrams = response.extensions().get::<Datagrams>().cloned().unwrap();
        // aioquic's packets have 1,200 bytes, whatever the path takes.
        let large = vec![7; 1000];
        assert!(datagrams.size_max().unwrap() >= large.len());
        for datagram in [&b""[..], b"ping", &large] {
            datagrams.send(datagram.to_vec()).unwrap();
            assert_eq!(datagrams.receive().await.as_deref(), Some(datagram));
        }
        up.send("bytes").await.unwrap();
        up.finish();
        assert_eq!(read(response.into_body()).await.0, "bytes");
        assert_eq!(datagrams.receive().await, None, "the tunnel is over");
    });
}

#[test]
fn requests_move_on_when_a_quic_server_says_goaway() {
    with_each(&[], |stage| async move {
        let client = stage.client();
        // Every twentieth request is the last of its connection. Three of them hand a request back
        // three times at most, and that is how often it is sent again.
        let path = |number: u32| match number % 20 {
            3 => "/last",
            _ => "/bytes/1024",
        };
        let requests: Vec<_> = (0..60)
            .map(|number| tokio::spawn(client.get(stage.url(path(number))).send()))
            .collect();
        for (number, request) in requests.into_iter().enumerate() {
            let response = request.await.unwrap();
            let response =
                response.unwrap_or_else(|why| panic!("{:?} {number}: {why:?}", stage.stack));
            assert_eq!(response.status(), StatusCode::OK, "{number}");
            read(response.into_body()).await;
        }
    });
}

#[test]
fn a_server_that_takes_new_keys_is_followed() {
    with_each(&[], |stage| async move {
        let client = stage.client();
        if stage.stack == QuicStack::Aioquic {
            for _ in 0..5 {
                assert_eq!(stage.get(&client, "/keys").await, "new keys");
                assert_eq!(stage.get(&client, "/bytes/1024").await.len(), 1024);
            }
        } else {
            // quic-go takes new ones after a hundred packets, by itself.
            for _ in 0..150 {
                assert_eq!(stage.get(&client, "/bytes/1024").await.len(), 1024);
            }
        }
        assert_eq!(connections(&client), 1, "{:?}", stage.stack);
    });
}

/// Our client with enough connections for this many requests in flight.
fn wide(stage: &Stage, connections: u32, streams: u32) -> ClientBuilder {
    let root = stage.certificate.der.clone().into();
    Client::builder()
        .protocols(Protocols::H3Only)
        .tls(ClientTls::new().root(root).only_given_roots())
        .resolve("localhost", [([127, 0, 0, 1], 0).into()])
        .connections(connections)
        .max_concurrent_streams(streams)
        // Connections wait for each other's turns of a slow machine, which is no reason to give one up.
        .health(
            HealthTimes::default()
                .with_dead(Duration::from_secs(600))
                .with_unanswered(None),
        )
}

#[test]
fn sixty_four_connections_of_ours_with_thirty_two_streams_each_are_all_answered() {
    with_each(&[], |stage| async move {
        // aioquic is slow: what it shows with fewer it would show with more.
        let (width, requests) = match stage.stack {
            QuicStack::QuicGo => (64, 6400),
            QuicStack::Aioquic => (4, 400),
        };
        let client = wide(&stage, width, 32).build().unwrap();
        let in_flight = width * 32;
        let url = stage.url("/bytes/1024");
        let mut workers = Vec::new();
        for worker in 0..in_flight {
            let (client, url) = (client.clone(), url.clone());
            workers.push(tokio::spawn(async move {
                let mut answers: HashMap<StatusCode, u32> = HashMap::new();
                for _ in (worker..requests).step_by(in_flight as usize) {
                    let response = client.get(&url).send().await.unwrap();
                    let status = response.status();
                    assert_eq!(read(response.into_body()).await.0.len(), 1024);
                    *answers.entry(status).or_default() += 1;
                }
                answers
            }));
        }
        let mut answered = 0;
        for worker in workers {
            answered += worker.await.unwrap().remove(&StatusCode::OK).unwrap_or(0);
        }
        assert_eq!(answered, requests, "{:?}", stage.stack);
        assert!(connections(&client) <= width, "{:?}", stage.stack);
    });
}

#[test]
fn what_quic_go_says_over_tcp_leads_to_http3() {
    with_each(&[], |stage| async move {
        if stage.stack == QuicStack::Aioquic {
            return;
        }
        let client = wide(&stage, 16, 100).protocols(Protocols::All);
        let client = client.build().unwrap();
        let first = client.get(stage.url("/version")).send().await.unwrap();
        assert_eq!(read(first.into_body()).await.0, "HTTP/2.0");
        let second = client.get(stage.url("/version")).send().await.unwrap();
        assert_eq!(read(second.into_body()).await.0, "HTTP/3.0");
    });
}
