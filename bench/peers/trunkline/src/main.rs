//! Trunkline as measured: a tower handler that answers every request with 1 KiB, or
//! over HTTP/3 with 2 bytes, or in pieces; one worker.
//! Arguments: address [certificate key].

// The programs of ours that are measured have the same one.
#[path = "../../../../cli/src/allocator.rs"]
mod allocator;
mod pieces;

use http::{HeaderValue, Request, Response, Version, header};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tower_service::Service;
use trunkline::{Body, Server, ServerConfig, Tls};

#[global_allocator]
static ALLOCATOR: allocator::Mimalloc = allocator::Mimalloc;

const TEXT: &[u8] = &[b'x'; 1024];
const SMALL: &[u8] = b"ok";

#[derive(Clone)]
struct Answer;

impl Service<Request<Body>> for Answer {
    type Response = Response<pieces::AnswerBody>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let text = match request.version() {
            Version::HTTP_3 => SMALL,
            _ => TEXT,
        };
        let mut response = Response::new(pieces::answer(request.uri().path(), text));
        let text = HeaderValue::from_static("text/plain");
        response.headers_mut().insert(header::CONTENT_TYPE, text);
        if let Some(etag) = pieces::etag(request.uri().path()) {
            response.headers_mut().insert(header::ETAG, etag);
        }
        ready(Ok(response))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    allocator::use_small_pages();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = arguments
        .first()
        .ok_or("usage: ADDRESS [CERTIFICATE KEY]")?;
    let mut config = ServerConfig::default();
    // A load generator takes a drained connection for a failure.
    config.limits.requests_per_connection_max = u64::MAX;
    let mut server = Server::bind(address.as_str()).config(config);
    if let [_, certificate, key] = arguments.as_slice() {
        server = server
            .tls(Tls::from_pem_files(certificate, key)?)
            .http3(true);
    }
    server.serve(Answer)?.join();
    Ok(())
}
