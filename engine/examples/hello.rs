//! The smallest server: 1 KiB of text for every request that has come whole, HTTP/1.1 and HTTP/2 on one port.
//!
//! `cargo run --release --example hello -- 127.0.0.1:8080 [tls] [workers]`

use http::{Request, Response};
use std::convert::Infallible;
use trunkline::{Body, Server, ServerConfig, Tls, service_fn};

const TEXT: &[u8] = &[b'x'; 1024];

async fn hello(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    // To its end: an answer before it would have the rest of the request reset.
    let _ = request.into_body().bytes_within(REQUEST_BYTES_MAX).await;
    Ok(Response::new(Body::full(TEXT)))
}

/// Bytes of a request's body that are kept.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

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
    let running = server.serve(service_fn(hello))?;
    println!("listening on {}", running.local_addr());
    running.join();
    Ok(())
}
