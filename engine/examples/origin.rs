//! An origin with something of everything, for tests and measurements of clients: HTTP/1.1, HTTP/2
//! and HTTP/3 over TLS on one port, HTTP/1.1 and HTTP/2 without TLS on another.
//!
//! `cargo run --example origin -- CERTIFICATE.pem KEY.pem` prints both ports as JSON.
//! `/bytes/N` answers with N bytes, `/delay/MS` after so long, `/status/N` with that status, `/echo`
//! with the request's body, `/counts` with what was counted; anything else with a kilobyte. It ends
//! with its standard input.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;
use trunkline::{Body, Running, Server, ServerConfig, Tls};

const TEXT: &[u8] = &[b'x'; 1024];
/// The largest body asked for at once.
const BYTES_MAX: u64 = 1 << 32;

type Servers = Arc<OnceLock<[Running; 2]>>;

/// Bytes of long bodies that connections have taken.
static TAKEN: AtomicU64 = AtomicU64::new(0);

#[derive(Clone)]
struct Origin(Servers);

impl Service<Request<Body>> for Origin {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let servers = Arc::clone(&self.0);
        Box::pin(async move { Ok(answer(request, &servers).await) })
    }
}

async fn answer(request: Request<Body>, servers: &Servers) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let (word, number) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    let number: u64 = number.parse().unwrap_or(0);
    let mut response = Response::new(Body::full(Bytes::from_static(TEXT)));
    response
        .headers_mut()
        .insert("x-origin", http::HeaderValue::from_static("trunkline"));
    match word {
        "bytes" => *response.body_mut() = many(number.min(BYTES_MAX)),
        "delay" => tokio::time::sleep(Duration::from_millis(number)).await,
        "status" => {
            *response.status_mut() = StatusCode::from_u16(number as u16).unwrap_or(StatusCode::OK);
            *response.body_mut() = Body::empty();
        }
        "echo" => *response.body_mut() = request.into_body(),
        "counts" => *response.body_mut() = counts(servers).into(),
        _ => {}
    }
    response
}

/// A body of this many bytes, made as it goes out.
fn many(mut bytes: u64) -> Body {
    const PIECE: u64 = 64 * 1024;
    if bytes <= PIECE {
        return Body::full(vec![b'x'; bytes as usize]);
    }
    let (mut sender, body) = Body::channel();
    tokio::spawn(async move {
        let piece = Bytes::from(vec![b'x'; PIECE as usize]);
        while bytes > 0 {
            let part = piece.slice(..bytes.min(PIECE) as usize);
            let taken = part.len() as u64;
            bytes -= taken;
            if sender.send(part).await.is_err() {
                return;
            }
            TAKEN.fetch_add(taken, Ordering::Relaxed);
        }
        sender.finish();
    });
    body
}

fn counts(servers: &Servers) -> String {
    let mut all = [0; 4];
    for server in servers.get().into_iter().flatten() {
        let metrics = server.metrics();
        let of_one = [
            metrics.connections_accepted,
            metrics.requests_h1,
            metrics.requests_h2,
            metrics.requests_h3,
        ];
        for (sum, count) in all.iter_mut().zip(of_one) {
            *sum += count;
        }
    }
    let [connections, h1, h2, h3] = all;
    let taken = TAKEN.load(Ordering::Relaxed);
    format!(r#"{{"connections":{connections},"h1":{h1},"h2":{h2},"h3":{h3},"taken":{taken}}}"#)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [certificate, key] = arguments.as_slice() else {
        return Err("usage: origin CERTIFICATE.pem KEY.pem".into());
    };
    let mut config = ServerConfig::default();
    // For load: a drained connection is no failure, but it is not what is measured.
    config.limits.requests_per_connection_max = u64::MAX;
    let servers = Servers::default();
    let bind = || {
        Server::bind("127.0.0.1:0")
            .config(config.clone())
            .workers(1)
    };
    let tls = Tls::from_pem_files(certificate, key)?;
    let over_tls = bind()
        .tls(tls)
        .http3(true)
        .serve(Origin(Arc::clone(&servers)))?;
    let plain = bind().serve(Origin(Arc::clone(&servers)))?;
    println!(
        r#"{{"https":{},"http":{}}}"#,
        over_tls.local_addr().port(),
        plain.local_addr().port()
    );
    servers
        .set([over_tls, plain])
        .map_err(|_| "the servers are set once")?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
