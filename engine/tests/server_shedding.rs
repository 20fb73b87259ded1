//! Requests that a server answers itself so that it stays able to serve others: of an address that sends too many, while a worker is
//! behind, and while too much waits for clients that do not read.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer::service;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use rustls::pki_types::CertificateDer;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::server::{MemoryBudget, Port};
use trunkline::{Body, Running, Server, ServerConfig, Shedding, Tls, Windows};
use trunkline_core::budget::Rate;

const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];
/// More requests than any test needs.
const TRIES_MAX: usize = 10_000;
const LARGE: usize = 64 << 20;
/// Bytes a second of the tests that limit them.
const BYTES_PER_SECOND: u32 = 32 << 10;
/// A minute's worth of those bytes, which is as long as an address is refused at most: no machine is so busy that they drain
/// between two requests.
const LARGE_ANSWER: usize = 60 * BYTES_PER_SECOND as usize;

struct Origin {
    running: Running,
    root: CertificateDer<'static>,
    /// Requests that a handler got.
    handled: Arc<AtomicU64>,
}

impl Origin {
    fn start(config: ServerConfig) -> Self {
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let handled = Arc::<AtomicU64>::default();
        let count = Arc::clone(&handled);
        let answer = move |request: Request<Body>| {
            count.fetch_add(1, Ordering::Relaxed);
            async move {
                if request.uri().path() == "/busy" {
                    // A handler that keeps its worker from everything else.
                    let until = Instant::now() + Duration::from_millis(120);
                    while Instant::now() < until {
                        std::hint::spin_loop();
                    }
                }
                match request.uri().path() {
                    "/large" => Response::new(Body::full(vec![7; LARGE_ANSWER])),
                    _ => Response::new(Body::full("ok")),
                }
            }
        };
        let running = Server::bind("127.0.0.1:0")
            .workers(1)
            .tls(tls)
            .http3(true)
            .config(config)
            .serve(service(answer))
            .unwrap();
        Self {
            running,
            root,
            handled,
        }
    }
    fn client(&self, version: Protocols) -> Client {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        let tls = ClientTls::new().root(self.root.clone()).only_given_roots();
        let client = Client::builder().protocols(version).tls(tls);
        client.resolve("localhost", [address]).build().unwrap()
    }
    async fn ask(&self, client: &Client, path: &str) -> (StatusCode, HeaderMap) {
        let port = self.running.local_addr().port();
        let asked = client.get(format!("https://localhost:{port}{path}"));
        let (head, body) = asked.send().await.unwrap().into_parts();
        body.bytes().await.unwrap();
        (head.status, head.headers)
    }
    /// Asks until a request is refused: how many were answered before, and the fields of the refusal.
    async fn until_refused(
        &self,
        client: &Client,
        path: &str,
        status: StatusCode,
    ) -> (u64, HeaderMap) {
        for answered in 0..TRIES_MAX {
            match self.ask(client, path).await {
                (StatusCode::OK, _) => {}
                (refused, headers) => {
                    assert_eq!(refused, status);
                    return (answered as u64, headers);
                }
            }
        }
        panic!("{TRIES_MAX} requests were answered");
    }
    fn shed(&self, reason: &str) -> u64 {
        let shed = self.running.metrics().requests_shed;
        shed.iter().find(|(name, _)| *name == reason).unwrap().1
    }
}

#[test]
fn an_address_that_sends_more_than_its_rate_gets_429_with_retry_after_on_every_version() {
    for version in VERSIONS {
        let rate = Rate {
            burst: 3,
            per_second: 1,
        };
        let shedding = Shedding::default().with_requests_per_address(Some(rate));
        let origin = Origin::start(ServerConfig::default().with_shedding(shedding));
        let client = origin.client(version);
        let refused = origin.until_refused(&client, "/", StatusCode::TOO_MANY_REQUESTS);
        let (answered, headers) = Runtime::new().unwrap().block_on(refused);
        assert!(answered >= 3, "{version:?}: {answered}");
        assert_eq!(headers["retry-after"], "1", "{version:?}");
        assert_eq!(origin.handled.load(Ordering::Relaxed), answered);
        assert_eq!(origin.shed("address"), 1);
        let text = origin.running.metrics().to_openmetrics();
        let line = "trunkline_server_requests_shed_total{reason=\"address\"} 1\n";
        assert!(text.contains(line), "{text}");
    }
}

/// An address may move 64 KiB at once.
fn few_bytes() -> ServerConfig {
    let rate = Rate {
        burst: 64 << 10,
        per_second: BYTES_PER_SECOND,
    };
    ServerConfig::default().with_shedding(Shedding::default().with_bytes_per_address(Some(rate)))
}

#[test]
fn an_address_that_moves_more_bytes_than_its_rate_gets_429_and_learns_when_it_may_come_again() {
    for version in VERSIONS {
        // The first large answer is within the burst.
        let origin = Origin::start(few_bytes());
        let client = origin.client(version);
        let refused = origin.until_refused(&client, "/large", StatusCode::TOO_MANY_REQUESTS);
        let (answered, headers) = Runtime::new().unwrap().block_on(refused);
        assert_eq!(answered, 1, "{version:?}");
        let seconds: u32 = headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((2..=60).contains(&seconds), "{version:?}: {seconds}");
        assert_eq!(origin.handled.load(Ordering::Relaxed), 1);
        assert_eq!(origin.shed("bytes"), 1);
    }
}

#[test]
fn bytes_that_a_connection_has_moved_count_against_another_of_its_address_while_the_first_is_open()
{
    for version in VERSIONS {
        let origin = Origin::start(few_bytes());
        let (first, second) = (origin.client(version), origin.client(version));
        Runtime::new().unwrap().block_on(async {
            let (status, _) = origin.ask(&first, "/large").await;
            assert_eq!(status, StatusCode::OK, "{version:?}");
            let (status, _) = origin.ask(&second, "/large").await;
            assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{version:?}");
            assert_eq!(origin.running.metrics().connections_open, 2, "{version:?}");
        });
        assert_eq!(origin.handled.load(Ordering::Relaxed), 1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_larger_than_it_may_be_answers_with_503_on_every_version() {
    for version in VERSIONS {
        let shedding = Shedding::default().with_process_memory_max(Some(1 << 20));
        let origin = Origin::start(ServerConfig::default().with_shedding(shedding));
        let client = origin.client(version);
        let refused = origin.until_refused(&client, "/", StatusCode::SERVICE_UNAVAILABLE);
        let (_, headers) = Runtime::new().unwrap().block_on(refused);
        assert_eq!(headers["retry-after"], "1", "{version:?}");
        assert_eq!(origin.shed("process"), 1);
        let metrics = origin.running.metrics();
        assert!(metrics.process_memory.bytes > metrics.process_memory.total);
        let text = metrics.to_openmetrics();
        assert!(text.contains("\nprocess_resident_memory_bytes "), "{text}");
        let bound = "\ntrunkline_server_process_memory_max_bytes 1048576\n";
        assert!(text.contains(bound), "{text}");
    }
}

#[test]
fn a_worker_that_is_behind_answers_with_503_until_it_is_not() {
    let shedding = Shedding::default().with_lag_max(Some(Duration::from_millis(30)));
    let origin = Origin::start(ServerConfig::default().with_shedding(shedding));
    let client = origin.client(Protocols::H2Only);
    Runtime::new().unwrap().block_on(async {
        let refused = origin.until_refused(&client, "/busy", StatusCode::SERVICE_UNAVAILABLE);
        let (_, headers) = refused.await;
        assert_eq!(headers["retry-after"], "1");
        assert!(origin.shed("lag") >= 1);
        for _ in 0..TRIES_MAX {
            if origin.ask(&client, "/").await.0 == StatusCode::OK {
                return;
            }
        }
        panic!("it refuses on");
    });
}

/// A server sheds once a hundredth of a mebibyte waits for clients that do not read.
fn little_memory() -> ServerConfig {
    let shedding = Shedding::default().with_send_budget_percent_max(Some(1));
    let windows = Windows::default().with_send_budget(1 << 20);
    ServerConfig::default()
        .with_shedding(shedding)
        .with_windows(windows)
}

/// Serves `/large`, which no client reads, and small answers.
fn serves_large(server: Server<Port>) -> Running {
    let large = Bytes::from(vec![7; LARGE]);
    let answer = move |request: Request<Body>| {
        let body = match request.uri().path() {
            "/large" => Body::full(large.clone()),
            _ => Body::full("ok"),
        };
        async move { Response::new(body) }
    };
    server.serve(service(answer)).unwrap()
}

/// Sends a request on a connection of its own.
fn sent(to: &Running, path: &str) -> TcpStream {
    let mut socket = TcpStream::connect(to.local_addr()).unwrap();
    let rest = "host: localhost\r\nconnection: close\r\n\r\n";
    write!(socket, "GET {path} HTTP/1.1\r\n{rest}").unwrap();
    socket
}

/// The answer to a small request.
fn small(of: &Running) -> String {
    let mut answer = String::new();
    sent(of, "/").read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_that_holds_too_much_for_clients_that_do_not_read_answers_with_503_until_they_are_gone()
{
    let server = Server::bind("127.0.0.1:0").workers(1);
    let running = serves_large(server.config(little_memory()));
    let status = || small(&running);
    assert!(status().starts_with("HTTP/1.1 200 "));
    let unread = sent(&running, "/large");
    let refused = std::iter::repeat_with(status).take(TRIES_MAX);
    let refused = refused
        .into_iter()
        .find(|it| !it.starts_with("HTTP/1.1 200 "));
    let refused = refused.expect("a refusal");
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains("retry-after: 1\r\n"), "{refused}");
    drop(unread);
    let mut again = std::iter::repeat_with(status).take(TRIES_MAX);
    assert!(again.any(|it| it.starts_with("HTTP/1.1 200 ")));
    let shed = running.metrics().requests_shed;
    assert!(
        shed.iter()
            .any(|(name, count)| *name == "memory" && *count > 0),
        "{shed:?}"
    );
}

#[test]
fn memory_that_a_client_of_one_address_holds_is_missing_at_another_that_shares_the_budget() {
    let config = little_memory();
    let start = |memory: &MemoryBudget| {
        let server = Server::bind("127.0.0.1:0").workers(1);
        serves_large(server.config(config.clone()).memory_budget(memory))
    };
    let shared = MemoryBudget::new(&config);
    let (first, second) = (start(&shared), start(&shared));
    let apart = start(&MemoryBudget::new(&config));
    let is_served = |of: &Running| small(of).starts_with("HTTP/1.1 200 ");
    assert!(is_served(&first) && is_served(&second));
    let unread = sent(&first, "/large");
    assert!((0..TRIES_MAX).any(|_| !is_served(&second)));
    let metrics = second.metrics();
    assert!(
        metrics.requests_shed.contains(&("memory", 1)),
        "{metrics:?}"
    );
    // The bytes in use are those of both, whichever is asked.
    assert!(metrics.send_budget.bytes > 0);
    assert_eq!(metrics.send_budget.total, 1 << 20);
    assert!(is_served(&apart));
    assert_eq!(apart.metrics().send_budget.bytes, 0);
    drop(unread);
    assert!((0..TRIES_MAX).any(|_| is_served(&second)));
}

#[test]
fn rates_and_shares_that_refuse_everything_are_errors_of_serve() {
    let refused = |shedding: Shedding| {
        let config = ServerConfig::default().with_shedding(shedding);
        let server = Server::bind("127.0.0.1:0").config(config);
        let served = server.serve(service(|_| async { Response::new(Body::empty()) }));
        served.map(|_| ()).unwrap_err().to_string()
    };
    let rate = Rate {
        burst: 1,
        per_second: 0,
    };
    let text = refused(Shedding::default().with_requests_per_address(Some(rate)));
    assert!(
        text.contains("1 at once and 0 per second; both must be at least 1"),
        "{text}"
    );
    let text = refused(Shedding::default().with_bytes_per_address(Some(rate)));
    assert!(
        text.contains("bytes_per_address is 1 at once and 0 per second"),
        "{text}"
    );
    let text = refused(Shedding::default().with_process_memory_max(Some(1000)));
    assert!(text.contains("process_memory_max is 1000 bytes"), "{text}");
    for percent in [0, 100] {
        let text = refused(Shedding::default().with_send_budget_percent_max(Some(percent)));
        assert!(
            text.contains(&format!("is {percent}; it must be 1 to 99")),
            "{text}"
        );
    }
}
