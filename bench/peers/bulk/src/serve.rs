//! Our server: `GET /N` has a body of N bytes in pieces, `PUT` is answered with the count of its bytes.

use crate::{Outcome, pieces};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Either, Full};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;
use trunkline::{Body, Error, Server, ServerConfig, Tls};

pub(crate) fn run(address: &str, certificate: &str, key: &str) -> Outcome {
    let mut config = ServerConfig::default();
    config.limits.requests_per_connection_max = u64::MAX;
    let tls = Tls::from_pem_files(certificate, key)?;
    let server = Server::bind(address).config(config).tls(tls).http3(true);
    server.serve(Bulk)?.join();
    Ok(())
}

#[derive(Clone)]
struct Bulk;

async fn answer(request: Request<Body>) -> Result<Response<pieces::AnswerBody>, Error> {
    let (parts, mut body) = request.into_parts();
    if parts.method != Method::PUT {
        let bytes = parts.uri.path().trim_start_matches('/').parse();
        let pieces = pieces::of(bytes.unwrap_or(0));
        return Ok(Response::new(Either::Right(pieces)));
    }
    let mut received = 0;
    while let Some(frame) = body.frame().await {
        received += frame?.data_ref().map_or(0, Bytes::len);
    }
    let count = Full::new(Bytes::from(received.to_string()));
    Ok(Response::new(Either::Left(count)))
}

impl Service<Request<Body>> for Bulk {
    type Response = Response<pieces::AnswerBody>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(answer(request))
    }
}
