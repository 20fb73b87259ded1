//! The smallest server: 1 KiB of text for every request, HTTP/1.1 and HTTP/2 on one port.
//!
//! `cargo run --release --example hello -- 127.0.0.1:8080 [tls] [workers]`

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tower_service::Service;
use trunkline::{Body, Server, ServerConfig, Tls};

const TEXT: &[u8] = &[b'x'; 1024];

#[derive(Clone)]
struct Hello;

impl Service<Request<Body>> for Hello {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: Request<Body>) -> Self::Future {
        ready(Ok(Response::new(Full::new(Bytes::from_static(TEXT)))))
    }
}

fn main() -> Result<(), trunkline::Error> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into());
    let mut config = ServerConfig::default();
    // For load generators, which take a drained connection for a failure.
    config.limits.requests_per_connection_max = u64::MAX;
    let mut server = Server::bind(address).config(config);
    for argument in arguments {
        server = match argument.parse() {
            Ok(workers) => server.workers(workers),
            Err(_) => server.tls(Tls::self_signed(["localhost"])?),
        };
    }
    let running = server.serve(Hello)?;
    println!("listening on {}", running.local_addr());
    running.join();
    Ok(())
}
