//! [`Client`] as a tower service, so that tower's layers, and the crates that stand on them, send
//! their requests over it.

use crate::body::Body;
use crate::client::{Client, ResponseFuture};
use crate::error::Error;
use http::{Request, Response};
use std::error;
use std::task::{Context, Poll};
use tower_service::Service;

/// Always ready: what finds no connection waits in the pool, which bounds the wait
/// ([`ClientTimeouts::queue`](crate::client::ClientTimeouts::queue)). The URI of a request is absolute.
impl<B> Service<Request<B>> for Client
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<Box<dyn error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        self.execute(request)
    }
}

/// As for [`Client`].
impl<B> Service<Request<B>> for &Client
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<Box<dyn error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        self.execute(request)
    }
}
