//! Services that are made for each connection from its peer, as axum's
//! `into_make_service_with_connect_info` does.

use super::handler_runtime::HandlerRuntime;
use super::on_runtime::{CallPlace, OnRuntime, RuntimeBody, RuntimeCall};
use super::service::{HttpService, MakeTaskService, Peer, TaskService};
use super::upgrading::{HAS_UPGRADES, Upgrading, upgrading};
use crate::body::Body;
use crate::connection_info::ConnectionInfo;
use http::{Request, Response};
use http_body::Body as _;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tower_service::Service;

/// A value that [`serve`](crate::serve) takes: a service of requests ([`OfRequests`]), an axum router for example,
/// or a service of peers `P` that gives one for each connection ([`OfConnections`]), which is what
/// `into_make_service` and `into_make_service_with_connect_info::<SocketAddr>` of axum's routers make.
/// `Kind` is inferred. Implemented for every type that fits; not to be implemented by hand.
pub trait IntoHandlers<Kind, P = SocketAddr> {
    /// The handlers.
    type Handlers: Handlers;

    /// Makes them.
    fn into_handlers(self) -> Self::Handlers;
}

/// Handlers that [`serve`](crate::serve) runs on the tokio runtime of its caller. Not to be implemented by
/// hand.
pub trait Handlers: Send + 'static {
    /// The service of a connection.
    type Service: TaskService;
    /// Whether it reads the connection's peer.
    const READS_PEER: bool;
    /// Whether it takes streams of HTTP/2 and HTTP/3 out of HTTP.
    const HAS_UPGRADES: bool = HAS_UPGRADES;

    /// Places the handlers on `runtime`.
    fn on(self, runtime: Handle) -> Self::Service;
}

/// A service of requests.
#[derive(Clone, Debug)]
pub struct OfRequests<S>(S);

impl<S, P> IntoHandlers<OfRequests<()>, P> for S
where
    S: TaskService,
    S::Error: Send + 'static,
{
    type Handlers = OfRequests<S>;

    fn into_handlers(self) -> OfRequests<S> {
        OfRequests(self)
    }
}

impl<S> Handlers for OfRequests<S>
where
    S: TaskService,
    S::Error: Send + 'static,
{
    type Service = OnRuntime<Upgrading<S>>;
    const READS_PEER: bool = false;

    fn on(self, runtime: Handle) -> Self::Service {
        OnRuntime::in_connections(runtime, upgrading(self.0))
    }
}

/// A service of peers, called for the first request of each connection.
#[derive(Clone, Debug)]
pub struct OfConnections<M, P = SocketAddr>(M, PhantomData<fn(P)>);

impl<M: MakeTaskService<P>, P: Peer> IntoHandlers<OfConnections<()>, P> for M {
    type Handlers = OfConnections<M, P>;

    fn into_handlers(self) -> OfConnections<M, P> {
        OfConnections(self, PhantomData)
    }
}

impl<M: MakeTaskService<P>, P: Peer> Handlers for OfConnections<M, P> {
    type Service = PerConnection<M, M::Made, P>;
    const READS_PEER: bool = true;

    fn on(self, runtime: Handle) -> Self::Service {
        PerConnection {
            make: self.0,
            made: Arc::default(),
            runtime: HandlerRuntime::new(runtime),
            peer: PhantomData,
        }
    }
}

/// The service of one connection, made for its first request. The server has a clone for each connection,
/// so that a clone begins without a service.
pub struct PerConnection<M, S, P = SocketAddr> {
    make: M,
    made: Arc<Mutex<Option<S>>>,
    runtime: HandlerRuntime,
    peer: PhantomData<fn(P)>,
}

impl<M: Clone, S, P> Clone for PerConnection<M, S, P> {
    fn clone(&self) -> Self {
        Self {
            make: self.make.clone(),
            made: Arc::default(),
            runtime: self.runtime.clone(),
            peer: PhantomData,
        }
    }
}

impl<M, S, P> fmt::Debug for PerConnection<M, S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerConnection").finish_non_exhaustive()
    }
}

impl<M, S, P> Service<Request<Body>> for PerConnection<M, S, P>
where
    M: MakeTaskService<P, Made = S>,
    S: TaskService,
    P: Peer,
{
    type Response = Response<RuntimeBody<<Upgrading<S> as HttpService>::ResponseBody>>;
    /// The server answers 500, and needs no reason for it.
    type Error = ();
    type Future = RuntimeCall<<Upgrading<S> as HttpService>::ResponseBody, ()>;

    /// Always: the task of the call waits for both services.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (mut make, made) = (self.make.clone(), Arc::clone(&self.made));
        let info = request.extensions().get::<ConnectionInfo>();
        let peer = info.and_then(P::of);
        let at = (CallPlace::Connection, request.version());
        let reads = !request.body().is_end_stream();
        RuntimeCall::begin(&self.runtime, at, reads, async move {
            let mut made = made.lock().await;
            let service = match &*made {
                Some(service) => service.clone(),
                None => {
                    poll_fn(|cx| make.poll_ready(cx)).await.map_err(drop)?;
                    // Only a socket that is closed already has no peer.
                    let service = make.call(peer.ok_or(())?).await.map_err(drop)?;
                    made.insert(service).clone()
                }
            };
            drop(made);
            let mut service = upgrading(service);
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(drop)?;
            service.call(request).await.map_err(drop)
        })
    }
}
