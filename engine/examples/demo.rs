//! The main job on real sockets: a TLS server that answers HTTP/1.1, HTTP/2 and HTTP/3 on one port, and a
//! client that sends it 2,000 concurrent requests over at most 4 connections. What the table says
//! is counted at the server.
//!
//! `make demo`

use http::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tower_service::Service;
use trunkline::client::{Client, ClientTimeouts, ClientTls, Protocols};
use trunkline::{Body, Metrics, Running, Server, Tls};

const REQUESTS: usize = 2_000;
const CONNECTIONS: u32 = 4;
/// How long the handler takes: what makes requests overlap.
const DELAY: Duration = Duration::from_millis(10);

/// Requests in the handler, and the most there ever were.
#[derive(Debug, Default)]
struct InFlight {
    now: AtomicU64,
    most: AtomicU64,
}

/// Waits, then answers with a line of text.
#[derive(Clone)]
struct Slow(Arc<InFlight>);

impl Service<Request<Body>> for Slow {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: Request<Body>) -> Self::Future {
        let in_flight = Arc::clone(&self.0);
        Box::pin(async move {
            let now = in_flight.now.fetch_add(1, Ordering::Relaxed) + 1;
            in_flight.most.fetch_max(now, Ordering::Relaxed);
            tokio::time::sleep(DELAY).await;
            in_flight.now.fetch_sub(1, Ordering::Relaxed);
            Ok(Response::new(Body::full(
                "many requests, few connections\n",
            )))
        })
    }
}

/// One line of the table.
struct Row {
    protocol: &'static str,
    answered: usize,
    failed: usize,
    at_server: u64,
    connections: u64,
    most_in_flight: u64,
    took: Duration,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"])?;
    let in_flight = Arc::new(InFlight::default());
    let server = Server::bind("127.0.0.1:0")
        .tls(tls)
        .workers(1)
        .http3(true)
        .serve(Slow(Arc::clone(&in_flight)))?;
    println!(
        "https://localhost:{}: HTTP/1.1, HTTP/2 and HTTP/3 on one port; each answer takes {} ms",
        server.local_addr().port(),
        DELAY.as_millis()
    );
    println!(
        "{REQUESTS} requests at once over at most {CONNECTIONS} connections, counted at the server:\n"
    );
    let mut rows = Vec::new();
    for (protocol, protocols) in [
        ("HTTP/3", Protocols::H3Only),
        ("HTTP/2", Protocols::H2Only),
        ("HTTP/1.1", Protocols::H1Only),
    ] {
        let client = Client::builder()
            .connections(CONNECTIONS)
            .protocols(protocols)
            .resolve("localhost", [server.local_addr()])
            .timeouts(ClientTimeouts::default())
            .tls(ClientTls::new().root(root.clone()).only_given_roots())
            .build()?;
        rows.push(measure(protocol, &client, &server, &in_flight).await?);
        client.shut_down();
    }
    print(&rows);
    server.shutdown();
    let lost = rows.iter().any(|row| {
        row.failed > 0
            || row.at_server != REQUESTS as u64
            || row.connections > u64::from(CONNECTIONS)
    });
    if lost {
        return Err("requests failed, came twice, or took more connections than allowed".into());
    }
    Ok(())
}

/// Sends all requests at once and counts what the server saw of them.
async fn measure(
    protocol: &'static str,
    client: &Client,
    server: &Running,
    in_flight: &InFlight,
) -> Result<Row, Box<dyn Error>> {
    let before = server.metrics();
    in_flight.most.store(0, Ordering::Relaxed);
    let url = format!("https://localhost:{}/", server.local_addr().port());
    let started = Instant::now();
    let requests: Vec<_> = (0..REQUESTS)
        .map(|_| tokio::spawn(client.get(&url).send()))
        .collect();
    let (mut answered, mut failed) = (0, 0);
    for request in requests {
        match request.await? {
            Ok(response) if response.status() == StatusCode::OK => answered += 1,
            Ok(_) => failed += 1,
            Err(why) => {
                if failed == 0 {
                    eprintln!("{protocol}: {why}");
                }
                failed += 1;
            }
        }
    }
    let took = started.elapsed();
    let after = server.metrics();
    Ok(Row {
        protocol,
        answered,
        failed,
        at_server: total(&after) - total(&before),
        connections: after.connections_accepted - before.connections_accepted,
        most_in_flight: in_flight.most.load(Ordering::Relaxed),
        took,
    })
}

fn total(metrics: &Metrics) -> u64 {
    metrics.requests_h1 + metrics.requests_h2 + metrics.requests_h3
}

fn print(rows: &[Row]) {
    println!(
        "{:<10} {:>9} {:>7} {:>10} {:>12} {:>15} {:>9}",
        "protocol", "answered", "failed", "at server", "connections", "most in flight", "time"
    );
    for row in rows {
        println!(
            "{:<10} {:>9} {:>7} {:>10} {:>12} {:>15} {:>6} ms",
            row.protocol,
            row.answered,
            row.failed,
            row.at_server,
            row.connections,
            row.most_in_flight,
            row.took.as_millis()
        );
    }
}
