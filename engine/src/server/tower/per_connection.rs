//! Services that are made for each connection from its peer's address, as axum's
//! `into_make_service_with_connect_info` does.

use super::on_runtime::{OnRuntime, RuntimeBody, RuntimeCall, on_runtime};
use super::service::{HttpService, MakeTaskService, TaskService};
use crate::body::Body;
use crate::connection_info::ConnectionInfo;
use http::{Request, Response};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tower_service::Service;

/// A value that [`serve`](crate::serve) takes: a service of requests ([`OfRequests`]), an axum router for example,
/// or a service of peers' addresses that gives one for each connection ([`OfConnections`]), which is what
/// `into_make_service` and `into_make_service_with_connect_info::<SocketAddr>` of axum's routers make.
/// `Kind` is inferred. Implemented for every type that fits; not to be implemented by hand.
pub trait IntoHandlers<Kind> {
    /// The handlers.
    type Handlers: Handlers;

    /// Makes them.
    fn into_handlers(self) -> Self::Handlers;
}

/// Handlers that [`serve`](crate::serve) runs on the tokio runtime of its caller. Not to be implemented by
/// hand.
pub trait Handlers: Send + 'static {
    /// The service of a connection.
    type Service: HttpService;
    /// Whether it reads the peer's address.
    const READS_PEER: bool;

    /// Places the handlers on `runtime`.
    fn on(self, runtime: Handle) -> Self::Service;
}

/// A service of requests.
#[derive(Clone, Debug)]
pub struct OfRequests<S>(S);

impl<S> IntoHandlers<OfRequests<()>> for S
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
    type Service = OnRuntime<S>;
    const READS_PEER: bool = false;

    fn on(self, runtime: Handle) -> OnRuntime<S> {
        on_runtime(runtime, self.0)
    }
}

/// A service of peers' addresses, called for the first request of each connection.
#[derive(Clone, Debug)]
pub struct OfConnections<M>(M);

impl<M: MakeTaskService> IntoHandlers<OfConnections<()>> for M {
    type Handlers = OfConnections<M>;

    fn into_handlers(self) -> OfConnections<M> {
        OfConnections(self)
    }
}

impl<M: MakeTaskService> Handlers for OfConnections<M> {
    type Service = PerConnection<M, M::Made>;
    const READS_PEER: bool = true;

    fn on(self, runtime: Handle) -> PerConnection<M, M::Made> {
        PerConnection {
            make: self.0,
            made: Arc::default(),
            runtime,
        }
    }
}

/// The service of one connection, made for its first request. The server has a clone for each connection,
/// so that a clone begins without a service.
pub struct PerConnection<M, S> {
    make: M,
    made: Arc<Mutex<Option<S>>>,
    runtime: Handle,
}

impl<M: Clone, S> Clone for PerConnection<M, S> {
    fn clone(&self) -> Self {
        Self {
            make: self.make.clone(),
            made: Arc::default(),
            runtime: self.runtime.clone(),
        }
    }
}

impl<M, S> fmt::Debug for PerConnection<M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerConnection").finish_non_exhaustive()
    }
}

impl<M, S> Service<Request<Body>> for PerConnection<M, S>
where
    M: MakeTaskService<Made = S>,
    S: TaskService,
{
    type Response = Response<RuntimeBody<S::ResponseBody>>;
    /// The server answers 500, and needs no reason for it.
    type Error = ();
    type Future = RuntimeCall<S::ResponseBody, ()>;

    /// Always: the task of the call waits for both services.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (mut make, made) = (self.make.clone(), Arc::clone(&self.made));
        let info = request.extensions().get::<ConnectionInfo>();
        let peer = info.and_then(ConnectionInfo::peer_addr);
        RuntimeCall::spawn(&self.runtime, async move {
            let mut made = made.lock().await;
            let mut service = match &*made {
                Some(service) => service.clone(),
                None => {
                    poll_fn(|cx| make.poll_ready(cx)).await.map_err(drop)?;
                    // `serve` listens on a port, where every peer has an address.
                    let service = make.call(peer.ok_or(())?).await.map_err(drop)?;
                    made.insert(service).clone()
                }
            };
            drop(made);
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(drop)?;
            service.call(request).await.map_err(drop)
        })
    }
}
