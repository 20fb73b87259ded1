//! A client in place of tonic's channel.

use super::{GrpcBody, GrpcCall, Side, deadline_of};
use crate::body::Body;
use crate::client::{Client, ResponseFuture};
use http::{Request, Response};
use std::error::Error;
use std::task::{Context, Poll};
use tonic::Status;
use tower_service::Service;

/// The service that a generated client of tonic takes in place of a channel.
///
/// ```no_run
/// # fn example() -> Result<(), trunkline::Error> {
/// use trunkline::client::Protocols;
/// use trunkline::grpc::GrpcClient;
///
/// let client = trunkline::Client::builder().protocols(Protocols::H2Only).build()?;
/// let service = GrpcClient::new(client);
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
    /// Calls over `client`. For `http` URLs it is one with
    /// [`Protocols::H2Only`](crate::client::Protocols::H2Only): gRPC needs HTTP/2 or HTTP/3.
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
    fn call(&mut self, request: Request<B>) -> Self::Future {
        let deadline = deadline_of(request.headers());
        GrpcCall {
            call: self.client.execute(request),
            deadline,
            side: Side::Client,
        }
    }
}
