//! A client in place of tonic's channel.

use super::{GrpcBody, GrpcCall, Side, deadline_of};
use crate::body::Body;
use crate::client::{Client, ResponseFuture};
use http::{Request, Response, Uri};
use std::error::Error;
use std::task::{Context, Poll};
use tonic::Status;
use tower_service::Service;

/// The service that a generated client of tonic takes in place of a channel.
///
/// A call that the server says it has not processed (behind the last stream of a GOAWAY, or refused) is sent again, as
/// gRPC's transparent retries are, where no part of a response has come and its messages so far are 256 KiB at most.
///
/// Calls say `grpc-rust-trunkline/VERSION` as their `user-agent`, unless they or
/// [`ClientBuilder::user_agent`](crate::client::ClientBuilder::user_agent) say another.
///
/// ```no_run
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use trunkline::grpc::GrpcClient;
///
/// let service = GrpcClient::new(trunkline::Client::new()).with_origin("http://127.0.0.1:50051".parse()?);
/// // let greeter = GreeterClient::new(service);
/// # drop(service);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct GrpcClient {
    client: Client,
    /// The origin of calls that have none of their own.
    origin: Option<Uri>,
}

impl GrpcClient {
    /// Calls over `client`, without HTTP/1.1 where it offers that too: gRPC needs HTTP/2 or HTTP/3. Servers at
    /// `http` URLs are reached by HTTP/2 with prior knowledge. A client of
    /// [`Protocols::H1Only`](crate::client::Protocols::H1Only) stays one.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            origin: None,
        }
    }
    /// Calls go to this scheme, authority and, if it has one, below this path, unless the generated client has an origin
    /// of its own: its `new` and `with_interceptor` take none. Default: none, and a call without one is an error.
    pub fn with_origin(mut self, origin: Uri) -> Self {
        self.origin = Some(origin);
        self
    }
}

/// `uri`, at `origin`. One that does not fit it stays, and is the error of its request.
fn placed(uri: &Uri, origin: &Uri) -> Option<Uri> {
    let mut parts = origin.clone().into_parts();
    let path = uri.path_and_query()?;
    parts.path_and_query = Some(match origin.path().trim_end_matches('/') {
        "" => path.clone(),
        prefix => format!("{prefix}{path}").parse().ok()?,
    });
    Uri::from_parts(parts).ok()
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
        if request.uri().authority().is_none()
            && let Some(origin) = &self.origin
            && let Some(uri) = placed(request.uri(), origin)
        {
            *request.uri_mut() = uri;
        }
        // The message of a unary call is a stream to tonic, and can be sent again as a whole body can.
        let (parts, body) = request.into_parts();
        let body = match body.is_end_stream() {
            true => Body::empty(),
            false => Body::wrap(body).keeping(),
        };
        let deadline = deadline_of(&parts.headers);
        GrpcCall {
            call: self.client.execute_grpc(parts, body),
            deadline,
            side: Side::Client,
        }
    }
}
