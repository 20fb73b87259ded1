//! The trait aliases of the tower services that a server accepts.

use crate::body::Body;
use http::{Request, Response};
use std::net::SocketAddr;
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

/// An [`HttpService`] whose calls can be tasks of a runtime with several threads. Implemented for every type
/// that fits; not to be implemented by hand.
pub trait TaskService: HttpService<ResponseBody: Send, ResponseFuture: Send> {}

impl<S: HttpService<ResponseBody: Send, ResponseFuture: Send>> TaskService for S {}

/// A tower service from a peer's address to the [`TaskService`] of its connection. Implemented for every type
/// that fits; not to be implemented by hand.
pub trait MakeTaskService:
    Service<SocketAddr, Response = Self::Made, Future: Send> + Clone + Send + 'static
{
    /// The service of a connection.
    type Made: TaskService;
}

impl<M, S> MakeTaskService for M
where
    M: Service<SocketAddr, Response = S, Future: Send> + Clone + Send + 'static,
    S: TaskService,
{
    type Made = S;
}
