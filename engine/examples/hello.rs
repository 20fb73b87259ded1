//! The smallest server: 1 KiB of text for every request that has come whole, HTTP/1.1 and HTTP/2 on one port.
//!
//! `cargo run --release --example hello -- 127.0.0.1:8080 [tls] [gateway] [workers] [runtime]`; `gateway`: requests of
//! either scheme are answered; `runtime`: handlers are tasks of a runtime of their own, as with `trunkline::serve`.

use http::{Request, Response};
use std::convert::Infallible;
use tokio::runtime::Runtime;
use trunkline::server::on_runtime;
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
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = match arguments.is_empty() {
        true => "127.0.0.1:8080".into(),
        false => arguments.remove(0),
    };
    let mut config = ServerConfig::default();
    // For load generators, which take a drained connection for a failure.
    config.limits.requests_per_connection_max = u64::MAX;
    config.scheme_from_gateway = arguments.iter().any(|argument| argument == "gateway");
    let mut server = Server::bind(address).config(config);
    let mut runtime = None;
    for argument in arguments {
        server = match (argument.as_str(), argument.parse()) {
            (_, Ok(workers)) => server.workers(workers),
            ("gateway", _) => server,
            ("runtime", _) => {
                runtime = Runtime::new().ok();
                server
            }
            _ => server.tls(Tls::self_signed(["localhost"])?),
        };
    }
    let running = match &runtime {
        Some(runtime) => server.serve(on_runtime(runtime.handle().clone(), service_fn(hello)))?,
        None => server.serve(service_fn(hello))?,
    };
    println!("listening on {}", running.local_addr());
    running.join();
    Ok(())
}
