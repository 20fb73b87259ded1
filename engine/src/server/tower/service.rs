//! The trait alias of the tower services that a server accepts.

use crate::body::Body;
use http::{Request, Response};
use tower_service::Service;

/// Any tower service from an [`http::Request`] to an [`http::Response`]: an axum router, for
/// example. Its futures need not be `Send`: they run on the worker thread of their connection.
/// Implemented for every type that fits; not to be implemented by hand.
pub trait HttpService:
    Service<Request<Body>, Response = Response<Self::ResponseBody>, Future = Self::ResponseFuture>
    + Clone
    + Send
    + 'static
{
    /// The body of its responses.
    type ResponseBody: http_body::Body + 'static;
    /// Its future.
    type ResponseFuture: Future<Output = Result<Response<Self::ResponseBody>, Self::Error>>
        + 'static;
}

impl<S, B> HttpService for S
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: 'static,
    B: http_body::Body + 'static,
{
    type ResponseBody = B;
    type ResponseFuture = S::Future;
}
