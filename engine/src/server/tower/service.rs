//! The trait aliases of the tower services that a server accepts.

use crate::body::Body;
use crate::connection_info::ConnectionInfo;
#[cfg(unix)]
use crate::connection_info::unix::UnixPeer;
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

/// The other end of a connection: an address on a port, a process on a Unix socket, what is known of a stream. Not to be
/// implemented by hand.
pub trait Peer: Sized + Send + 'static {
    /// The peer of a connection; `None`: it is not known.
    fn of(info: &ConnectionInfo) -> Option<Self>;
}

impl Peer for SocketAddr {
    fn of(info: &ConnectionInfo) -> Option<Self> {
        info.peer_addr()
    }
}

#[cfg(unix)]
impl Peer for UnixPeer {
    fn of(info: &ConnectionInfo) -> Option<Self> {
        info.unix_peer()
    }
}

impl Peer for ConnectionInfo {
    fn of(info: &ConnectionInfo) -> Option<Self> {
        Some(info.clone())
    }
}

/// A tower service from the peer of a connection to the [`TaskService`] of that connection: from the peer's
/// address on a port, its process on a Unix socket. Implemented for every type that fits; not to be
/// implemented by hand.
pub trait MakeTaskService<P = SocketAddr>:
    Service<P, Response = Self::Made, Future: Send> + Clone + Send + 'static
{
    /// The service of a connection.
    type Made: TaskService;
}

impl<M, S, P> MakeTaskService<P> for M
where
    M: Service<P, Response = S, Future: Send> + Clone + Send + 'static,
    S: TaskService,
{
    type Made = S;
}
