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
/// A call that the server says it has not processed (behind the last stream of a GOAWAY, or refused) is sent again, as
/// gRPC's transparent retries are, where no part of a response has come and its messages so far are 64 KiB at most.
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
        // The message of a unary call is a stream to tonic, and can be sent again as a whole body can.
        let (parts, body) = request.into_parts();
        let body = match body.is_end_stream() {
            true => Body::empty(),
            false => Body::wrap(body).keeping(),
        };
        let deadline = deadline_of(&parts.headers);
        GrpcCall {
            call: self.client.execute_body(parts, body),
            deadline,
            side: Side::Client,
        }
    }
}
