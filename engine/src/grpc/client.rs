//! A client in place of tonic's channel.

use super::{GrpcBody, GrpcCall, Side, deadline_of};
use crate::body::Body;
use crate::client::{Client, Multiplexed, ResponseFuture};
use http::{Request, Response};
use std::error::Error;
use std::task::{Context, Poll};
use tonic::Status;
use tower_service::Service;

/// The service that a generated client of tonic takes in place of a channel.
///
/// ```no_run
/// # fn example() -> Result<(), trunkline::Error> {
/// use trunkline::grpc::GrpcClient;
///
/// let service = GrpcClient::new(trunkline::Client::new());
/// // let greeter = GreeterClient::with_origin(service, "http://127.0.0.1:50051".parse()?);
/// # drop(service);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct GrpcClient {
    client: Client,
}

impl GrpcClient {
    /// Calls over `client`, without HTTP/1.1 where it offers that too: gRPC needs HTTP/2 or HTTP/3. Servers at
    /// `http` URLs are reached by HTTP/2 with prior knowledge. A client of
    /// [`Protocols::H1Only`](crate::client::Protocols::H1Only) stays one.
    pub fn new(client: Client) -> Self {
        Self { client }
    }
}

impl<B> Service<Request<B>> for GrpcClient
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<GrpcBody<Body>>;
    type Error = Status;
    type Future = GrpcCall<ResponseFuture>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        request.extensions_mut().insert(Multiplexed);
        let deadline = deadline_of(request.headers());
        GrpcCall {
            call: self.client.execute(request),
            deadline,
            side: Side::Client,
        }
    }
}
