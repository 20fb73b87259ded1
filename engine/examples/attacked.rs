//! A server to be attacked, with default settings: `/bytes/N` answers with N bytes, made as they go
//! out; anything else reads the request to its end and answers with a kilobyte. It refuses CONNECT.
//! It ends with its standard input.
//!
//! `cargo run -p trunkline --example attacked [tls | limited | scarce]` prints its address. `tls`: over TLS and QUIC,
//! with a certificate of its own making; `limited`: with limits for each address,
//! `scarce`: with 250 connections at most.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;
use trunkline::core::budget::Rate;
use trunkline::{Body, Server, ServerConfig, Shedding, Tls};

const PIECE: usize = 16 * 1024;

#[derive(Clone)]
struct Attacked;

impl Service<Request<Body>> for Attacked {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(async move {
            if request.method() == Method::CONNECT {
                let mut refusal = Response::new(Body::empty());
                *refusal.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
                return Ok(refusal);
            }
            let path = request.uri().path();
            let bytes = path.strip_prefix("/bytes/").and_then(|it| it.parse().ok());
            if let Some(bytes) = bytes {
                return Ok(Response::new(Body::wrap(Many { left: bytes })));
            }
            let mut body = request.into_body();
            while let Some(Ok(_)) = body.frame().await {}
            Ok(Response::new(Body::full(vec![b'x'; 1024])))
        })
    }
}

/// Bytes of which each piece is made when it is asked for: memory that a peer can make us hold.
struct Many {
    left: u64,
}

impl http_body::Body for Many {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        let len = self.left.min(PIECE as u64);
        if len == 0 {
            return Poll::Ready(None);
        }
        self.left -= len;
        let piece = Bytes::from(vec![b'x'; len as usize]);
        Poll::Ready(Some(Ok(http_body::Frame::data(piece))))
    }
}

fn main() -> Result<(), trunkline::Error> {
    // One worker, so that bounds per worker are bounds of the server, and the neighbour of an attack is on it.
    let mut server = Server::bind("127.0.0.1:0").workers(1);
    if std::env::args().nth(1).as_deref() == Some("tls") {
        server = server.tls(Tls::self_signed(["localhost"])?).http3(true);
    }
    if std::env::args().nth(1).as_deref() == Some("limited") {
        let rate = |per_second, burst| Some(Rate { burst, per_second });
        let shedding = Shedding::default()
            .with_requests_per_address(rate(500, 1000))
            .with_bytes_per_address(rate(1 << 20, 8 << 20));
        server = server.config(ServerConfig::default().with_shedding(shedding));
    }
    if std::env::args().nth(1).as_deref() == Some("scarce") {
        // Three quarters of them are fewer than an attack on it opens.
        let config = ServerConfig::default().with_connections_max(250);
        server = server.config(config);
    }
    let running = server.serve(Attacked)?;
    println!("{}", running.local_addr());
    // Its standard input has no bytes: the end is all that comes.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    running.shutdown();
    Ok(())
}
