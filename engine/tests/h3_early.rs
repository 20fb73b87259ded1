//! Early data: requests that go out with the handshake of a resumed session, and those that must
//! not.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::run;
use crate::support::peer::service;
use crate::support::udp_relay::UdpRelay;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use rustls::pki_types::CertificateDer;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use trunkline::client::{Client, ClientBuilder, ClientTls, Protocols};
use trunkline::{Body, EarlyData, ErrorKind, Running, Server, ServerConfig, Tls};

/// A certificate and its key in files: every server that reads them has sessions of its own.
struct Identity {
    certificate: PathBuf,
    key: PathBuf,
    root: CertificateDer<'static>,
}

fn identity(file: &str) -> Identity {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let certificate = folder.join(format!("{file}.cert.pem"));
    let key = folder.join(format!("{file}.key.pem"));
    std::fs::write(&certificate, signed.cert.pem()).unwrap();
    std::fs::write(&key, signed.signing_key.serialize_pem()).unwrap();
    let root = signed.cert.der().clone();
    Identity {
        certificate,
        key,
        root,
    }
}

impl Identity {
    fn serve<F, U>(&self, early_data: bool, handler: F) -> Running
    where
        F: Fn(Request<Body>) -> U + Clone + Send + 'static,
        U: Future<Output = Response<Body>> + 'static,
    {
        let server = self.server().early_data(early_data);
        server.serve(service(handler)).unwrap()
    }
    fn server(&self) -> Server {
        let tls = Tls::from_pem_files(&self.certificate, &self.key).unwrap();
        Server::bind("127.0.0.1:0").tls(tls).http3(true)
    }
    /// A client whose connections carry one request each.
    fn client(&self, early_data: bool) -> Client {
        self.client_of(early_data, 1)
    }
    fn client_of(&self, early_data: bool, requests_per_connection: u64) -> Client {
        self.client_with(Protocols::H3Only, early_data, requests_per_connection)
    }
    fn client_with(&self, protocols: Protocols, early_data: bool, each: u64) -> Client {
        let builder = self.builder(protocols, each);
        builder.early_data(early_data).build().unwrap()
    }
    fn builder(&self, protocols: Protocols, each: u64) -> ClientBuilder {
        Client::builder()
            .protocols(protocols)
            .resolve("localhost", [([127, 0, 0, 1], 0).into()])
            .tls(ClientTls::new().root(self.root.clone()).only_given_roots())
            .requests_per_connection(Some(each))
    }
}

fn url(running: &Running) -> String {
    format!("https://localhost:{}/", running.local_addr().port())
}

/// Says whether the request was early.
async fn answers_when(request: Request<Body>) -> Response<Body> {
    let is_early = request.extensions().get::<EarlyData>().is_some();
    Response::new(Body::full(if is_early { "early" } else { "late" }))
}

async fn asks(client: &Client, method: Method, url: &str) -> (StatusCode, String) {
    let request = Request::builder().method(method).uri(url);
    let response = client.execute(request.body(Body::empty()).unwrap());
    let response = response.await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn ok(text: &str) -> (StatusCode, String) {
    (StatusCode::OK, text.to_owned())
}

#[test]
fn a_safe_request_goes_out_with_the_handshake_of_a_resumed_session_and_no_other_does() {
    run(async {
        let identity = identity("early");
        let running = identity.serve(true, answers_when);
        let (client, at) = (identity.client(true), url(&running));
        assert_eq!(
            asks(&client, Method::GET, &at).await,
            ok("late"),
            "the first"
        );
        assert_eq!(asks(&client, Method::GET, &at).await, ok("early"));
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            assert_eq!(asks(&client, method, &at).await, ok("late"));
        }
        assert_eq!(asks(&client, Method::OPTIONS, &at).await, ok("early"));
        let counts = client.early_data();
        assert_eq!((counts.sent, counts.rejected, counts.too_early), (2, 0, 0));
        let metrics = running.metrics();
        assert_eq!((metrics.requests_early, metrics.too_early), (2, 0));
    });
}

#[test]
fn in_a_race_with_tcp_a_safe_request_goes_out_with_the_handshake_too() {
    run(async {
        let identity = identity("raced");
        let running = identity.serve(true, answers_when);
        let client = identity.client_with(Protocols::All, true, 1);
        let at = url(&running);
        // Over TCP it learns of HTTP/3, over QUIC it gets its first session.
        for _ in 0..2 {
            assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
        }
        for method in [Method::GET, Method::OPTIONS] {
            assert_eq!(asks(&client, method, &at).await, ok("early"));
        }
        assert_eq!(asks(&client, Method::POST, &at).await, ok("late"));
        assert_eq!(client.early_data().sent, 2);
        let metrics = running.metrics();
        assert_eq!((metrics.requests_h2, metrics.requests_h3), (1, 4));
    });
}

#[test]
fn where_udp_gets_through_no_more_early_requests_go_out_again_over_tcp() {
    run(async {
        let identity = identity("raced_in_vain");
        let port = Arc::new(AtomicU32::new(0));
        let sent = Arc::clone(&port);
        let running = identity.serve(true, move |request| {
            let sent = sent.load(Ordering::Relaxed);
            async move {
                let mut response = answers_when(request).await;
                let sent = HeaderValue::from_str(&format!("h3=\":{sent}\"")).unwrap();
                response.headers_mut().insert("alt-svc", sent);
                response
            }
        });
        let relay = UdpRelay::to(running.local_addr()).await;
        port.store(u32::from(relay.port()), Ordering::Relaxed);
        let client = identity.client_with(Protocols::All, true, 1);
        let at = url(&running);
        for sent in ["late", "late", "early"] {
            assert_eq!(asks(&client, Method::GET, &at).await, ok(sent));
        }
        // It takes everything and answers nothing.
        let hole = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        relay.turn_to(hole.local_addr().unwrap());
        let before = running.metrics();
        for _ in 0..3 {
            assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
        }
        let counts = client.early_data();
        assert_eq!(
            (counts.sent, counts.unanswered),
            (2, 1),
            "then QUIC is left alone"
        );
        let metrics = running.metrics();
        assert_eq!(metrics.requests_h2 - before.requests_h2, 3);
        assert_eq!(metrics.requests_h3, before.requests_h3);
    });
}

#[test]
fn by_default_neither_side_has_early_data() {
    run(async {
        let identity = identity("not_early");
        let willing = identity.serve(true, answers_when);
        let by_default = identity.server().serve(service(answers_when)).unwrap();
        let plain = identity.builder(Protocols::H3Only, 1).build().unwrap();
        for (running, client) in [(willing, plain), (by_default, identity.client(true))] {
            let at = url(&running);
            for _ in 0..3 {
                assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
            }
        }
    });
}

#[test]
fn what_a_handler_finds_too_early_comes_again_after_the_handshake_once() {
    run(async {
        let identity = identity("too_early");
        let asked = Arc::new(AtomicU32::new(0));
        let asking = Arc::clone(&asked);
        let running = identity.serve(true, move |request: Request<Body>| {
            asking.fetch_add(1, Ordering::Relaxed);
            async move {
                let mut response = Response::new(Body::full("handled"));
                if request.extensions().get::<EarlyData>().is_some() {
                    *response.status_mut() = StatusCode::TOO_EARLY;
                }
                response
            }
        });
        let (client, at) = (identity.client(true), url(&running));
        assert_eq!(asks(&client, Method::GET, &at).await, ok("handled"));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!(asks(&client, Method::GET, &at).await, ok("handled"));
        assert_eq!(
            asked.load(Ordering::Relaxed),
            3,
            "early, and after the handshake"
        );
        assert_eq!(client.early_data().too_early, 1);
    });
}

#[test]
fn a_425_that_has_nothing_to_do_with_early_data_is_the_users() {
    run(async {
        let identity = identity("users_425");
        let running = identity.serve(false, async |_| {
            let mut response = Response::new(Body::full("no"));
            *response.status_mut() = StatusCode::TOO_EARLY;
            response
        });
        let (client, at) = (identity.client(true), url(&running));
        let answer = asks(&client, Method::GET, &at).await;
        assert_eq!(answer, (StatusCode::TOO_EARLY, "no".to_owned()));
    });
}

#[test]
fn early_data_that_a_server_does_not_take_goes_out_again_after_the_handshake() {
    run(async {
        let identity = identity("rejected");
        let before = identity.serve(true, answers_when);
        let after = identity.serve(true, answers_when);
        let relay = UdpRelay::to(before.local_addr()).await;
        let (client, at) = (identity.client_of(true, 2), relay.url("/"));
        for _ in 0..2 {
            assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
        }
        // It has the certificate and knows nothing of the session.
        relay.turn_to(after.local_addr());
        // Twice on one connection.
        assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
        assert_eq!(asks(&client, Method::GET, &at).await, ok("early"));
        assert_eq!(after.metrics().quic_connections, 2, "one for both times");
        let counts = client.early_data();
        assert_eq!((counts.sent, counts.rejected), (2, 1));
    });
}

#[test]
fn a_server_may_say_less_than_before_to_who_sent_nothing_early() {
    run(async {
        let identity = identity("says_less");
        let sends_more = ServerConfig::default().with_extended_connect(true);
        let before = identity.server().config(sends_more);
        let before = before.serve(service(answers_when)).unwrap();
        let after = identity.serve(false, answers_when);
        let relay = UdpRelay::to(before.local_addr()).await;
        let (client, at) = (identity.client(true), relay.url("/"));
        assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
        relay.turn_to(after.local_addr());
        assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
        assert_eq!(after.metrics().quic_connections, 1, "the first was good");
    });
}

#[test]
fn a_recorded_first_flight_brings_its_request_once() {
    run(async {
        let identity = identity("replayed");
        let asked = Arc::new(AtomicU32::new(0));
        let asking = Arc::clone(&asked);
        let running = identity.serve(true, move |request| {
            asking.fetch_add(1, Ordering::Relaxed);
            answers_when(request)
        });
        let relay = UdpRelay::to(running.local_addr()).await;
        let (client, at) = (identity.client(true), relay.url("/"));
        assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
        relay.record();
        assert_eq!(asks(&client, Method::GET, &at).await, ok("early"));
        let flight = relay.recorded();
        assert!(!flight.is_empty());
        client.shut_down();
        let accepted = running.metrics().quic_connections;
        let attacker = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        // The connection that it belonged to must be forgotten before it makes a new one; a server
        // that has answered others afterwards has read it.
        let (mut others, mut left) = (0, 2);
        while left > 0 {
            for packet in &flight {
                let sent = attacker.send_to(packet, running.local_addr()).await;
                sent.unwrap();
            }
            let other = identity.client(false);
            assert_eq!(asks(&other, Method::GET, &url(&running)).await, ok("late"));
            others += 1;
            let opened = running.metrics().quic_connections - accepted;
            left -= u32::from(opened > u64::from(others));
        }
        let expected = 2 + others;
        assert_eq!(asked.load(Ordering::Relaxed), expected, "those who asked");
    });
}

#[test]
fn where_nobody_answers_the_handshake_early_requests_fail_as_others_do() {
    run(async {
        let identity = identity("gone");
        let running = identity.serve(true, answers_when);
        let (client, at) = (identity.client(true), url(&running));
        assert_eq!(asks(&client, Method::GET, &at).await, ok("late"));
        running.shutdown();
        for method in [Method::GET, Method::POST] {
            let request = Request::builder().method(method).uri(&at);
            let failed = client.execute(request.body(Body::empty()).unwrap()).await;
            let error = failed.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Connect, "{error:?}");
        }
    });
}
