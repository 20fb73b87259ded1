//! The smallest server: 1 KiB of text for every request that has come whole, HTTP/1.1 and HTTP/2 on one port.
//!
//! `cargo run --release --example hello -- 127.0.0.1:8080 [tls] [workers]`

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;
use trunkline::{Body, Server, ServerConfig, Tls};

const TEXT: &[u8] = &[b'x'; 1024];

#[derive(Clone)]
struct Hello;

impl Service<Request<Body>> for Hello {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(async move {
            // To its end: an answer before it would have the rest of the request reset.
            let _ = request.into_body().collect().await;
            Ok(Response::new(Full::new(Bytes::from_static(TEXT))))
        })
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
